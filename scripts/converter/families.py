"""What the published folders of each architecture call things, and what a GGUF file calls them."""
import re

import gguf
from errors import Refused


class Family:
    """One architecture: the names of its classes in config.json, and how it differs."""

    def __init__(self, architecture, classes, mask_token, shift, permuted=False, experts=False):
        self.architecture, self.classes, self.mask_token = architecture, classes, mask_token
        self.shift = shift        # row i of the logits scores position i + 1
        self.permuted = permuted  # rope turns neighbours in the file, halves in the folder
        self.experts = experts


FAMILIES = [
    Family("llada", ("LLaDAModelLM",), "<|mdm_mask|>", False, permuted=True),
    Family("dream", ("DreamModel", "DreamForCausalLM"), "<|mask|>", True),
    Family("llada-moe", ("LLaDAMoEModelLM", "LLaDAMoEModel"), "<|mask|>", False, experts=True),
    Family("rnd1", ("RND1LM", "RND1"), "<|mask|>", True, experts=True),
]

# Published name, I being the layer and E the expert: name in the file.
NAMES = {
    "model.transformer.wte.weight": "token_embd.weight",
    "model.transformer.ln_f.weight": "output_norm.weight",
    "model.transformer.ff_out.weight": "output.weight",
    "model.transformer.blocks.I.attn_norm.weight": "blk.I.attn_norm.weight",
    "model.transformer.blocks.I.ff_norm.weight": "blk.I.ffn_norm.weight",
    "model.transformer.blocks.I.q_proj": "blk.I.attn_q",
    "model.transformer.blocks.I.k_proj": "blk.I.attn_k",
    "model.transformer.blocks.I.v_proj": "blk.I.attn_v",
    "model.transformer.blocks.I.attn_out.weight": "blk.I.attn_output.weight",
    "model.transformer.blocks.I.ff_proj.weight": "blk.I.ffn_gate.weight",
    "model.transformer.blocks.I.up_proj.weight": "blk.I.ffn_up.weight",
    "model.transformer.blocks.I.ff_out.weight": "blk.I.ffn_down.weight",
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "model.layers.I.input_layernorm.weight": "blk.I.attn_norm.weight",
    "model.layers.I.post_attention_layernorm.weight": "blk.I.ffn_norm.weight",
    "model.layers.I.self_attn.q_proj": "blk.I.attn_q",
    "model.layers.I.self_attn.k_proj": "blk.I.attn_k",
    "model.layers.I.self_attn.v_proj": "blk.I.attn_v",
    "model.layers.I.self_attn.q_norm.weight": "blk.I.attn_q_norm.weight",
    "model.layers.I.self_attn.k_norm.weight": "blk.I.attn_k_norm.weight",
    "model.layers.I.self_attn.o_proj.weight": "blk.I.attn_output.weight",
    "model.layers.I.mlp.gate_proj.weight": "blk.I.ffn_gate.weight",
    "model.layers.I.mlp.up_proj.weight": "blk.I.ffn_up.weight",
    "model.layers.I.mlp.down_proj.weight": "blk.I.ffn_down.weight",
    "model.layers.I.mlp.gate.weight": "blk.I.ffn_gate_inp.weight",
    "model.layers.I.mlp.experts.E.gate_proj.weight": "blk.I.ffn_gate_exps.weight",
    "model.layers.I.mlp.experts.E.up_proj.weight": "blk.I.ffn_up_exps.weight",
    "model.layers.I.mlp.experts.E.down_proj.weight": "blk.I.ffn_down_exps.weight",
}
# Follow from the rope base; some folders have them all the same.
DERIVED = re.compile(r".*\.rotary_emb\.inv_freq")
# These have a bias beside the weight in some models.
BIASED = re.compile(r"(.*\.[qkv]_proj)(\.weight|\.bias)")


def file_name(published):
    """(name in the file, expert or None); (None, None) for a name that is not known."""
    numbers = re.findall(r"\.(\d+)(?=\.)", published)
    pattern = published
    for letter in "IE"[:len(numbers)]:
        pattern = re.sub(r"\.\d+(?=\.)", "." + letter, pattern, count=1)
    stem = BIASED.fullmatch(pattern)
    known = NAMES.get(stem[1]) if stem else NAMES.get(pattern)
    if known is None or len(numbers) > 2:
        return None, None
    if numbers:
        known = known.replace(".I.", ".%d." % int(numbers[0]))
    return known + (stem[2] if stem else ""), int(numbers[1]) if len(numbers) > 1 else None


def find_family(config):
    names = (config.get("architectures") or []) if isinstance(config, dict) else []
    for family in FAMILIES:
        if any(name in family.classes for name in names):
            return family
    known = ", ".join(name for family in FAMILIES for name in family.classes)
    raise Refused("config.json names the architecture %s; expected one of %s"
                  % (", ".join(names) or "(none)", known))


class Numbers:
    """The numbers of config.json under one set of names."""

    def __init__(self, config, family):
        self.config = config
        self.layers = self.count("n_layers", "num_hidden_layers")
        self.hidden = self.count("d_model", "hidden_size")
        self.heads = self.count("n_heads", "num_attention_heads")
        self.kv_heads = self.count("n_kv_heads", "num_key_value_heads", otherwise=self.heads)
        self.head_dim = self.count("head_dim", otherwise=self.hidden // self.heads)
        self.vocab = self.count("embedding_size", "vocab_size")
        self.eps = self.positive("rms_norm_eps")
        self.rope_base = self.positive("rope_theta", otherwise=10000.0)
        self.context = self.count("max_sequence_length", "max_position_embeddings", otherwise=0)
        self.tied = bool(self.get("weight_tying", "tie_word_embeddings"))
        self.experts = self.experts_used = 0
        if family.experts:
            self.experts = self.count("num_experts")
            self.experts_used = self.count("num_experts_per_tok")
            self.ffn = self.count("expert_intermediate_size", "moe_intermediate_size")
        else:
            self.ffn = self.count("mlp_hidden_size", "intermediate_size")
        if self.head_dim % 2:
            raise Refused("heads of %d dimensions by config.json; an even number was expected, since rope "
                          "turns pairs" % self.head_dim)
        self.refuse_unknown()

    def get(self, *names):
        for name in names:
            if self.config.get(name) is not None:
                return self.config[name]
        return None

    def positive(self, *names, otherwise=None):
        """A number above 0; without it `otherwise`, unless that is None."""
        value = self.get(*names)
        if value is None and otherwise is None:
            raise Refused("config.json has no %s; expected the config of a published model"
                          % " or ".join(names))
        if value is None:
            return otherwise
        if type(value) not in (int, float) or not value > 0:
            raise Refused("config.json sets %s to %r; a number above 0 was expected"
                          % (" or ".join(names), value))
        return value

    def count(self, *names, otherwise=None):
        """The same for whole numbers that a file can hold."""
        value = self.positive(*names, otherwise=otherwise)
        if type(value) is not int or value >= 1 << 31:
            raise Refused("config.json sets %s to %r; a whole number below 2^31 was expected"
                          % (" or ".join(names), value))
        return value

    def refuse_unknown(self):
        """What the forward pass does not do must not be dropped silently."""
        for name, normal in (("rope_scaling", None), ("alibi", False), ("include_bias", False),
                             ("attention_layer_norm", False), ("scale_logits", False),
                             ("use_sliding_window", False), ("moe_router_enable_expert_bias", False),
                             ("shared_expert_intermediate_size", None), ("partial_rotary_factor", 1),
                             ("routed_scaling_factor", 1)):
            if self.config.get(name) not in (normal, None, False):
                raise Refused("config.json sets %s to %r, which is not supported; expected %r"
                              % (name, self.config[name], normal))


def model_keys(family, numbers, name, file_type):
    a = family.architecture + "."
    keys = [
        ("general.architecture", gguf.STRING, family.architecture),
        ("general.name", gguf.STRING, name),
        ("general.file_type", gguf.U32, gguf.TYPES[file_type][1]),
        (a + "block_count", gguf.U32, numbers.layers),
        (a + "embedding_length", gguf.U32, numbers.hidden),
        (a + "feed_forward_length", gguf.U32, numbers.ffn),
        (a + "attention.head_count", gguf.U32, numbers.heads),
        (a + "attention.head_count_kv", gguf.U32, numbers.kv_heads),
        (a + "attention.key_length", gguf.U32, numbers.head_dim),
        (a + "attention.value_length", gguf.U32, numbers.head_dim),
        (a + "attention.layer_norm_rms_epsilon", gguf.F32, numbers.eps),
        (a + "attention.causal", gguf.BOOL, False),
        (a + "rope.freq_base", gguf.F32, numbers.rope_base),
        (a + "rope.dimension_count", gguf.U32, numbers.head_dim),
        (a + "vocab_size", gguf.U32, numbers.vocab),
        ("diffusion.shift_logits", gguf.BOOL, family.shift),
    ]
    if numbers.context:
        keys.append((a + "context_length", gguf.U32, numbers.context))
    if family.experts:
        keys += [(a + "expert_count", gguf.U32, numbers.experts),
                 (a + "expert_used_count", gguf.U32, numbers.experts_used),
                 (a + "expert_feed_forward_length", gguf.U32, numbers.ffn)]
    return keys


def expected_shapes(family, n, biased):
    """{name in the file: shape, row length first} of a whole model; biased: Q, K and V have biases."""
    queries, keys = n.heads * n.head_dim, n.kv_heads * n.head_dim
    shapes = {"token_embd.weight": (n.hidden, n.vocab), "output_norm.weight": (n.hidden,)}
    if not n.tied:
        shapes["output.weight"] = (n.hidden, n.vocab)
    layer = {
        "attn_norm.weight": (n.hidden,), "ffn_norm.weight": (n.hidden,),
        "attn_q.weight": (n.hidden, queries), "attn_k.weight": (n.hidden, keys),
        "attn_v.weight": (n.hidden, keys), "attn_output.weight": (queries, n.hidden),
    }
    if biased:
        layer.update({"attn_q.bias": (queries,), "attn_k.bias": (keys,), "attn_v.bias": (keys,)})
    if family.experts:
        layer.update({
            "attn_q_norm.weight": (n.head_dim,), "attn_k_norm.weight": (n.head_dim,),
            "ffn_gate_inp.weight": (n.hidden, n.experts),
            "ffn_gate_exps.weight": (n.hidden, n.ffn, n.experts),
            "ffn_up_exps.weight": (n.hidden, n.ffn, n.experts),
            "ffn_down_exps.weight": (n.ffn, n.hidden, n.experts)})
    else:
        layer.update({"ffn_gate.weight": (n.hidden, n.ffn), "ffn_up.weight": (n.hidden, n.ffn),
                      "ffn_down.weight": (n.ffn, n.hidden)})
    for i in range(n.layers):
        shapes.update({"blk.%d.%s" % (i, name): shape for name, shape in layer.items()})
    return shapes
