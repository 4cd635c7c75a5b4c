"""Writes a checkpoint of the demo model as a GGUF file, quantized or not.

  export.py CHECKPOINT_DIR OUT.gguf [Q8_0|F32]

Keys, names and shapes are llada's. Q8_0 (the default, and what ships): every matrix in blocks of 32
weights, one F16 scale and 32 signed bytes each; the norms stay F32.
"""

import json
import os
import struct
import sys

import numpy as np
import torch

import bpe
import model as demo

ALIGNMENT = 64
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
CONTEXT = 512
# name: (type id of a tensor, file type of general.file_type)
TYPES = {"F32": (0, 0), "Q8_0": (8, 7)}
Q8_WEIGHTS = 32


def pack_string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def pack_value(kind, value):
    if kind == STRING:
        return pack_string(value)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], value)


def pack_key(name, kind, value, element=None):
    """One metadata entry; an array names the kind of its elements."""
    head = pack_string(name) + struct.pack("<I", kind)
    if kind != ARRAY:
        return head + pack_value(kind, value)
    return head + struct.pack("<IQ", element, len(value)) + b"".join(
        pack_value(element, v) for v in value)


def model_keys(vocab, file_type):
    name = "llada."
    return [
        ("general.architecture", STRING, "llada"),
        ("general.name", STRING, "dllm demo"),
        ("general.license", STRING, "mit"),
        ("general.description", STRING, "A toy that answers a few kinds of short questions."),
        ("general.alignment", U32, ALIGNMENT),
        ("general.file_type", U32, file_type),
        (name + "block_count", U32, demo.LAYERS),
        (name + "context_length", U32, CONTEXT),
        (name + "embedding_length", U32, demo.HIDDEN),
        (name + "feed_forward_length", U32, demo.FFN),
        (name + "attention.head_count", U32, demo.HEADS),
        (name + "attention.head_count_kv", U32, demo.HEADS),
        (name + "attention.layer_norm_rms_epsilon", F32, demo.EPSILON),
        (name + "attention.causal", BOOL, False),
        (name + "rope.freq_base", F32, demo.ROPE_BASE),
        (name + "rope.dimension_count", U32, demo.HEAD_DIM),
        (name + "vocab_size", U32, vocab),
        ("diffusion.shift_logits", BOOL, False),
    ]


def tokenizer_keys(tok):
    name = "tokenizer.ggml."
    kinds = [3 if t in bpe.CONTROL else 1 for t in tok.tokens]
    return [
        (name + "model", STRING, "gpt2"),
        (name + "pre", STRING, "bailingmoe"),
        (name + "tokens", ARRAY, tok.tokens, STRING),
        (name + "token_type", ARRAY, kinds, I32),
        (name + "merges", ARRAY, [f"{a} {b}" for a, b in tok.merges], STRING),
        (name + "bos_token_id", U32, tok.bos),
        (name + "eos_token_id", U32, tok.eos),
        (name + "eot_token_id", U32, tok.eot),
        (name + "padding_token_id", U32, tok.eos),
        (name + "mask_token_id", U32, tok.mask),
        (name + "add_bos_token", BOOL, False),
    ]


def model_tensors(state):
    """(name, [rows, row length] or [length] array) in the order of the forward pass."""
    ones = np.ones(demo.HIDDEN, np.float32)
    get = {name: value.float().numpy() for name, value in state.items()}
    yield "token_embd.weight", get["embedding"]
    for i in range(demo.LAYERS):
        attention, ffn = get["attention"][i], get["ffn"][i]
        yield f"blk.{i}.attn_norm.weight", ones
        for part, name in enumerate(("attn_q", "attn_k", "attn_v", "attn_output")):
            yield f"blk.{i}.{name}.weight", attention[part]
        yield f"blk.{i}.ffn_norm.weight", ones
        yield f"blk.{i}.ffn_gate.weight", ffn[0]
        yield f"blk.{i}.ffn_up.weight", ffn[1]
        yield f"blk.{i}.ffn_down.weight", np.ascontiguousarray(ffn[2].T)
    yield "output_norm.weight", ones
    yield "output.weight", get["head"]


def encode_q8(array):
    """Blocks of { F16 scale, 32 signed bytes }, row after row."""
    blocks = array.astype(np.float32).reshape(-1, Q8_WEIGHTS)
    scale = (np.abs(blocks).max(1) / 127).astype("<f2")
    wide = np.where(scale == 0, 1, scale).astype(np.float32)
    packed = np.empty(len(blocks), [("scale", "<f2"), ("weights", "i1", Q8_WEIGHTS)])
    packed["scale"] = scale
    packed["weights"] = np.clip(np.rint(blocks / wide[:, None]), -127, 127)
    return packed.tobytes()


def encode_tensor(array, type_name):
    """(type id, bytes); vectors are always F32."""
    if array.ndim == 1 or type_name == "F32":
        return TYPES["F32"][0], array.astype("<f4").tobytes()
    return TYPES["Q8_0"][0], encode_q8(array)


def padded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def write_gguf(path, keys, tensors, type_name):
    made = [(name, array.shape[::-1], *encode_tensor(array, type_name)) for name, array in tensors]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(made), len(keys))
    head += b"".join(pack_key(*key) for key in keys)
    offset = 0
    for name, shape, type_id, raw in made:
        head += pack_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, type_id,
                                                offset)
        offset += padded(len(raw))
    with open(path, "wb") as file:
        file.write(head.ljust(padded(len(head)), b"\0"))
        for _, _, _, raw in made:
            file.write(raw.ljust(padded(len(raw)), b"\0"))


def main():
    folder, out = sys.argv[1:3]
    type_name = sys.argv[3] if len(sys.argv) > 3 else "Q8_0"
    with open(os.path.join(folder, "merges.json")) as file:
        tok = bpe.Tokenizer(json.load(file))
    state = torch.load(os.path.join(folder, "checkpoint.pt"), map_location="cpu")["net"]
    keys = model_keys(len(tok.tokens), TYPES[type_name][1]) + tokenizer_keys(tok)
    write_gguf(out, keys, model_tensors(state), type_name)


if __name__ == "__main__":
    main()
