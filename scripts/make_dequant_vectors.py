#!/usr/bin/python3
"""Writes tests/data/dequant/TYPE.blocks and TYPE.f32: random blocks of 8 rows of 256 weights, and what
llama.cpp's decoder makes of them.

usage: scripts/make_dequant_vectors.py TYPE...

The vectors of most types came with the data that the project started from; these are for types added since:
IQ1_M and MXFP4. llama.cpp's library is that of scripts/install_peers.sh.
"""
import sys

import numpy as np

sys.dont_write_bytecode = True
from peer_decoders import ROOT, decoder

TARGET = ROOT / "tests/data/dequant"
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
    if not sys.argv[1:] or not set(sys.argv[1:]) <= set(TYPES):
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        blocks = TYPES[name](np.random.default_rng(1)).tobytes()
        (TARGET / (name + ".blocks")).write_bytes(blocks)
        (TARGET / (name + ".f32")).write_bytes(bytes(decoder(name)(blocks, WEIGHTS)))


main()
