#!/usr/bin/env python3
"""Writes the tables of docs/demo-model.md from bench/results/eval_demo.json."""

import json
import os

ROOT = os.path.join(os.path.dirname(__file__), "..")
RESULT = os.path.join(ROOT, "bench/results/eval_demo.json")
PAGE = os.path.join(ROOT, "docs/demo-model.md")
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->\n"


def settings_table(result):
    lines = ["| steps / block | right | forwards an answer | better, worse than the first, p |",
             "|---|---|---|---|"]
    for run in result["runs"]:
        share = 100 * run["right"] / result["asked"]
        lines.append(f"| {run['setting']} | {share:.1f} % | {run['forwards_per_answer']:.1f} "
                     f"| +{run['better']} -{run['worse']}, {run['mcnemar_p']:.2g} |")
    return lines


def kinds_table(result):
    runs = result["runs"]
    lines = ["| kind | asked | " + " | ".join(r["setting"] for r in runs) + " |",
             "|---" * (2 + len(runs)) + "|"]
    for kind, first in runs[0]["kinds"].items():
        shares = (100 * r["kinds"][kind]["right"] / r["kinds"][kind]["asked"] for r in runs)
        lines.append(f"| {kind} | {first['asked']} | " + " | ".join(f"{s:.0f} %" for s in shares)
                     + " |")
    return lines


def main():
    with open(RESULT) as file:
        result = json.load(file)
    with open(PAGE) as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    lines = settings_table(result) + [""] + kinds_table(result)
    with open(PAGE, "w") as file:
        file.write(before + BEGIN + "\n".join(lines) + "\n" + END + after)


if __name__ == "__main__":
    main()
