#!/usr/bin/env python3
"""Draws the canvas of a run after each step, from what dllm run --trace wrote, as an SVG.

usage: make_denoising_figure.py TRACE.jsonl >docs/denoising.svg

A row is a step, a column a position of the answer; grey is a mask, a coloured cell was filled in that
step. Positions from the first end token on are left out.
"""

import html
import json
import sys

HEIGHT, GAP, LEFT, TOP = 26, 5, 66, 34


def text_of(token):
    text = token["text"].replace("\n", " ").strip()
    return "end" if text.startswith("<|") else text


def main(path):
    with open(path, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    head, steps = lines[0], [line for line in lines[1:] if "tokens" in line]
    start = head["region"][0]
    came = {t["position"] - start: (i, t) for i, step in enumerate(steps) for t in step["tokens"]}
    last = min((p for p, (_, t) in came.items() if t["id"] in head["end_ids"]), default=max(came))
    shown = [p for p in sorted(came) if p <= last]
    widths = [max(24, 8 + 7 * len(text_of(came[p][1]))) for p in shown]
    width, height = LEFT + sum(widths) + GAP * len(widths) + 10, TOP + len(steps) * (HEIGHT + GAP) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" fill="#333333">the answer, position by position</text>',
    ]
    for row in range(len(steps)):
        y, x = TOP + row * (HEIGHT + GAP), LEFT
        out.append(f'<text x="10" y="{y + 17}" fill="#333333">step {row + 1}</text>')
        for position, cell in zip(shown, widths):
            when, token = came[position]
            fill = "#d9d9d9" if when > row else "#8fc7a5" if when == row else "#eef4f0"
            out.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{HEIGHT}" rx="4" fill="{fill}"/>')
            if when <= row:
                text = html.escape(text_of(token))
                out.append(f'<text x="{x + cell / 2}" y="{y + 17}" text-anchor="middle" fill="#1d1d1d">{text}</text>')
            x += cell + GAP
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_denoising_figure.py TRACE.jsonl")
    main(sys.argv[1])
