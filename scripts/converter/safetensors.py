"""Reads safetensors files: a u64 with the length of a JSON header, the header, then the data.

Only headers are read at first; a tensor's values are a view of the mapped file, so that a folder of
any size needs little memory.
"""
import json
import math
import os

import numpy as np

from errors import Refused

# bfloat16 has no numpy type: its bits are read as u16 and widened by whoever uses them.
DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
HEADER_MOST = 100 << 20


class Tensor:
    """A tensor of a file: name, dtype ("BF16"), shape (numpy's order), and where it lies."""

    def __init__(self, path, name, entry, data_start):
        self.path, self.name = path, name
        self.dtype, self.shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        if any(type(n) is not int or n < 0 for n in (*self.shape, begin, end)):
            raise ValueError("numbers that are no sizes")
        self.begin, self.end = data_start + begin, data_start + end

    def view(self):
        """The values (BF16: the bits) without reading them yet."""
        return np.memmap(self.path, DTYPES[self.dtype], "r", self.begin, self.shape)

    def check(self, file_bytes):
        where = "%s: tensor %s" % (self.path, self.name)
        if self.dtype not in DTYPES:
            raise Refused("%s has type %s; expected one of %s: get the model in one of these"
                          % (where, self.dtype, ", ".join(DTYPES)))
        size = math.prod(self.shape) * DTYPES[self.dtype].itemsize
        if self.end - self.begin != size or size == 0:
            raise Refused("%s has %d bytes; %d were expected for its shape: download it again"
                          % (where, self.end - self.begin, size))
        if self.end > file_bytes:
            raise Refused("%s ends at byte %d, the file at %d: download it again"
                          % (where, self.end, file_bytes))


def read_header(path):
    """{name: Tensor} of one file."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(size - 8, HEADER_MOST):
                raise Refused("%s: a header of %d bytes in a file of %d; this is no whole "
                              "safetensors file: download it again" % (path, length, size))
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        tensors = {name: Tensor(path, name, entry, 8 + length) for name, entry in header.items()}
    except OSError as error:
        raise Refused("%s: %s" % (path, error.strerror)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused("%s: the header is not that of a safetensors file: download it again"
                      % path) from error
    for tensor in tensors.values():
        tensor.check(size)
    return tensors


def shard_names(folder):
    """Names of the files that hold the tensors, by the index where there is one."""
    index = os.path.join(folder, "model.safetensors.index.json")
    if os.path.exists(index):
        try:
            with open(index, encoding="utf-8") as file:
                return sorted(set(json.load(file)["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused("%s does not list the files of a model: download it again" % index) from error
    names = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    if not names:
        raise Refused("%s has no *.safetensors; expected the folder of a model as it is "
                      "published" % folder)
    return names


def read_folder(folder):
    """{name: Tensor} of all files of a model."""
    tensors = {}
    for name in shard_names(folder):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            raise Refused("%s is missing; model.safetensors.index.json lists it: download it"
                          % path)
        for key, tensor in read_header(path).items():
            if key in tensors:
                raise Refused("tensor %s is in %s and in %s; expected it once"
                              % (key, tensors[key].path, path))
            tensors[key] = tensor
    return tensors
