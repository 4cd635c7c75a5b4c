#!/usr/bin/env python3
"""Writes kernels/cpu/grid_tables.h and grid_digits.h: the codebooks of the IQ2 and IQ3 types and of IQ1.

usage: scripts/make_grids.py [--check]

A codebook is a fact of the format, and a decoder shows it: this gives llama.cpp's library
(scripts/install_peers.sh) blocks with scale 1, no signs and every index in turn, and writes down the
magnitudes, or digits, that come back. --check compares with the files in the tree instead of writing them.
"""
import struct
import sys

sys.dont_write_bytecode = True
from peer_decoders import ROOT, decoder

TARGET = ROOT / "kernels/cpu"


def half(value):
    return struct.pack("<e", value)


# A block from its indices, with the d that makes the decoded weights the grid's numbers.
def iq2_xxs(ids):
    return half(8) + b"".join(bytes(ids[i:i + 4]) + bytes(4) for i in range(0, 32, 4))


def iq2_xs(ids):
    return half(8) + struct.pack("<32H", *ids) + bytes(8)


def iq2_s(ids):
    high = bytes(sum((ids[4 * j + i] >> 8) << 2 * i for i in range(4)) for j in range(8))
    return half(8) + bytes(i & 255 for i in ids) + bytes(32) + high + bytes(8)


def iq3_xxs(ids):
    return half(4) + bytes(ids) + bytes(32)


def iq3_s(ids):
    high = bytes(sum((ids[8 * j + i] >> 8) << i for i in range(8)) for j in range(8))
    return half(1) + bytes(i & 255 for i in ids) + high + bytes(32) + bytes(4)


def iq1_s(ids):
    """Scale 1, moved up by an eighth: digit - 1 + 1/8, times d."""
    high = [sum((ids[4 * j + i] >> 8) << 3 * i for i in range(4)) for j in range(8)]
    return half(8) + bytes(i & 255 for i in ids) + struct.pack("<8H", *high)


def magnitude(value):
    assert value == int(value) and 0 < value < 64
    return int(value)


def digit(value):
    """Of 8 (digit - 1) + 1."""
    assert value in (-7, 1, 9)
    return (int(value) + 7) // 8


# The grid's name, the type whose decoder shows it, entries, weights of an entry, what a weight stands for.
MAGNITUDES = [
    ("iq2_xxs", "iq2_xxs", iq2_xxs, 256, 8, magnitude),
    ("iq2_xs", "iq2_xs", iq2_xs, 512, 8, magnitude),
    ("iq2_s", "iq2_s", iq2_s, 1024, 8, magnitude),
    ("iq3_xxs", "iq3_xxs", iq3_xxs, 256, 4, magnitude),
    ("iq3_s", "iq3_s", iq3_s, 512, 4, magnitude),
]
DIGITS = [("iq1", "iq1_s", iq1_s, 2048, 8, digit)]
FILES = {"grid_tables.h": MAGNITUDES, "grid_digits.h": DIGITS}


def entries_of(kind, block, count, weights, meaning):
    """The grid's entries as tuples, decoded a block at a time."""
    decode = decoder(kind)
    entries = []
    per_block = 256 // weights
    for start in range(0, count, per_block):
        values = [meaning(v) for v in decode(block(list(range(start, start + per_block))), 256)]
        entries += [tuple(values[i:i + weights]) for i in range(0, 256, weights)]
    return entries


def table(name, entries, weights):
    bits, digits, per_line = (64, 16, 4) if weights == 8 else (32, 8, 8)
    numbers = ["0x%0*x" % (digits, int.from_bytes(bytes(e), "little")) for e in entries]
    lines = [", ".join(numbers[i:i + per_line]) + "," for i in range(0, len(numbers), per_line)]
    head = "GRID const uint%d_t grid_%s[%d] = {\n    " % (bits, name, len(entries))
    return head + "\n    ".join(lines) + "\n};\n"


def text_of(name, grids):
    """A file's text."""
    text = ("/* %s: the tables that grids.h describes, each with what GRID says before it: for the CPU\n"
            " * and for GPUs. Made by scripts/make_grids.py from what llama.cpp's decoders give; do not edit. */\n"
            "/* clang-format off */\n\n" % name)
    return text + "\n".join(table(grid, entries_of(kind, block, count, weights, meaning), weights)
                            for grid, kind, block, count, weights, meaning in grids)


def main():
    for name, grids in FILES.items():
        text = text_of(name, grids)
        if sys.argv[1:] != ["--check"]:
            (TARGET / name).write_text(text)
        elif (TARGET / name).read_text() != text:
            sys.exit("error: %s differs from what the decoders give; run %s" % (TARGET / name, sys.argv[0]))
    if sys.argv[1:] == ["--check"]:
        print("grids: %d tables as the decoders give them" % sum(map(len, FILES.values())))


main()
