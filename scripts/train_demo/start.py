"""Reads an exported model back into training: the last stage starts from the file of the first."""

import json
import os
import sys

import numpy as np
import torch

import export
import model as demo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "converter"))
import gguf

Q8_BLOCK = np.dtype([("scale", "<f2"), ("weights", "i1", export.Q8_WEIGHTS)])


def write_merges(path, out):
    """The file's vocabulary as the merges that make it."""
    keys, _ = gguf.read_file(path)
    with open(out, "w") as file:
        json.dump([merge.split(" ") for merge in keys["tokenizer.ggml.merges"]], file)


def decode(raw, shape, type_id):
    """[rows, row length] or [length] from a tensor's bytes, F32 or Q8_0."""
    if type_id == export.TYPES["F32"][0]:
        values = np.frombuffer(raw, "<f4")
    else:
        blocks = np.frombuffer(raw, Q8_BLOCK)
        values = blocks["weights"] * blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(shape[::-1])


def read_tensors(path):
    """{name: array}. The exporter puts the tensors at the end, in order and padded."""
    _, tensors = gguf.read_file(path)
    sizes = {name: int(np.prod(shape)) * 4 if type_id == export.TYPES["F32"][0]
             else int(np.prod(shape)) // export.Q8_WEIGHTS * Q8_BLOCK.itemsize
             for name, (shape, type_id) in tensors.items()}
    with open(path, "rb") as file:
        raw = file.read()
    at, arrays = len(raw) - sum(export.padded(size) for size in sizes.values()), {}
    for name, (shape, type_id) in tensors.items():
        arrays[name] = decode(raw[at:at + sizes[name]], shape, type_id)
        at += export.padded(sizes[name])
    return arrays


@torch.no_grad()
def fill(net, path):
    """The opposite of export.model_tensors."""
    read = {name: torch.from_numpy(np.array(array)) for name, array in read_tensors(path).items()}
    net.embedding.copy_(read["token_embd.weight"])
    net.head.copy_(read["output.weight"])
    for i in range(demo.LAYERS):
        for part, name in enumerate(("attn_q", "attn_k", "attn_v", "attn_output")):
            net.attention[i, part] = read[f"blk.{i}.{name}.weight"]
        net.ffn[i, 0] = read[f"blk.{i}.ffn_gate.weight"]
        net.ffn[i, 1] = read[f"blk.{i}.ffn_up.weight"]
        net.ffn[i, 2] = read[f"blk.{i}.ffn_down.weight"].t()
