#!/usr/bin/env python3
"""What the GPU kernels take, as ptxas told while they were compiled: a Markdown table of registers per
generation and bytes of static shared memory, a line per kernel over all its instances; and what each file's
object takes, in KB (with its first kernel).

usage: scripts/kernel_resources.py [PAGE]
  PAGE  writes the table between its lines "<!-- kernel resources -->" and "<!-- end -->"; else to stdout
environment: BUILD, the build folder (build), after make cuda-objects
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

BEGIN, END = "<!-- kernel resources -->", "<!-- end -->"
ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\d+)'")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


def instances(folder):
    """(file, mangled name, generation, registers, shared bytes) of every kernel."""
    for path in sorted(folder.glob("*.ptxas")):
        kernel = None
        for line in path.read_text().splitlines():
            if found := ENTRY.search(line):
                kernel = found.groups()
            elif kernel and (found := USED.search(line)):
                shared = SHARED.search(line)
                yield path.stem, kernel[0], int(kernel[1]), int(found[1]), int(shared[1]) if shared else 0
                kernel = None


def plain_names(mangled):
    """Mangled names to function names without their template arguments."""
    text = subprocess.run(["c++filt"], input="\n".join(mangled), text=True, capture_output=True, check=True).stdout
    return {m: re.sub(r"^(?:void )?([\w:]+).*", r"\1", line) for m, line in zip(mangled, text.splitlines())}


def span(values):
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


def table(folder):
    found = list(instances(folder))
    if not found:
        sys.exit(f"error: no *.ptxas in {folder}: run make cuda-objects first")
    names = plain_names(sorted({mangled for _, mangled, *_ in found}))
    generations = sorted({generation for _, _, generation, *_ in found})
    rows = collections.defaultdict(list)
    for file, mangled, generation, registers, shared in found:
        rows[file, names[mangled]].append((mangled, generation, registers, shared))
    yield "| file | kernel | instances | " + " | ".join(f"sm_{g}" for g in generations) + " | shared | object |"
    yield "|---|---|---|" + "---|" * len(generations) + "---|---|"
    told = set()
    for (file, name), group in sorted(rows.items()):
        size = "" if file in told else f"{(folder / file).with_suffix('.o').stat().st_size / 1000:.0f}"
        told.add(file)
        cells = [span([r for _, g, r, _ in group if g == generation]) for generation in generations]
        count = len({mangled for mangled, *_ in group})
        yield f"| {file} | {name} | {count} | " + " | ".join(cells) + f" | {span([s for *_, s in group])} | {size} |"


def main():
    folder = pathlib.Path(os.environ.get("BUILD", "build")) / "obj/kernels/cuda"
    text = "\n".join(table(folder)) + "\n"
    if len(sys.argv) == 1:
        sys.stdout.write(text)
        return
    page = pathlib.Path(sys.argv[1])
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n" + text + END + rest.split(END, 1)[1])


main()
