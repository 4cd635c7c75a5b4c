"""Writes GGUF files tensor by tensor, and reads the keys and the directory of existing ones."""
import os
import re
import struct

from errors import Refused

ALIGNMENT = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
# Struct letters by value type; strings and arrays are made of others.
LETTERS = {0: "B", 1: "b", 2: "H", 3: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", 10: "Q",
           11: "q", 12: "d"}
# name: (id of a tensor's type, general.file_type, bytes per weight)
TYPES = {"F32": (0, 0, 4), "F16": (1, 1, 2), "BF16": (30, 32, 2)}


def pack_string(text):
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(data)) + data


def pack_value(kind, value):
    return pack_string(value) if kind == STRING else struct.pack("<" + LETTERS[kind], value)


def pack_key(name, kind, value):
    """kind: a value type, or (ARRAY, type of the elements)."""
    if not isinstance(kind, tuple):
        return pack_string(name) + struct.pack("<I", kind) + pack_value(kind, value)
    head = struct.pack("<IIQ", ARRAY, kind[1], len(value))
    return pack_string(name) + head + b"".join(pack_value(kind[1], item) for item in value)


def padding(position):
    return b"\0" * (-position % ALIGNMENT)


def tensor_bytes(entry):
    count = TYPES[entry.type][2]
    for length in entry.shape:
        count *= length
    return count


def pack_header(keys, entries):
    """Everything before the data. An entry has name, type ("F16") and shape (row length first)."""
    out = [struct.pack("<4sIQQ", b"GGUF", 3, len(entries), len(keys))]
    out += [pack_key(*key) for key in keys]
    offset = 0
    for entry in entries:
        shape = entry.shape
        out.append(pack_string(entry.name) + struct.pack("<I%dQ" % len(shape), len(shape), *shape) +
                   struct.pack("<IQ", TYPES[entry.type][0], offset))
        offset += tensor_bytes(entry)
        offset += -offset % ALIGNMENT
    data = b"".join(out)
    return data + padding(len(data))


class Reader:
    """Keys and tensors of one file: self.keys {name: value}, self.tensors {name: (shape, type)}."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as self.file:
                self.read()
        except OSError as error:
            raise Refused("%s: %s" % (path, error.strerror)) from error
        except (struct.error, KeyError, UnicodeDecodeError, MemoryError, OverflowError) as error:
            raise Refused("%s: cut or damaged after %d bytes; expected a whole GGUF file"
                          % (path, self.at)) from error

    def unpack(self, letters):
        return struct.unpack("<" + letters, self.file.read(struct.calcsize("<" + letters)))

    def string(self):
        length, = self.unpack("Q")
        data = self.file.read(length)
        if len(data) != length:
            raise struct.error("cut")
        return data.decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.unpack("IQ")
            return [self.value(element) for _ in range(count)]
        return self.unpack(LETTERS[kind])[0]

    def read(self):
        self.at, self.keys, self.tensors = 0, {}, {}
        if self.file.read(4) != b"GGUF":
            raise Refused("%s: not a GGUF file" % self.path)
        _, tensor_count, key_count = self.unpack("IQQ")
        for _ in range(key_count):
            name, (kind,) = self.string(), self.unpack("I")
            self.keys[name] = self.value(kind)
            self.at = self.file.tell()
        for _ in range(tensor_count):
            name, (dims,) = self.string(), self.unpack("I")
            shape = self.unpack("%dQ" % dims)
            self.tensors[name] = (shape, self.unpack("IQ")[0])
            self.at = self.file.tell()


def part_paths(path):
    """All parts of a split file of which path is one; [path] for a whole one."""
    match = re.fullmatch(r"(.*-)\d{5}-of-(\d{5})\.gguf", path)
    if not match:
        return [path]
    count = int(match[2])
    return ["%s%05d-of-%05d.gguf" % (match[1], i + 1, count) for i in range(count)]


def read_file(path):
    """(keys, tensors) of a file, whole or split."""
    if not os.path.exists(path):
        raise Refused("%s: no such file" % path)
    keys, tensors = {}, {}
    for part in part_paths(path):
        reader = Reader(part)
        keys = {**reader.keys, **keys}
        tensors.update(reader.tensors)
    return keys, tensors
