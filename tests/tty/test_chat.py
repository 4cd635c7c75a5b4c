#!/usr/bin/python3
"""dllm chat as somebody at a terminal has it: editing, history, ctrl-c, pictures."""
import json
import os
import signal
import struct
import sys
import tempfile

import check
from check import DLLM, environment, equal

check.need("pyte")
from terminal import Terminal

sys.path.insert(0, os.path.join(check.ROOT, "tests/cli"))
import split_model

PRELOAD = os.path.join(check.ROOT, os.environ.get("BUILD", "build"), "tests/faults/preload.so")

with open(os.path.realpath(DLLM), "rb") as program:
    EDITOR = b"dllm-cancel" in program.read()


def chat(home, *arguments, **env):
    terminal = Terminal([DLLM, "chat", *arguments], 24, 80, environment(HOME=home, **env))
    terminal.shows("/help lists the commands")
    prompt(terminal)
    return terminal


def prompt(terminal):
    """Waits until a line can be typed: the editor shows its prompt before it takes over the echo."""
    terminal.until(lambda: terminal.screen is terminal.main and
                   terminal.lines()[terminal.screen.cursor.y] == ">" and (terminal.edits() or not EDITOR))


def ask(terminal, line, answer):
    before = len(terminal.output)
    terminal.type(line + "\n")
    terminal.until(lambda: b"\n" in terminal.output[before:])  # the line was taken: what comes is its answer
    terminal.shows(answer)
    prompt(terminal)


def end(terminal):
    terminal.type("/quit\n")
    equal(terminal.finish(), 0)


def test_a_file_that_is_no_history():
    """Would break: --history with the name of another file, which the lines typed replace."""
    with tempfile.TemporaryDirectory() as home:
        with open(f"{home}/notes", "w", encoding="utf-8") as file:
            file.write("precious\n")
        for name in ("notes", "lines", "lines"):
            terminal = chat(home, "--history", f"{home}/{name}", "-n", "4")
            equal("holds no lines typed before" in terminal.text(), EDITOR and name == "notes")
            ask(terminal, "/tokens", "context: 0 of 512 tokens")
            end(terminal)
        with open(f"{home}/notes", encoding="utf-8") as file:
            equal(file.read(), "precious\n")
        equal(os.path.exists(f"{home}/lines"), EDITOR)


def test_a_conversation():
    with tempfile.TemporaryDirectory() as home:
        terminal = chat(home, "-n", "16")
        ask(terminal, "What is 27 + 58?", "\n85\ncontext: 22 of 512 tokens")
        ask(terminal, f"/save {home}/s.json", "")
        ask(terminal, "/reset", "")
        ask(terminal, "/tokens", "context: 0 of 512 tokens")
        ask(terminal, "What is the capital of France?", "\nParis\n")
        terminal.type("/qiut\n")
        terminal.shows('"/qiut" is no command')
        prompt(terminal)
        terminal.type("\x04")
        equal(terminal.finish(), 1)
        with open(f"{home}/s.json", encoding="utf-8") as file:
            equal(json.load(file), [{"role": "user", "content": "What is 27 + 58?"},
                                    {"role": "assistant", "content": "85"}])


def test_editing_and_history():
    """Would break: keys that end up in the message, lines that a later session does not know."""
    if not EDITOR:
        return
    with tempfile.TemporaryDirectory() as home:
        terminal = chat(home, "-n", "16")
        ask(terminal, "What is 27 + 59?\x1b[D\b8", "\n85\n")
        end(terminal)
        equal(os.stat(f"{home}/.local/state/dllm/history").st_mode & 0o777, 0o600)
        terminal = chat(home, "-n", "16")
        terminal.type("\x1b[A")
        terminal.shows("> /quit")
        terminal.type("\x1b[A")
        terminal.shows("> What is 27 + 58?")
        ask(terminal, "", "\n85\n")
        end(terminal)


def test_interrupts():
    """Would break: ctrl-c that ends the chat, an answer that cannot be stopped, a line that is sent
    although it was given up."""
    with tempfile.TemporaryDirectory() as home:
        terminal = chat(home, "-n", "450", "--no-early-stop", "--block-length", "450")
        terminal.type("Tell a story about Tom and a fox.\n")
        terminal.until(lambda: "[#" in terminal.text())
        terminal.type("\x03")
        terminal.shows("(stopped)")
        prompt(terminal)
        if EDITOR:
            terminal.type("Spell ri")
            terminal.shows("> Spell ri")
            terminal.type("\x03")
            prompt(terminal)
        end(terminal)


def test_pictures():
    """Would break: a chat that loses its terminal to the canvas."""
    with tempfile.TemporaryDirectory() as home:
        terminal = chat(home, "-n", "16", "--visual", "--pause", "0")
        ask(terminal, "What is 27 + 58?", "\n85\ncontext: 22 of 512 tokens")
        assert len(terminal.frames) > 4
        assert terminal.frames[-1][0][3].startswith("85"), terminal.frames[-1][0]
        end(terminal)


def write_large_model(path):
    """The small model with a wider middle, 48 MiB of zeros: large enough to be read ahead."""
    source = split_model.Source(f"{check.ROOT}/tests/data/models/llada-Q4_K_M.gguf")
    entries, keys, key_count = split_model.entries_of(source)
    width = struct.pack("<I", 8192)
    at = keys.index(b"llada.feed_forward_length") + len("llada.feed_forward_length") + 4
    for entry in entries:
        if ".ffn_" in entry[0] and "norm" not in entry[0]:
            hidden = min(entry[1])
            entry[1:] = [(8192, hidden) if "down" in entry[0] else (hidden, 8192), 0, bytes(4 * 8192 * hidden)]
    split_model.write_part(path, keys[:at] + width + keys[at + 4:], key_count, entries)


def test_a_cold_model():
    """Would break: minutes without a word while the disk is read, or a line about it that stays."""
    with tempfile.TemporaryDirectory() as home:
        write_large_model(f"{home}/m.gguf")
        with open(f"{home}/m.json", "w", encoding="utf-8") as file:
            file.write('[{"role": "user", "content": "hi"}]')
        for command in ("chat", "run"):
            terminal = Terminal([DLLM, command, "-m", f"{home}/m.gguf", "--messages", f"{home}/m.json", "-n", "1900",
                                 "--block-length", "1900", "--steps", "2", "-t", "1"], 24, 80,
                                environment(HOME=home, LD_PRELOAD=PRELOAD, FAULT_KIND="cold", FAULT_AT="100"))
            terminal.shows(" of 0.1 GB")
            terminal.until(lambda: "[#" in terminal.text())
            assert "reading" not in terminal.text(), terminal.text()
            terminal.send(signal.SIGKILL)
            terminal.finish()


check.main(globals())
