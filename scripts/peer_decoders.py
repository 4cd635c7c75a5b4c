"""llama.cpp's decoders of block types, from the library that scripts/install_peers.sh brings."""
import ctypes
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "@node-llama-cpp/linux-x64"


def decoder(kind):
    """A function of a type's blocks (bytes) and how many weights they hold, to a ctypes array of floats."""
    found = list(ROOT.glob("build/peers/node_modules/%s/bins/*/libggml-base.so" % PACKAGE))
    if not found:
        sys.exit("error: llama.cpp's library is missing; run scripts/install_peers.sh %s@3.22.1" % PACKAGE)
    decode = getattr(ctypes.CDLL(str(found[0])), "dequantize_row_" + kind.lower())
    decode.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_float), ctypes.c_int64]
    decode.restype = None

    def values(blocks, weights):
        out = (ctypes.c_float * weights)()
        decode(blocks, out, weights)
        return out

    return values
