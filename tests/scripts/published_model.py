#!/usr/bin/python3
"""Small models as they are published: the names, files and conventions of the real ones.

usage: published_model.py KIND FOLDER [SIZE=N]...
       writes FOLDER, and FOLDER.logits.npy: the scores of a pass over the ids of FOLDER.ids by the published
       rules, in double precision

KIND: llada, llada-tied (grouped heads, tied head), dream (biases, two shards), llada-moe, rnd1.
SIZE: hidden, ffn, layers, heads, kv_heads, dim, experts, used.
"""
import json
import os
import struct
import sys

import numpy as np

VOCAB = 320
IDS = [5, 17, 300, 99, 262, 261, 260, 303, 303, 303, 303, 41]
SPLIT = {
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
             r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "bailingmoe": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
                  r"|\s*[\r\n]|\s+(?!\S)|\s+",
}
MERGES = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), ("Ġ", "t"), ("Ġt", "he")]
ADDED = ["<|startoftext|>", "<|endoftext|>", "<|eot_id|>", "<|mask|>", "<|mdm_mask|>"]
FIRST_ADDED = 300
ROPE_BASE, EPS = 10000.0, 1e-5


class Shape:
    def __init__(self, kind):
        self.kind = kind
        self.names = "blocks" if kind.startswith("llada") and kind != "llada-moe" else "layers"
        self.hidden, self.ffn, self.layers, self.heads = 64, 96, 2, 2
        self.kv_heads = 1 if kind in ("llada-tied", "dream", "rnd1") else 2
        self.dim = 64 if kind == "rnd1" else 32
        self.bias = kind == "dream"
        self.tied = kind == "llada-tied"
        self.experts = 5 if kind in ("llada-moe", "rnd1") else 0
        self.used = 2
        self.dtype = {"dream": "BF16", "rnd1": "F16"}.get(kind, "F32")


def config(s):
    if s.names == "blocks":
        return {"architectures": ["LLaDAModelLM"], "n_layers": s.layers, "d_model": s.hidden,
                "n_heads": s.heads, "n_kv_heads": s.kv_heads, "mlp_hidden_size": s.ffn,
                "embedding_size": VOCAB, "vocab_size": VOCAB, "rms_norm_eps": EPS,
                "rope_theta": ROPE_BASE, "max_sequence_length": 128, "weight_tying": s.tied,
                "include_bias": False, "alibi": False, "mask_token_id": 304, "eos_token_id": 301}
    out = {"num_hidden_layers": s.layers, "hidden_size": s.hidden, "num_attention_heads": s.heads,
           "num_key_value_heads": s.kv_heads, "vocab_size": VOCAB, "rms_norm_eps": EPS,
           "rope_theta": ROPE_BASE, "max_position_embeddings": 128, "tie_word_embeddings": False,
           "rope_scaling": None, "eos_token_id": 301}
    if s.kind == "dream":
        return {**out, "architectures": ["DreamModel"], "intermediate_size": s.ffn,
                "mask_token_id": 303}
    out.update({"num_experts": s.experts, "num_experts_per_tok": s.used, "head_dim": s.dim})
    if s.kind == "rnd1":
        return {**out, "architectures": ["RND1LM"], "moe_intermediate_size": s.ffn,
                "intermediate_size": 999, "norm_topk_prob": True}
    return {**out, "architectures": ["LLaDAMoEModelLM"], "expert_intermediate_size": s.ffn,
            "norm_topk_prob": None}


def names(s, i):
    """Published name of each role of layer i."""
    if s.names == "blocks":
        base = "model.transformer.blocks.%d." % i
        return {"attn_norm": base + "attn_norm", "ffn_norm": base + "ff_norm", "q": base + "q_proj",
                "k": base + "k_proj", "v": base + "v_proj", "o": base + "attn_out",
                "gate": base + "ff_proj", "up": base + "up_proj", "down": base + "ff_out"}
    base = "model.layers.%d." % i
    out = {"attn_norm": base + "input_layernorm", "ffn_norm": base + "post_attention_layernorm",
           **{p: base + "self_attn.%s_proj" % p for p in "qkvo"},
           "gate": base + "mlp.gate_proj", "up": base + "mlp.up_proj", "down": base + "mlp.down_proj",
           "q_norm": base + "self_attn.q_norm", "k_norm": base + "self_attn.k_norm",
           "router": base + "mlp.gate"}
    for e in range(s.experts):
        for p in ("gate", "up", "down"):
            out[p, e] = base + "mlp.experts.%d.%s_proj" % (e, p)
    return out


def make_tensors(s):
    """{published name: f32 array}, rounded to what the files hold."""
    random = np.random.default_rng(7)
    tensors = {}

    def put(name, *shape):
        values = random.normal(0, 0.15, shape) if len(shape) > 1 else random.normal(1, 0.2, shape)
        tensors[name] = stored(values.astype(np.float32), s.dtype)[0]

    blocks = s.names == "blocks"
    put("model.transformer.wte.weight" if blocks else "model.embed_tokens.weight", VOCAB, s.hidden)
    for i in range(s.layers):
        n = names(s, i)
        q, kv = s.heads * s.dim, s.kv_heads * s.dim
        put(n["attn_norm"] + ".weight", s.hidden)
        put(n["ffn_norm"] + ".weight", s.hidden)
        for role, rows, width in (("q", q, s.hidden), ("k", kv, s.hidden), ("v", kv, s.hidden),
                                  ("o", s.hidden, q)):
            put(n[role] + ".weight", rows, width)
            if s.bias and role != "o":
                put(n[role] + ".bias", rows)
        if s.experts:
            put(n["q_norm"] + ".weight", s.dim)
            put(n["k_norm"] + ".weight", s.dim)
            put(n["router"] + ".weight", s.experts, s.hidden)
        for e in range(s.experts) if s.experts else [None]:
            for role, rows, width in (("gate", s.ffn, s.hidden), ("up", s.ffn, s.hidden),
                                      ("down", s.hidden, s.ffn)):
                put(n[role if e is None else (role, e)] + ".weight", rows, width)
    put("model.transformer.ln_f.weight" if blocks else "model.norm.weight", s.hidden)
    if not s.tied:
        put("model.transformer.ff_out.weight" if blocks else "lm_head.weight", VOCAB, s.hidden)
    return tensors


# ---------------------------------------------- the published forward pass, in doubles ---


def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight


def rotate(x):
    """x [tokens, heads, dim]: halves of a head turn against each other."""
    tokens, _, dim = x.shape
    angles = np.outer(np.arange(tokens), ROPE_BASE ** (-np.arange(0, dim, 2) / dim))
    angles = np.concatenate([angles, angles], 1)[:, None, :]
    turned = np.concatenate([-x[..., dim // 2:], x[..., :dim // 2]], -1)
    return x * np.cos(angles) + turned * np.sin(angles)


def attention(s, t, n, x):
    def heads(role, count):
        y = x @ t[n[role] + ".weight"].T
        y = y + t[n[role] + ".bias"] if s.bias else y
        return y.reshape(len(x), count, s.dim)

    q, k, v = heads("q", s.heads), heads("k", s.kv_heads), heads("v", s.kv_heads)
    if s.experts:
        q, k = norm(q, t[n["q_norm"] + ".weight"]), norm(k, t[n["k_norm"] + ".weight"])
    q, k = rotate(q), rotate(k)
    k, v = (np.repeat(y, s.heads // s.kv_heads, 1) for y in (k, v))
    scores = np.exp(np.einsum("thd,shd->hts", q, k) / np.sqrt(s.dim))
    mixed = np.einsum("hts,shd->thd", scores / scores.sum(-1, keepdims=True), v)
    return mixed.reshape(len(x), -1) @ t[n["o"] + ".weight"].T


def gated(t, gate, up, down, x):
    g = x @ t[gate + ".weight"].T
    return (g / (1 + np.exp(-g)) * (x @ t[up + ".weight"].T)) @ t[down + ".weight"].T


def experts(s, t, n, x):
    scores = np.exp(x @ t[n["router"] + ".weight"].T)
    shares = scores / scores.sum(-1, keepdims=True)
    out = np.zeros_like(x)
    for row in range(len(x)):
        chosen = np.argsort(-shares[row], kind="stable")[:s.used]
        total = shares[row, chosen].sum() if s.kind == "rnd1" else 1
        for e in chosen:
            y = gated(t, n["gate", e], n["up", e], n["down", e], x[row:row + 1])[0]
            out[row] += shares[row, e] / total * y
    return out


def forward(s, tensors):
    t = {name: values.astype(np.float64) for name, values in tensors.items()}
    blocks = s.names == "blocks"
    embedding = t["model.transformer.wte.weight" if blocks else "model.embed_tokens.weight"]
    x = embedding[IDS]
    for i in range(s.layers):
        n = names(s, i)
        x = x + attention(s, t, n, norm(x, t[n["attn_norm"] + ".weight"]))
        y = norm(x, t[n["ffn_norm"] + ".weight"])
        x = x + (experts(s, t, n, y) if s.experts else gated(t, n["gate"], n["up"], n["down"], y))
    x = norm(x, t["model.transformer.ln_f.weight" if blocks else "model.norm.weight"])
    head = "model.transformer.ff_out.weight" if blocks else "lm_head.weight"
    return x @ (embedding if s.tied else t[head]).T


# -------------------------------------------------------------------------- files ---


def stored(values, dtype):
    """(f32 values as a file of that type holds them, their bytes)."""
    if dtype == "F32":
        return values, values.tobytes()
    if dtype == "F16":
        half = values.astype(np.float16)
        return half.astype(np.float32), half.tobytes()
    bits = values.view(np.uint32) & 0xFFFF0000
    return bits.view(np.float32), (bits >> 16).astype(np.uint16).tobytes()


def write_safetensors(path, tensors, dtype):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, values in tensors.items():
        raw = stored(values, dtype)[1]
        header[name] = {"dtype": dtype, "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_weights(folder, s, tensors):
    if s.kind != "dream":
        write_safetensors(os.path.join(folder, "model.safetensors"), tensors, s.dtype)
        return
    listed = list(tensors)
    shards = {"model-00001-of-00002.safetensors": listed[:9],
              "model-00002-of-00002.safetensors": listed[9:]}
    for name, part in shards.items():
        write_safetensors(os.path.join(folder, name), {k: tensors[k] for k in part}, s.dtype)
    write_json(folder, "model.safetensors.index.json",
               {"weight_map": {key: name for name, part in shards.items() for key in part}})


def byte_symbols():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return [chr(b) for b in printable] + [chr(256 + i) for i in range(len(others))]


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


def write_tokenizer(folder, s):
    vocab = {token: i for i, token in enumerate(byte_symbols() + [a + b for a, b in MERGES])}
    split = SPLIT["qwen2" if s.kind in ("dream", "rnd1") else "bailingmoe"]
    added = [{"id": FIRST_ADDED + i, "content": text, "special": True}
             for i, text in enumerate(ADDED)] + [{"id": 310, "content": "<tool>", "special": False}]
    settings = {"bos_token": "<|startoftext|>", "add_bos_token": s.kind == "llada",
                "chat_template": "{{ '<|eot_id|>' }}",
                "added_tokens_decoder": {str(t["id"]): t for t in added}}
    write_json(folder, "tokenizer_config.json", settings)
    if s.kind == "dream":  # published without tokenizer.json
        write_json(folder, "vocab.json", vocab)
        with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
            file.write("#version: 0.2\n" + "".join("%s %s\n" % pair for pair in MERGES))
        return
    write_json(folder, "tokenizer.json", {
        "model": {"type": "BPE", "vocab": vocab, "merges": [list(pair) for pair in MERGES]},
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated"},
            {"type": "ByteLevel", "use_regex": False}]}})


def main():
    kind, folder, *sizes = sys.argv[1:]
    s = Shape(kind)
    for size in sizes:
        name, value = size.split("=")
        if type(getattr(s, name)) is not int:
            sys.exit(__doc__)
        setattr(s, name, int(value))
    os.makedirs(folder)
    tensors = make_tensors(s)
    write_json(folder, "config.json", config(s))
    write_tokenizer(folder, s)
    write_weights(folder, s, tensors)
    np.save(folder + ".logits.npy", forward(s, tensors))
    with open(folder + ".ids", "w", encoding="utf-8") as file:
        file.write(",".join(map(str, IDS)))


if __name__ == "__main__":
    main()
