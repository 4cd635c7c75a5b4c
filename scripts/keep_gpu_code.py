#!/usr/bin/python3
"""Copies a library without the GPU code that one generation of cards does not use, so that it packs small.

usage: scripts/keep_gpu_code.py LIBRARY COPY ARCH        ARCH: a compute capability, 90 for 9.0

nvcc puts a container ("fat binary") into a library for each source file, with machine code for some generations and
PTX, which the driver compiles, for others. Kept is what a card of ARCH takes: its machine code, else the PTX of the
newest capability that is not above it. The rest becomes zeros; nothing moves.
"""
import struct
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)
CONTAINER = struct.Struct("<IHHQ")        # magic, version, bytes of this head, bytes behind it
ENTRY = struct.Struct("<HHIQ")            # kind, -, bytes of this head, bytes of code
ARCH_AT = 28                              # in an entry's head, 4 bytes
PTX, MACHINE_CODE = 1, 2


def containers(data):
    """(start, end) of the entries of each container."""
    at = data.find(MAGIC)
    while at >= 0:
        _, _, head, size = CONTAINER.unpack_from(data, at)
        yield at + head, at + head + size
        at = data.find(MAGIC, at + head + size)


def entries(data, start, end):
    """(kind, arch, where its code is, how long it is)"""
    while start < end:
        kind, _, head, size = ENTRY.unpack_from(data, start)
        yield kind, struct.unpack_from("<I", data, start + ARCH_AT)[0], start + head, size
        start += head + size


def chosen(found, arch):
    """Kind and capability of what a card of that capability takes, None if it can take nothing."""
    if (MACHINE_CODE, arch) in found:
        return MACHINE_CODE, arch
    return max(((kind, its) for kind, its in found if kind == PTX and its <= arch), default=None)


def keep(data, arch):
    """Bytes kept and zeroed; data changes."""
    kept = zeroed = 0
    for start, end in containers(data):
        found = list(entries(data, start, end))
        wanted = chosen({(kind, its) for kind, its, _, _ in found}, arch)
        if wanted is None:
            raise ValueError("there is no code for a compute capability of %.1f in it" % (arch / 10))
        for kind, its, at, size in found:
            if (kind, its) == wanted:
                kept += size
            else:
                data[at:at + size] = bytes(size)
                zeroed += size
    return kept, zeroed


def main():
    if len(sys.argv) != 4 or not sys.argv[3].isdigit():
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    try:
        kept, zeroed = keep(data, int(sys.argv[3]))
    except ValueError as reason:
        sys.exit("error: %s: %s" % (sys.argv[1], reason))
    with open(sys.argv[2], "wb") as file:
        file.write(data)
    print("%s: %.1f MB of GPU code kept, %.1f MB left out" % (sys.argv[2], kept / 1e6, zeroed / 1e6))


if __name__ == "__main__":
    main()
