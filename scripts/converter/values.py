"""Values on their way from a published tensor to a file: in pieces, converted, rows reordered."""
import numpy as np

from errors import Refused

PIECE_BYTES = 64 << 20


def widen(values, dtype):
    """As f32: exact from every published type."""
    if dtype == "BF16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


def to_bfloat16(values):
    """Bits of the nearest bfloat16, ties to even; NaNs stay NaNs."""
    bits = values.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), bits >> 16 | 0x40, rounded).astype(np.uint16)


def to_half(values, name):
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    if np.any(np.isinf(half) & np.isfinite(values)):
        raise Refused("tensor %s has values beyond F16's 65504; use --type BF16 or F32" % name)
    return half


def convert(values, dtype, kind, name):
    """values of a published dtype as an array of type kind."""
    if dtype == kind:
        return values
    wide = widen(np.ascontiguousarray(values), dtype)
    if kind == "F32":
        return wide
    return to_half(wide, name) if kind == "F16" else to_bfloat16(wide)


def reorder(view, heads):
    """Rows (i, i + d/2) of each head of d rows become neighbours (2i, 2i + 1). The published code
    turns halves of a head against each other; files of llada have the two of a pair side by side."""
    half = view.shape[0] // heads // 2
    paired = view.reshape(heads, 2, half, *view.shape[1:])
    return paired.swapaxes(1, 2)


def pieces(entry):
    """The bytes of a tensor in order, a bounded piece at a time."""
    for part in entry.parts:
        view = part.view()
        if entry.heads:
            view = reorder(view, entry.heads)
        row_bytes = max(1, 4 * int(np.prod(view.shape[1:], dtype=np.int64)))
        step = max(1, PIECE_BYTES // row_bytes)
        for first in range(0, view.shape[0], step):
            piece = np.ascontiguousarray(view[first:first + step])
            yield convert(piece, part.dtype, entry.type, entry.name).tobytes()
