#!/usr/bin/python3
"""Makes the pictures of the documentation from real runs of the demo model: docs/run.svg, what --visual
draws in a terminal, and docs/trace.png and docs/trace-phone.png, the page of dllm trace.
usage: scripts/make_pictures.py [run] [trace]
Needs python3-pyte and chromium (scripts/install_deps.sh all)."""
import html
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DLLM = os.path.join(ROOT, os.environ.get("BUILD", "build"), "dllm")
sys.path.insert(0, os.path.join(ROOT, "tests/tty"))

PROMPT = "Tell a story about Tom and a fox."
COLUMNS, ROWS = 72, 9
CELL, LINE, LEFT, TOP = 9.0, 21, 16, 46  # pixels
STEP, HOLD = 0.28, 4.0  # seconds that a frame stays, and the last one
INK, SOFT, PAPER, MASK = "#dde3ec", "#8b97a8", "#151a21", "#323c4b"
STYLE = f"""text{{font:15px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}
.f{{opacity:0}}.f:last-of-type{{opacity:1}}
@media (prefers-reduced-motion:no-preference){{.f,.f:last-of-type{{opacity:0;animation-duration:TOTALs;animation-iteration-count:infinite;animation-timing-function:step-end}}KEYS}}"""


def color(name, fallback):
    return fallback if name == "default" else "#" + name


def runs(line):
    """Neighbouring cells of one look: (column, text, cell)."""
    out = []
    for column in range(COLUMNS):
        cell = line[column]
        look = (cell.fg, cell.bg, cell.bold, cell.underscore, cell.data in "\u2591\u2501\u2500")
        if out and out[-1][3] == look and out[-1][0] + len(out[-1][1]) == column:
            out[-1][1] += cell.data
        else:
            out.append([column, cell.data, cell, look])
    return out


def draw_run(column, text, cell, y):
    x, width = LEFT + column * CELL, len(text) * CELL
    if text[0] == "\u2591":
        return f'<rect x="{x:g}" y="{y + 2}" width="{width:g}" height="{LINE - 5}" fill="url(#m)"/>'
    if text[0] in "\u2501\u2500":
        done = text.count("\u2501") * CELL
        return (f'<rect x="{x:g}" y="{y + 9}" width="{width:g}" height="2" fill="{MASK}"/>'
                f'<rect x="{x:g}" y="{y + 8}" width="{done:g}" height="4" rx="2" fill="#5aa2ff"/>')
    drawn = ""
    if cell.bg != "default":
        drawn += f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{LINE - 1}" fill="{color(cell.bg, PAPER)}"/>'
    if cell.underscore:
        drawn += (f'<rect x="{x:g}" y="{y + LINE - 4}" width="{width:g}" height="2" '
                  f'fill="{color(cell.fg, INK)}"/>')
    if text.strip():
        weight = ' font-weight="bold"' if cell.bold else ""
        drawn += (f'<text x="{x:g}" y="{y + 15}" textLength="{width:g}" fill="{color(cell.fg, INK)}"{weight}>'
                  f'{html.escape(text)}</text>')
    return drawn


def draw_frame(buffer, name):
    rows = "".join(draw_run(column, text, cell, TOP + row * LINE)
                   for row in range(ROWS) for column, text, cell, _ in runs(buffer[row])
                   if text.strip() or cell.bg != "default")
    return f'<g class="f {name}">{rows}</g>'


def make_run():
    from terminal import Terminal
    terminal = Terminal([DLLM, "run", "--visual", "--color-by", "step", "-n", "48", "--steps", "24",
                         "--block-length", "48", "--pause", "0", PROMPT], ROWS, COLUMNS,
                        {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    if terminal.finish():
        sys.exit("the run failed:\n" + terminal.text())
    total = STEP * len(terminal.frames) + HOLD
    keys = ""
    for i in range(len(terminal.frames)):
        begin = 100 * STEP * i / total
        end = 100 * STEP * (i + 1) / total if i < len(terminal.frames) - 1 else 100
        keys += f"@keyframes k{i}{{0%{{opacity:{int(i == 0)}}}{begin:.2f}%{{opacity:1}}{end:.2f}%{{opacity:0}}}}"
        keys += f".k{i},.k{i}:last-of-type{{animation-name:k{i}}}"
    width, height = COLUMNS * CELL + 2 * LEFT, TOP + ROWS * LINE + 8
    style = STYLE.replace("TOTAL", f"{total:.2f}").replace("KEYS", keys)
    dots = "".join(f'<circle cx="{20 + 18 * i}" cy="20" r="5.5" fill="#3d4756"/>' for i in range(3))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">'
             f"<title>A run of dllm in a terminal: masks turn into words, a few at a step</title><style>{style}</style>"
             f'<pattern id="m" x="{LEFT}" width="{CELL:g}" height="{height}" patternUnits="userSpaceOnUse">'
             f'<rect x="1" width="{CELL - 2:g}" height="{height}" fill="{MASK}"/></pattern>'
             f'<rect width="{width:g}" height="{height}" rx="10" fill="{PAPER}"/>{dots}'
             f'<text x="84" y="25" fill="{SOFT}" style="font-size:13px">dllm run --visual --color-by step "{PROMPT}"</text>']
    parts += [draw_frame(frame[1], f"k{i}") for i, frame in enumerate(terminal.frames)]
    with open(os.path.join(ROOT, "docs/run.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n</svg>\n")


def make_trace():
    from browser import Browser
    with tempfile.TemporaryDirectory() as folder:
        trace, page = os.path.join(folder, "t.jsonl"), os.path.join(folder, "t.html")
        subprocess.run([DLLM, "run", PROMPT, "-n", "48", "--steps", "12", "--block-length", "48", "--temperature",
                        "1.5", "--seed", "7", "--trace", trace], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([DLLM, "trace", trace, "-o", page], check=True)
        with open(trace, encoding="utf-8") as file:
            steps = [json.loads(line) for line in file][1:-1]
        # The least sure token is the most interesting one.
        token = min((token for step in steps for token in step["tokens"]),
                    key=lambda token: token["probability"])["position"]
        browser = Browser()
        for name, width, height, state in (("trace", 1040, 770, f"token={token}&theme=light"),
                                           ("trace-phone", 390, 780, "step=7&color=step&theme=dark")):
            browser.size(width, height)
            browser.open(page, state)
            browser.picture(os.path.join(ROOT, "docs", name + ".png"))
        browser.close()


wanted = sys.argv[1:] or ["run", "trace"]
if "run" in wanted:
    make_run()
if "trace" in wanted:
    make_trace()
