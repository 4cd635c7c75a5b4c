#!/usr/bin/python3
"""Writes a GGUF file with the shapes of a real model and random weights.

Speed, memory use and loading do not depend on what the weights say, so that a
file of random blocks stands in for a model that cannot be downloaded. Block
scales are chosen such that weights have the spread of a trained model's and
activations stay finite through all layers. The vocabulary is synthetic: the
256 byte tokens, a few merges, the control tokens at their real ids.

usage: scripts/make_random_model.py OUT [--arch llada|dream|llada-moe|rnd1] [--type Q4_K_M]
                                    [--layers N] [--seed N]
"""
import argparse
import os
import struct
import sys

import numpy as np

SHAPES = {
    "llada": dict(layers=32, hidden=4096, ffn=12288, heads=32, kv_heads=32, vocab=126464,
                  context=4096, eps=1e-5, rope=500000.0, bias=False, pre="bailingmoe", shift=False,
                  bos=126080, eos=126081, eot=126348, mask=126336,
                  control={126080: "<|startoftext|>", 126081: "<|endoftext|>",
                           126336: "<|mdm_mask|>", 126346: "<|start_header_id|>",
                           126347: "<|end_header_id|>", 126348: "<|eot_id|>"}),
    "dream": dict(layers=28, hidden=3584, ffn=18944, heads=28, kv_heads=4, vocab=152064,
                  context=131072, eps=1e-6, rope=1e6, bias=True, pre="qwen2", shift=True,
                  bos=None, eos=151643, eot=151645, mask=151666,
                  control={151643: "<|endoftext|>", 151644: "<|im_start|>", 151645: "<|im_end|>",
                           151665: "<|beginoftext|>", 151666: "<|mask|>"}),
    # ffn is the width of one expert's.
    "llada-moe": dict(layers=16, hidden=2048, ffn=1024, heads=16, kv_heads=16, vocab=157184,
                      experts=64, used=8, context=8192, eps=1e-5, rope=50000.0, bias=False,
                      pre="llada-moe", shift=False, bos=None, eos=156892, eot=156900, mask=156895,
                      control={156892: "<|endoftext|>", 156895: "<|mask|>", 156898: "<role>",
                               156899: "</role>", 156900: "<|role_end|>"}),
    "rnd1": dict(layers=48, hidden=2048, ffn=768, heads=32, kv_heads=4, vocab=151936, experts=128,
                 used=8, context=32768, eps=1e-6, rope=1e6, bias=False, pre="qwen2", shift=True,
                 bos=None, eos=151643, eot=151645, mask=151669,
                 control={151643: "<|endoftext|>", 151644: "<|im_start|>", 151645: "<|im_end|>",
                          151669: "<|mask|>"}),
}
HEAD_DIM = 128
ALIGNMENT = 32
# name: (type id, bytes per block, weights per block)
TYPES = {"F32": (0, 4, 1), "F16": (1, 2, 1), "BF16": (30, 2, 1), "Q8_0": (8, 34, 32),
         "Q4_K": (12, 144, 256), "Q5_K": (13, 176, 256), "Q6_K": (14, 210, 256),
         "Q4_0": (2, 18, 32), "Q4_1": (3, 20, 32), "Q5_0": (6, 22, 32), "Q5_1": (7, 24, 32),
         "IQ4_NL": (20, 18, 32), "Q2_K": (10, 84, 256), "Q3_K": (11, 110, 256),
         "IQ4_XS": (23, 136, 256), "IQ3_S": (21, 110, 256), "IQ3_XXS": (18, 98, 256),
         "IQ2_S": (22, 82, 256), "IQ2_XS": (17, 74, 256), "IQ2_XXS": (16, 66, 256),
         "IQ1_S": (19, 50, 256), "IQ1_M": (29, 56, 256), "MXFP4": (39, 17, 32),
         "TQ1_0": (34, 54, 256), "TQ2_0": (35, 66, 256)}
# Types that need nothing but a scale of the right size: the deviation of a block of random bits with
# d = 1, and where d is (and what else scales with it, by which factor: then weights are 0 on average).
# IQ1_M and MXFP4 have no half float there: SPLIT and EXPONENT.
SCALED = {"Q4_0": (4.64, (0, 1)), "Q4_1": (4.61, (0, 1), (2, -7.5)), "Q5_0": (9.25, (0, 1)),
          "Q5_1": (9.24, (0, 1), (2, -15.5)), "IQ4_NL": (67.5, (0, 1)),
          "Q2_K": (13.9, (80, 1), (82, 1.5)), "Q3_K": (43.4, (108, 1)), "IQ4_XS": (1245, (0, 1)),
          "IQ3_S": (140, (0, 1)), "IQ3_XXS": (142, (0, 1)), "IQ2_S": (56.4, (0, 1)),
          "IQ2_XS": (55.9, (0, 1)), "IQ2_XXS": (53.4, (0, 1)), "TQ1_0": (0.817, (52, 1)),
          "TQ2_0": (1.22, (64, 1)), "IQ1_S": (7.20, (0, 1)), "IQ1_M": (7.20, (48, 1)), "MXFP4": (5.85, (0, 1))}
SPLIT, EXPONENT = ("IQ1_M",), ("MXFP4",)
# File types of llama.cpp, for general.file_type.
FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32, "Q8_0": 7, "Q4_K_M": 15, "Q5_K": 16, "Q5_K_M": 17,
              "Q6_K": 18, "Q4_0": 2, "Q4_1": 3, "Q5_0": 8, "Q5_1": 9, "IQ4_NL": 25, "Q2_K": 10,
              "Q3_K": 12, "IQ4_XS": 30, "IQ3_S": 26, "IQ3_XXS": 23, "IQ2_S": 28, "IQ2_XS": 20,
              "IQ2_XXS": 19, "IQ1_S": 24, "IQ1_M": 31, "MXFP4": 38, "TQ1_0": 36, "TQ2_0": 37}
MERGES = ["Ġ t", "h e", "i n", "Ġ a", "e r", "o n", "Ġt he", "r e", "a n", "Ġ s", "o r", "a t",
          "e n", "in g", "Ġ w", "o u", "l l", "e s", "i s", "Ġ c", "an d", "Ġ p", "i t", "Ġ o"]
CHUNK_BYTES = 32 << 20
POOL = 1 << 16  # distinct block heads; picked by 16 random bits


def byte_symbols():
    """The 256 byte tokens: printable bytes as themselves, the others from code point 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return [chr(b) for b in printable] + [chr(256 + i) for i in range(len(others))]


def vocabulary(shape):
    """(tokens, types): real text for low ids, numbered words above, padding past the controls."""
    tokens = byte_symbols() + [merge.replace(" ", "") for merge in MERGES]
    last = max(shape["control"])
    types = [1] * len(tokens)
    for token in range(len(tokens), shape["vocab"]):
        if token in shape["control"]:
            tokens.append(shape["control"][token])
            types.append(3)
        elif token < last - 400:
            tokens.append("Ġw%d" % token)
            types.append(1)
        else:
            tokens.append("[PAD%d]" % token)
            types.append(5)
    return tokens, types


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, value, kind):
    """A metadata entry; kind is a struct letter, "s", or an array "[s" / "[i"."""
    ids = {"I": 4, "i": 5, "f": 6, "?": 7, "s": 8}
    if kind == "s":
        return string(name) + struct.pack("<I", 8) + string(value)
    if kind == "[s":
        head = struct.pack("<IIQ", 9, 8, len(value))
        return string(name) + head + b"".join(string(item) for item in value)
    if kind == "[i":
        head = struct.pack("<IIQ", 9, 5, len(value))
        return string(name) + head + struct.pack("<%di" % len(value), *value)
    return string(name) + struct.pack("<I" + kind, ids[kind], value)


def metadata(arch, shape, layers, file_type):
    tokens, types = vocabulary(shape)
    keys = [
        key("general.architecture", arch, "s"),
        key("general.name", "random blocks in the shape of " + arch, "s"),
        key("general.file_type", FILE_TYPES[file_type], "I"),
        key("general.quantization_version", 2, "I"),
        key(arch + ".block_count", layers, "I"),
        key(arch + ".context_length", shape["context"], "I"),
        key(arch + ".embedding_length", shape["hidden"], "I"),
        key(arch + ".feed_forward_length", shape["ffn"], "I"),
        key(arch + ".attention.head_count", shape["heads"], "I"),
        key(arch + ".attention.head_count_kv", shape["kv_heads"], "I"),
        key(arch + ".attention.layer_norm_rms_epsilon", shape["eps"], "f"),
        key(arch + ".attention.causal", False, "?"),
        key(arch + ".rope.freq_base", shape["rope"], "f"),
        key(arch + ".rope.dimension_count", HEAD_DIM, "I"),
        key(arch + ".vocab_size", shape["vocab"], "I"),
        key("diffusion.shift_logits", shape["shift"], "?"),
        key("tokenizer.ggml.model", "gpt2", "s"),
        key("tokenizer.ggml.pre", shape["pre"], "s"),
        key("tokenizer.ggml.tokens", tokens, "[s"),
        key("tokenizer.ggml.token_type", types, "[i"),
        key("tokenizer.ggml.merges", MERGES, "[s"),
        key("tokenizer.ggml.eos_token_id", shape["eos"], "I"),
        key("tokenizer.ggml.eot_token_id", shape["eot"], "I"),
        key("tokenizer.ggml.mask_token_id", shape["mask"], "I"),
        key("tokenizer.ggml.add_bos_token", False, "?"),
    ]
    if "experts" in shape:
        keys += [key(arch + ".expert_count", shape["experts"], "I"),
                 key(arch + ".expert_used_count", shape["used"], "I"),
                 key(arch + ".expert_feed_forward_length", shape["ffn"], "I"),
                 key(arch + ".attention.key_length", HEAD_DIM, "I"),
                 key(arch + ".attention.value_length", HEAD_DIM, "I")]
    if shape["bos"] is not None:
        keys.append(key("tokenizer.ggml.bos_token_id", shape["bos"], "I"))
    return keys


def matrix_type(file_type, role, layer, layers):
    """The usual mixes: Q6_K for the head and for half of the layers' value and down matrices. IQ1_M is none."""
    if file_type in TYPES:
        return file_type
    low, high = layers // 8, 7 * layers // 8
    richer = role == "output" or (
        role in ("attn_v", "ffn_down", "ffn_down_exps") and
        (layer < low or layer >= high or (layer - low) % 3 == 2))
    return "Q6_K" if richer else file_type[:-2]


def tensors(shape, layers, file_type):
    """[(name, type, dims, standard deviation, or None for ones)] in file order."""
    hidden, ffn = shape["hidden"], shape["ffn"]
    queries, keys = shape["heads"] * HEAD_DIM, shape["kv_heads"] * HEAD_DIM
    # Routers that were not trained send rows that are alike to the same experts. Large embeddings keep
    # rows apart through all layers, so that about every expert is visited, as with trained ones.
    out = [("token_embd.weight", matrix_type(file_type, "token_embd", 0, layers),
            (hidden, shape["vocab"]), 1.0 if "experts" in shape else 0.02)]
    for layer in range(layers):
        name = "blk.%d." % layer
        out.append((name + "attn_norm.weight", "F32", (hidden,), None))
        for role, dims in (("attn_q", (hidden, queries)), ("attn_k", (hidden, keys)),
                           ("attn_v", (hidden, keys)), ("attn_output", (queries, hidden))):
            kind = matrix_type(file_type, role, layer, layers)
            out.append((name + role + ".weight", kind, dims, 0.02))
            if shape["bias"] and role != "attn_output":
                out.append((name + role + ".bias", "F32", dims[1:], 0.1))
        out.append((name + "ffn_norm.weight", "F32", (hidden,), None))
        stack, ending = (), ""
        if "experts" in shape:
            stack, ending = (shape["experts"],), "_exps"
            out += [(name + "attn_q_norm.weight", "F32", (HEAD_DIM,), None),
                    (name + "attn_k_norm.weight", "F32", (HEAD_DIM,), None),
                    (name + "ffn_gate_inp.weight", "F32", (hidden, *stack), 0.02)]
        for role, dims in (("ffn_gate", (hidden, ffn)), ("ffn_up", (hidden, ffn)),
                           ("ffn_down", (ffn, hidden))):
            kind = matrix_type(file_type, role + ending, layer, layers)
            out.append((name + role + ending + ".weight", kind, (*dims, *stack), 0.02))
    out.append(("output_norm.weight", "F32", (hidden,), None))
    out.append(("output.weight", matrix_type(file_type, "output", 0, layers),
                (hidden, shape["vocab"]), 0.04))
    return out


def k_heads(random, deviation, levels):
    """Heads of Q4_K and Q5_K blocks (d, dmin, 12 scale bytes) [POOL, 16].

    A weight is d*sc*q - dmin*mn with q uniform below `levels`. With mn near sc and dmin = d times the
    mean of q its mean is near 0, and its deviation d * rms(sc) * deviation(q).
    """
    scales = random.integers(8, 64, (POOL, 8))
    mins = np.clip(scales + random.integers(-3, 4, (POOL, 8)), 0, 63)
    spread = np.sqrt((scales ** 2).mean() * (levels ** 2 - 1) / 12)
    d = deviation / spread * random.uniform(0.7, 1.3, POOL)
    heads = np.empty((POOL, 16), np.uint8)
    heads[:, 0:2] = d.astype(np.float16)[:, None].view(np.uint8)
    heads[:, 2:4] = (d * (levels - 1) / 2).astype(np.float16)[:, None].view(np.uint8)
    heads[:, 4:8] = scales[:, :4] | scales[:, 4:] >> 4 << 6
    heads[:, 8:12] = mins[:, :4] | mins[:, 4:] >> 4 << 6
    heads[:, 12:16] = scales[:, 4:] & 15 | (mins[:, 4:] & 15) << 4
    return heads


def q6_tails(random, deviation):
    """Tails of Q6_K blocks (16 int8 scales of either sign, d) [POOL, 18]."""
    scales = random.integers(32, 128, (POOL, 16)) * random.choice([-1, 1], (POOL, 16))
    spread = np.sqrt((scales ** 2).mean() * (64 ** 2 - 1) / 12)
    tails = np.empty((POOL, 18), np.uint8)
    tails[:, :16] = scales.astype(np.int8).view(np.uint8)
    d = deviation / spread * random.uniform(0.7, 1.3, POOL)
    tails[:, 16:] = d.astype(np.float16)[:, None].view(np.uint8)
    return tails


def scalars(random, kind, deviation):
    """Normal values as the bytes of F32, F16, BF16, or as Q8_0's scales [POOL, size]."""
    if kind == "Q8_0":
        values = deviation / 73.9 * random.uniform(0.7, 1.3, POOL)
    else:
        values = random.normal(0, deviation, POOL)
    if kind in ("F16", "Q8_0"):
        return values.astype(np.float16)[:, None].view(np.uint8)
    words = values.astype(np.float32)[:, None].view(np.uint8)
    return words if kind == "F32" else words[:, 2:]


def split_halves(data, at, halves):
    """Puts half floats into the upper nibbles of the four u16 from byte `at` on, the lowest first."""
    bits = halves.view(np.uint16)
    for i in range(4):
        upper = data[:, at + 2 * i + 1]
        upper &= 15
        upper |= (bits >> 4 * i << 4 & 0xf0).astype(np.uint8)


def scaled_blocks(random, data, kind, deviation):
    """Gives blocks of random bits scales, of either sign where they have one."""
    spread, *places = SCALED[kind]
    d = deviation / spread * random.uniform(0.7, 1.3, POOL)
    picks = random.integers(0, POOL, len(data), dtype=np.uint16)
    if kind in EXPONENT:
        data[:, places[0][0]] = (128 + np.round(np.log2(d))).astype(np.uint8)[picks]
        return
    d *= random.choice([-1, 1], POOL)
    for at, factor in places:
        halves = (factor * d).astype(np.float16)
        if kind in SPLIT:
            split_halves(data, at, halves[picks])
        else:
            data[:, at:at + 2] = halves[:, None].view(np.uint8)[picks]


def random_blocks(random, kind, count, deviation):
    """Yields the bytes of `count` blocks in chunks."""
    size = TYPES[kind][1]
    part, pool = None, None
    if kind in ("Q4_K", "Q5_K"):
        part, pool = slice(0, 16), k_heads(random, deviation, 16 if kind == "Q4_K" else 32)
    elif kind == "Q6_K":
        part, pool = slice(192, 210), q6_tails(random, deviation)
    elif kind not in SCALED:
        pool = scalars(random, kind, deviation)
        part = slice(0, pool.shape[1])
    while count > 0:
        blocks = min(count, CHUNK_BYTES // size)
        words = random.bit_generator.random_raw(blocks * size // 8 + 1)
        data = words.view(np.uint8)[:blocks * size].reshape(blocks, size)
        if kind in SCALED:
            scaled_blocks(random, data, kind, deviation)
        else:
            picks = random.integers(0, POOL, blocks, dtype=np.uint16)
            data[:, part] = pool[picks]
        yield data
        count -= blocks


def tensor_bytes(kind, dims):
    _, size, weights = TYPES[kind]
    assert dims[0] % weights == 0
    return int(np.prod(dims, dtype=np.int64)) // weights * size


def padding(position):
    return b"\0" * (-position % ALIGNMENT)


def header(keys, entries):
    out = [struct.pack("<4sIQQ", b"GGUF", 3, len(entries), len(keys)), *keys]
    offset = 0
    for name, kind, dims, _ in entries:
        out.append(string(name) + struct.pack("<I%dQ" % len(dims), len(dims), *dims) +
                   struct.pack("<IQ", TYPES[kind][0], offset))
        offset += tensor_bytes(kind, dims)
        offset += -offset % ALIGNMENT
    data = b"".join(out)
    return data + padding(len(data))


def write(file, keys, entries, seed):
    random = np.random.Generator(np.random.SFC64(seed))
    file.write(header(keys, entries))
    for _, kind, dims, deviation in entries:
        size = tensor_bytes(kind, dims)
        if deviation is None:
            file.write(np.ones(dims, np.float32).tobytes())
        else:
            for chunk in random_blocks(random, kind, size // TYPES[kind][1], deviation):
                file.write(chunk.data)
        file.write(padding(size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", help="the GGUF file to write")
    parser.add_argument("--arch", choices=SHAPES, default="llada")
    parser.add_argument("--type", choices=FILE_TYPES, default="Q4_K_M")
    parser.add_argument("--layers", type=int, help="fewer layers than the real model's")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shape = SHAPES[options.arch]
    layers = shape["layers"] if options.layers is None else options.layers
    if layers < 1:
        parser.error("--layers must be at least 1")
    entries = tensors(shape, layers, options.type)
    keys = metadata(options.arch, shape, layers, options.type)
    partial = "%s.partial-%d" % (options.out, os.getpid())
    try:
        with open(partial, "wb") as file:
            write(file, keys, entries, options.seed)
        os.rename(partial, options.out)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
    print("%s: %d tensors, %.2f GB" % (options.out, len(entries),
                                       os.path.getsize(options.out) / 1e9))


if __name__ == "__main__":
    sys.exit(main())
