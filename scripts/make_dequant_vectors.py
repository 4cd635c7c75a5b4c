#!/usr/bin/python3
"""Writes tests/data/dequant/TYPE.blocks and TYPE.f32: random blocks of 8 rows of 256 weights, and what
llama.cpp's decoder makes of them.

usage: scripts/make_dequant_vectors.py TYPE...

The vectors of most types came with the data that the project started from; these are for types added since:
IQ1_M and MXFP4. llama.cpp's library is that of scripts/install_peers.sh.
"""
import ctypes
import glob
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests/data/dequant"
LIBRARY = "build/peers/node_modules/@node-llama-cpp/linux-x64/bins/*/libggml-base.so"
WEIGHTS = 8 * 256


def iq1_m(random):
    """d, in the upper nibbles of the last eight bytes, is a half float of 2^-7 to 2."""
    blocks = random.integers(0, 256, (8, 56), dtype=np.uint8)
    blocks[:, 55] = blocks[:, 55] & 0x1f | 0x20
    return blocks


def mxfp4(random):
    """Exponents near each other, so that no block is too small to be looked at."""
    blocks = random.integers(0, 256, (64, 17), dtype=np.uint8)
    blocks[:, 0] = random.integers(124, 132, 64)
    return blocks


TYPES = {"IQ1_M": iq1_m, "MXFP4": mxfp4}


def main():
    found = glob.glob(str(ROOT / LIBRARY))
    if not found:
        sys.exit("error: %s is missing; run scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1" % LIBRARY)
    if not sys.argv[1:] or not set(sys.argv[1:]) <= set(TYPES):
        sys.exit(__doc__)
    library = ctypes.CDLL(found[0])
    for name in sys.argv[1:]:
        blocks = TYPES[name](np.random.default_rng(1)).tobytes()
        values = np.empty(WEIGHTS, np.float32)
        getattr(library, "dequantize_row_" + name.lower())(
            blocks, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(WEIGHTS))
        (TARGET / (name + ".blocks")).write_bytes(blocks)
        (TARGET / (name + ".f32")).write_bytes(values.tobytes())


main()
