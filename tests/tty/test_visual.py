#!/usr/bin/python3
"""--visual in a terminal: exact screens, other sizes, a change of size under way, signals, and what
terminals without colours or without a cursor get."""
import re
import signal
import subprocess
import time

import check
from check import DLLM, environment, equal

check.need("pyte")
from terminal import Terminal

STORY = "Tell a story about Tom and a fox."
BLOCKS = "\u2591"


def run(*arguments, rows=24, columns=80, **env):
    return Terminal([DLLM, "run", "--visual", *arguments], rows, columns, environment(**env))


def frame(terminal, index):
    """A frame's lines with the time taken out, without empty ones at the end."""
    lines = [re.sub(r", [0-9.]+ s$", "", line) for line in terminal.frames[index][0]]
    return "\n".join(lines).rstrip("\n")


def assert_given_back(terminal):
    """Would break: a shell left on the other screen, or without a cursor."""
    assert terminal.screen is terminal.main
    assert terminal.output.rfind(b"\x1b[?25h") > terminal.output.rfind(b"\x1b[?25l")


def test_screens_of_a_run():
    terminal = run("What is 27 + 58?", "-n", "16", "--steps", "4", "--pause", "0")
    equal(terminal.finish(), 0)
    bar = "\u2501" * 20 + "\u2500" * 60
    legend = "confidence:  <.3   <.5   <.7   <.9   <.99   >.99"
    equal(frame(terminal, 0), "step 0 of 4, 16 masks left\n" + "\u2500" * 80 +
          f"\n\n{BLOCKS * 16}\n\n{legend}")
    first = frame(terminal, 1).split("\n")
    equal(first[:2], ["step 1 of 4, 12 masks left", bar])
    equal(sorted(first[3]), sorted(BLOCKS * 12 + "\u00b7" * 4))
    equal(len(terminal.frames), 5)
    equal(terminal.text(), f"85<|eot_id|>{chr(0xb7) * 13}\n{legend}\n\n85")
    assert_given_back(terminal)


def test_colours():
    """Would break: tokens of one step in different colours, the fresh ones not marked."""
    terminal = run("What is 27 + 58?", "-n", "16", "--steps", "4", "--pause", "0", "--color-by",
                   "step")
    equal(terminal.finish(), 0)
    place = "step, early to late:"
    last = terminal.frames[-1][1]
    row = [last[3][column] for column in range(26)]
    fresh = [cell.bg for cell in row if cell.underscore]
    assert fresh and len(set(fresh)) == 1, fresh
    equal(fresh[0], last[5][len(place) + 17].bg)
    equal(len({cell.bg for cell in row if cell.data != " "}) > 2, True)


def test_wraps_at_the_width():
    terminal = run(STORY, "-n", "40", "--pause", "0", rows=15, columns=40)
    equal(terminal.finish(), 0)
    equal(terminal.lines()[:3], ["Once upon a time Tom had a fox. Every",
                                 "day Tom and the fox walked to the river.",
                                 "Tom and the fox were happy.<|eot_id|>" + "\u00b7" * 3])


def test_only_changed_rows_are_written():
    """Would break: a picture that flickers because it is cleared and written whole."""
    terminal = run(STORY, "-n", "64", "--pause", "0", rows=15, columns=40)
    equal(terminal.finish(), 0)
    frames = terminal.output.split(b"\x1b[?2026h")[2:]
    for data in frames:
        data = data[:data.find(b"\x1b[?2026l")]
        assert b"\x1b[2J" not in data
        assert data.count(b"\x1b[K") < 9, data


def test_resize_under_way():
    """Would break: rows of the old width, a window that loses what is being resolved."""
    terminal = run(STORY, "-n", "400", "--no-early-stop", "--block-length", "40", "--steps", "40",
                   "--pause", "100")
    terminal.until(lambda: len(terminal.frames) > 4)
    terminal.send(signal.SIGSTOP)
    terminal.resize(12, 30)
    before = len(terminal.frames)
    terminal.send(signal.SIGCONT)
    terminal.until(lambda: len(terminal.frames) > before + 1)
    assert any("lines 1 to 7 of" in line or "masks left" in line
               for line in terminal.frames[-1][0])
    equal(terminal.finish(), 0)
    last = frame(terminal, len(terminal.frames) - 1).split("\n")
    assert last[0].startswith("step 40 of 40, 0 masks left"), last[0]
    equal(last[1], "\u2501" * 30)
    equal(len(last), 10)
    # The last block's end is in the window, not the beginning of the story.
    assert not any("Once" in line for line in last), last
    assert_given_back(terminal)


def test_canvas_larger_than_the_screen():
    terminal = run(STORY, "-n", "200", "--no-early-stop", "--steps", "20", "--pause", "0", rows=9,
                   columns=60)
    equal(terminal.finish(), 0)
    assert re.search(r"lines 1 to 4 of 4$|lines [0-9]+ to [0-9]+ of [0-9]+$|>\.99",
                     frame(terminal, 1))
    for lines, _, _ in terminal.frames:
        assert "masks left" in lines[0], lines


def test_tiny_terminals():
    for rows, columns in ((1, 1), (2, 3), (5, 10), (8, 200)):
        terminal = run(STORY, "-n", "32", "--steps", "8", "--pause", "0", rows=rows,
                       columns=columns)
        equal(terminal.finish(), 0)
        assert_given_back(terminal)


def test_wide_and_combining_characters():
    """Would break: a wide character cut at the edge, a mark in a cell of its own, characters of
    several tokens shown in pieces, control characters that the terminal obeys."""
    text = "\u65e5\u672c\u8a9e e\u0301x \x1b[31m\u202e\tb"
    terminal = run("--no-chat", text, "-n", "4", "--steps", "1", "--pause", "0", columns=5, rows=20)
    equal(terminal.finish(), 0)
    lines = [line.rstrip() for line in terminal.frames[0][0] if line.strip()]
    equal(lines[2:4], ["\u65e5\u672c", "\u8a9e \u00e9x"])
    equal("".join(lines[4:6]).replace(" ", ""), "\ufffd[31m\ufffd")
    assert b"\x1b[31m" not in terminal.output


def test_interrupt():
    """The answer so far, exit code 130, the terminal as it was."""
    terminal = run(STORY, "-n", "64", "--pause", "60000", "--block-length", "64")
    terminal.until(lambda: terminal.frames)
    terminal.type("\x03")
    equal(terminal.finish(), 130)
    assert_given_back(terminal)


def test_interrupted_twice():
    terminal = run(STORY, "-n", "450", "--pause", "0", "--no-early-stop")
    terminal.until(lambda: len(terminal.frames) > 2)
    terminal.send(signal.SIGINT)
    terminal.send(signal.SIGINT)
    time.sleep(0.001)
    terminal.send(signal.SIGINT)
    assert terminal.finish() in (130, -signal.SIGINT)
    assert_given_back(terminal)


def test_ended_from_outside():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        terminal = run(STORY, "-n", "8", "--pause", "60000")
        terminal.until(lambda: terminal.frames)
        terminal.send(number)
        equal(terminal.finish(), -number)
        assert_given_back(terminal)


def test_stopped_and_continued():
    """Would break: ctrl-z that leaves the shell on the other screen, or no picture after fg."""
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], 24, 80, environment(PS1="> "))
    terminal.shows(">")
    terminal.type(f"{DLLM} run --visual '{STORY}' -n 8 --pause 3000\n")
    terminal.until(lambda: terminal.frames)
    terminal.type("\x1a")
    terminal.shows("Stopped")
    assert_given_back(terminal)
    seen = len(terminal.frames)
    terminal.type("fg\n")
    terminal.until(lambda: len(terminal.frames) > seen)
    assert terminal.screen is terminal.other
    assert "masks left" in terminal.lines()[0]
    terminal.type("\x03")
    terminal.until(lambda: terminal.screen is terminal.main)
    terminal.type("exit 0\n")
    terminal.finish()


def test_errors_are_readable():
    """Would break: an error message on the screen that disappears."""
    terminal = run(STORY, "-n", "600", columns=200)
    equal(terminal.finish(), 2)
    assert "error: " in terminal.lines()[0] and "512" in terminal.text(), terminal.text()
    assert_given_back(terminal)


def test_no_color():
    terminal = run(STORY, "-n", "16", "--steps", "4", "--pause", "0", NO_COLOR="1")
    equal(terminal.finish(), 0)
    for sequence in re.findall(rb"\x1b\[([0-9;]*)m", terminal.output):
        assert sequence in (b"", b"0", b"4"), sequence
    assert b"confidence:" not in terminal.output


def test_ascii_locale():
    terminal = run("--no-chat", "\u65e5x", "-n", "4", "--steps", "1", "--pause", "0", LANG="C")
    equal(terminal.finish(), 0)
    equal(frame(terminal, 0).split("\n")[3], "?x____")


def plain_lines(output):
    return [line for line in output.decode().replace("\r", "").split("\n")
            if line.startswith("step ")]


def test_without_a_cursor():
    """Would break: escape sequences on a dumb terminal or in a file; other lines in one than in the
    other."""
    options = ["What is 27 + 58?", "-n", "4", "--steps", "4"]
    dumb = run(*options, TERM="dumb")
    equal(dumb.finish(), 0)
    assert b"\x1b" not in dumb.output
    pipe = subprocess.run([DLLM, "run", "--visual", *options], env=environment(), check=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    equal(pipe.stdout, b"85\n")
    equal(plain_lines(dumb.output), plain_lines(pipe.stderr))
    equal(plain_lines(pipe.stderr)[:1], ['step 1 of 4: "__<|eot_id|>_"'])


check.main(globals())
