#!/usr/bin/env python3
"""Writes a GGUF file with a vocabulary and nothing else, from a tokenizer.json.

usage: make_vocabulary.py TOKENIZER_JSON PRETOKENIZER ARCHITECTURE OUT
"""
import json
import os
import struct
import sys

UINT32, INT32, STRING, ARRAY = 4, 5, 8, 9
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, payload):
    return string(name) + struct.pack("<I", kind) + payload


def array(name, kind, items):
    return key(name, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(items))


def kind_of(token):
    """As llama.cpp's converter decides, which calls tokens of this look control tokens."""
    text = token["content"]
    return CONTROL if token["special"] or text.startswith("<|") and text.endswith("|>") else USER_DEFINED


def main():
    source, pretokenizer, architecture, out = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        tokenizer = json.load(file)
    tokens = {i: (text, NORMAL) for text, i in tokenizer["model"]["vocab"].items()}
    for token in tokenizer["added_tokens"]:
        tokens[token["id"]] = (token["content"], kind_of(token))
    listed = [tokens[i] for i in range(len(tokens))]
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    keys = [
        key("general.architecture", STRING, string(architecture)),
        key("tokenizer.ggml.model", STRING, string("gpt2")),
        key("tokenizer.ggml.pre", STRING, string(pretokenizer)),
        array("tokenizer.ggml.tokens", STRING, [string(text) for text, _ in listed]),
        array("tokenizer.ggml.token_type", INT32, [struct.pack("<i", kind) for _, kind in listed]),
        array("tokenizer.ggml.merges", STRING, [string(merge) for merge in merges]),
        key("tokenizer.ggml.eos_token_id", UINT32,
            struct.pack("<I", listed.index(("<|endoftext|>", CONTROL)))),
    ]
    with open(out + ".part", "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys))
    os.replace(out + ".part", out)


if __name__ == "__main__":
    main()
