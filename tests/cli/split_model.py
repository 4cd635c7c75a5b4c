#!/usr/bin/python3
"""Splits a GGUF file into PARTS files, as published models are split.

usage: split_model.py IN NAME PARTS    writes NAME-00001-of-0000N.gguf and so on; the first has keys alone
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../scripts/converter"))

import gguf


class Source(gguf.Reader):
    """Also remembers where keys end and tensors start."""

    def read(self):
        super().read()
        self.file.seek(0)
        self.data = self.file.read()


def entries_of(source):
    """[(name, shape, type, bytes)] in order of the file, and the bytes of all keys."""
    key_count = len(source.keys)
    at = 24
    for name in source.keys:
        at = source.data.index(gguf.pack_string(name), at)
    directory = source.data.index(gguf.pack_string(next(iter(source.tensors))), at)
    start = source.at + -source.at % gguf.ALIGNMENT
    found = []
    at = directory
    for name, (shape, kind) in source.tensors.items():
        at += len(gguf.pack_string(name)) + 4 + 8 * len(shape) + 4
        offset, = struct.unpack_from("<Q", source.data, at)
        at += 8
        found.append([name, shape, kind, start + offset])
    ends = sorted(entry[3] for entry in found[1:]) + [len(source.data)]
    for entry in found:
        end = next(e for e in ends if e > entry[3])
        entry[3] = source.data[entry[3]:end]
    return found, source.data[24:directory], key_count


def write_part(path, keys, key_count, entries):
    out = [struct.pack("<4sIQQ", b"GGUF", 3, len(entries), key_count), keys]
    data = b""
    for name, shape, kind, values in entries:
        out.append(gguf.pack_string(name) + struct.pack("<I%dQIQ" % len(shape), len(shape), *shape, kind,
                                                        len(data)))
        data += values + gguf.padding(len(values))
    head = b"".join(out)
    with open(path, "wb") as file:
        file.write(head + gguf.padding(len(head)) + data)


def main():
    source, name, parts = Source(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    entries, keys, key_count = entries_of(source)
    share = -(-len(entries) // (parts - 1))
    for part in range(parts):
        mine = entries[(part - 1) * share:part * share] if part else []
        split = [gguf.pack_key("split.no", 2, part), gguf.pack_key("split.count", 2, parts),
                 gguf.pack_key("split.tensors.count", gguf.I32, len(entries))]
        write_part("%s-%05d-of-%05d.gguf" % (name, part + 1, parts),
                   (b"" if part else keys) + b"".join(split),
                   (0 if part else key_count) + len(split), mine)


if __name__ == "__main__":
    main()
