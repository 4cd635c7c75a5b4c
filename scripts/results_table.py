#!/usr/bin/python3
"""Writes the README's table of measurements from bench/results/compare-*.json.

usage: scripts/results_table.py [--check]

With --check nothing is written: exit status 1 when the table is not the one
that the results give.
"""
import glob
import json
import os
import sys

BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"


def row(path):
    with open(path) as file:
        result = json.load(file)
    seconds = [result[key]["median"] for key in
               ("llama_seconds", "dllm_all_rows_seconds", "dllm_candidates_seconds")]
    times = [result[key]["median"] for key in ("times_faster_all_rows", "times_faster_candidates")]
    return "| %s | %s, %s, %d threads | %d | %.2f s | %.2f s (%.1fx) | %.2f s (%.1fx) |\n" % (
        result["model"], result["cpu"], result["cpu_level"], result["threads"], result["canvas"],
        seconds[0], seconds[1], times[0], seconds[2], times[1])


def table():
    paths = sorted(glob.glob("bench/results/compare-*.json"))
    if not paths:
        return "No results are kept yet.\n"
    head = ("| model | machine | canvas | llama.cpp | dllm, logits of all rows | dllm, 32 rows |\n"
            "|---|---|---|---|---|---|\n")
    return head + "".join(row(path) for path in paths)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open("README.md") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + "\n" + table() + "\n" + END + after
    if "--check" in sys.argv[1:]:
        if wanted != text:
            print("README.md: the table is not that of bench/results; run scripts/results_table.py")
        return wanted != text
    with open("README.md", "w") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
