"""Compares an existing file with the folder it should come from, by headers alone."""
import math

import gguf


def differences_of_keys(found, keys):
    """Numbers and names that say something else. Files may lack optional keys."""
    for name, kind, value in keys:
        if isinstance(kind, tuple) or name in ("general.name", "general.file_type"):
            continue
        have = found.get(name)
        same = have == value or (kind == gguf.F32 and have is not None and
                                 math.isclose(have, value, rel_tol=1e-6))
        if have is not None and not same:
            yield "key %s is %s, %s was expected" % (name, have, value)


def differences_of_tensors(found, entries):
    for entry in entries:
        if entry.name not in found:
            yield "tensor %s is missing, %s was expected" % (entry.name, list(entry.shape))
        elif tuple(found[entry.name][0]) != tuple(entry.shape):
            yield "tensor %s has shape %s, %s was expected" % (
                entry.name, list(found[entry.name][0]), list(entry.shape))
    names = {entry.name for entry in entries}
    for name in found:
        if name not in names:
            yield "tensor %s has no counterpart in the folder" % name


def differences(path, keys, entries):
    """Lines that say what differs, none where the shapes agree."""
    found_keys, found_tensors = gguf.read_file(path)
    architecture = dict((k[0], k[2]) for k in keys)["general.architecture"]
    if found_keys.get("general.architecture") != architecture:
        return ["the file is a %s model, the folder a %s one"
                % (found_keys.get("general.architecture"), architecture)]
    return [*differences_of_keys(found_keys, keys),
            *differences_of_tensors(found_tensors, entries)]
