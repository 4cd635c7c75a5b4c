#!/usr/bin/python3
"""The line that says how far something is: in terminals of any width it leaves nothing behind, shows
a bar where there is room for one, and does not come where a terminal cannot go back in a line."""
import json
import os
import tempfile

import check
from check import DLLM, environment, equal

check.need("pyte")
from terminal import Terminal

STORY = ["run", "Tell a story about Tom and a fox.", "-n", "16"]
ANSWER = "Once upon a time Tom had a fox. Every day Tom and the fox walked"


def finished(command, columns, **env):
    terminal = Terminal([DLLM, *command], 100, columns, environment(**env))
    equal(terminal.finish(), 0)
    return terminal


def test_nothing_is_left_behind():
    """Would break: a line wider than the terminal, whose beginnings stay when it is drawn again."""
    for columns in (1, 12, 24, 40, 80, 500):
        terminal = finished(STORY, columns)
        equal("".join(terminal.text().split()), "".join(ANSWER.split()))


def test_bar_has_what_is_left():
    for columns, bar in ((500, 30), (52, 29), (40, 17), (24, 0)):
        line = finished(STORY, columns).output.split(b"\r\x1b[K")[1].decode()
        equal(line.find("]") - line.find("[") - 1 if "[" in line else 0, bar)
        assert "step 1 of 16, 0.0 s" in line and len(line) < columns, line


def test_files_of_requests():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for number in range(100):
                file.write(json.dumps({"prompt": f"What is {number} + 1?", "max_tokens": 16}) + "\n")
        command = ["run", "--input", path, "--output", os.path.join(folder, "out.jsonl")]
        terminal = finished(command, 30)
    assert b"done" in terminal.output
    assert terminal.text().startswith("100 answered, 0 failed;"), terminal.text()


def test_no_cursor_no_line():
    for name in ("dumb", None):
        equal(finished(STORY, 80, TERM=name).output, ANSWER.encode() + b"\r\n")


if __name__ == "__main__":
    check.main(globals())
