"""From a published folder to the list of tensors that its GGUF file has, by headers alone."""
import families
import safetensors
from errors import Refused


class Entry:
    """A tensor of the file: its published parts, one, or one per expert."""

    def __init__(self, name, kind, shape, parts, heads):
        self.name, self.type, self.shape, self.parts = name, kind, shape, parts
        self.heads = heads  # rows of each head change places for rope; 0: they stay


def group(published, tied):
    """{name in the file: {expert or None: tensor}}."""
    groups = {}
    for name, tensor in published.items():
        if families.DERIVED.fullmatch(name):
            continue
        known, expert = families.file_name(name)
        if known is None:
            raise Refused("%s: tensor %s has no place in a file; running without it would give wrong "
                          "answers" % (tensor.path, name))
        if known == "output.weight" and tied:
            continue
        if expert in groups.setdefault(known, {}):
            raise Refused("%s: tensor %s and %s are the same part of the model"
                          % (tensor.path, name, groups[known][expert].name))
        groups[known][expert] = tensor
    return groups


def parts_of(name, shape, group_of):
    """The published tensors of one entry in order, checked against its shape."""
    count = shape[2] if len(shape) == 3 else 1
    wanted = range(count) if len(shape) == 3 else [None]
    missing = [e for e in wanted if e not in group_of]
    if missing or len(group_of) != count:
        raise Refused("tensor %s has %d parts, expected %d%s; the folder is not whole"
                      % (name, len(group_of), count,
                         ": expert %d is missing" % missing[0] if missing else ""))
    for expert in wanted:
        tensor = group_of[expert]
        if tensor.shape != tuple(reversed(shape[:2])):
            raise Refused("%s: tensor %s has shape %s, expected %s by config.json"
                          % (tensor.path, tensor.name, list(tensor.shape),
                             list(reversed(shape[:2]))))
    return [group_of[expert] for expert in wanted]


def heads_of(family, numbers, name):
    if not family.permuted:
        return 0
    if ".attn_q." in name:
        return numbers.heads
    return numbers.kv_heads if ".attn_k." in name else 0


def type_of(name, shape, parts, wanted):
    """Vectors and the router stay exact; "source": the published type, F32 for experts of several types."""
    if len(shape) == 1 or "ffn_gate_inp" in name:
        return "F32"
    published = {part.dtype for part in parts}
    if wanted == "source":
        return published.pop() if len(published) == 1 else "F32"
    return wanted


def make_plan(folder, family, numbers, wanted):
    """[Entry] in the order of a forward pass; wanted: F32, F16, BF16 or "source"."""
    groups = group(safetensors.read_folder(folder), numbers.tied)
    shapes = families.expected_shapes(family, numbers, "blk.0.attn_q.bias" in groups)
    entries = []
    for name, shape in sorted(shapes.items(), key=lambda item: order_of(item[0])):
        if name not in groups:
            raise Refused("%s has no tensor for %s; a %s model of %d layers must have it"
                          % (folder, name, family.architecture, numbers.layers))
        parts = parts_of(name, shape, groups.pop(name))
        entries.append(Entry(name, type_of(name, shape, parts, wanted), shape, parts,
                             heads_of(family, numbers, name)))
    for name, tensors in groups.items():
        tensor = next(iter(tensors.values()))
        raise Refused("%s: tensor %s (%s) has no place in a %s model of %d layers; running without "
                      "it would give wrong answers"
                      % (tensor.path, tensor.name, name, family.architecture, numbers.layers))
    return entries


def order_of(name):
    """The embedding, the layers by number, the ends."""
    if name.startswith("blk."):
        return 1, int(name.split(".")[1]), name
    return (0 if name == "token_embd.weight" else 2), 0, name


def main_type(entries):
    """The type with the most values."""
    totals = {}
    for entry in entries:
        count = 1
        for length in entry.shape:
            count *= length
        totals[entry.type] = totals.get(entry.type, 0) + count
    return max(totals, key=totals.get)
