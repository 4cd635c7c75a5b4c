#!/usr/bin/env python3
"""Kills commands that write files (kill -9) at moments spread over their time: under its final name a file is
whole or not there, what grows line by line has whole lines, and the command can be run again.

usage: tests/faults/test_kill.py [-n KILLS] [CASE]...     (4 kills a case)
environment: BUILD (build). Cases whose programs or data are missing are skipped.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DLLM = os.path.join(ROOT, os.environ.get("BUILD", "build"), "dllm")
MODEL = os.path.join(ROOT, "tests/data/models/llada-Q4_K_M.gguf")
PYTHON = "/usr/bin/python3"
REQUESTS = "".join(f'{{"prompt": "What is {i} + 2?", "answer": "{i + 2}"}}\n' for i in range(40))


def equal(path, sound):
    """Whole: the same bytes."""
    with open(path, "rb") as left, open(sound, "rb") as right:
        return left.read() == right.read()


def ends(path, _):
    """A trace is whole when its end is there: times differ from run to run."""
    with open(path, encoding="utf-8") as file:
        return '"end":true' in file.read().split("\n")[-2]


def lines(path, _):
    """Whole lines of JSON, but for a torn last one."""
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            json.loads(line)
    return True


class Case:
    def __init__(self, command, output, whole=equal, needs=()):
        self.command, self.output, self.whole, self.needs = command, output, whole, needs


CASES = {
    "quantize": Case([DLLM, "quantize", "f32.gguf", "out.gguf", "Q4_K_M"], "out.gguf", needs=["f32.gguf"]),
    "convert": Case([os.path.join(ROOT, "scripts/convert"), "published", "out.gguf"], "out.gguf",
                    needs=["published"]),
    "logits": Case([DLLM, "logits", "-m", MODEL, "--tokens", ",".join(str(i) for i in range(400)),
                    "-o", "x.npy"], "x.npy"),
    "trace": Case([DLLM, "run", "-m", MODEL, "hi", "-n", "64", "--no-early-stop", "--trace", "t.jsonl"],
                  "t.jsonl", ends),
    "page": Case([DLLM, "trace", "sound.jsonl", "-o", "t.html"], "t.html"),
    "batch": Case([DLLM, "run", "--input", "run.jsonl", "-o", "out.jsonl", "--resume", "-n", "8"], "out.jsonl",
                  lines),
    "score": Case([DLLM, "score", "--input", "score.jsonl", "-o", "out.jsonl", "--resume", "--samples", "16"],
                  "out.jsonl", lines),
    "pull": Case([DLLM, "pull", "test/plain"], "hub/models--test--plain/refs/main", needs=["curl"]),
}


def prepare(folder):
    """Inputs of all cases."""
    with open(os.path.join(folder, "run.jsonl"), "w", encoding="utf-8") as file:
        file.write(REQUESTS.replace(', "answer"', ', "id"'))
    with open(os.path.join(folder, "score.jsonl"), "w", encoding="utf-8") as file:
        file.write(REQUESTS)
    subprocess.run([DLLM, "run", "-m", MODEL, "hi", "-n", "64", "--no-early-stop", "--trace", "sound.jsonl"],
                   cwd=folder, stdout=subprocess.DEVNULL, check=True)
    made = subprocess.run([PYTHON, os.path.join(ROOT, "tests/scripts/published_model.py"), "llada", "published",
                           "hidden=768", "ffn=1024", "heads=24", "kv_heads=24"], cwd=folder, stderr=subprocess.DEVNULL, check=False)
    if made.returncode == 0:
        subprocess.run([os.path.join(ROOT, "scripts/convert"), "published", "f32.gguf"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


def start_hub(folder):
    """The hub that tests/support plays; returns its process."""
    hub = subprocess.Popen([PYTHON, os.path.join(ROOT, "tests/support/fake_hub.py"), os.path.dirname(MODEL),
                            "port", "requests.log"], cwd=folder, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(folder, "port")):
        if hub.poll() is not None:
            raise RuntimeError("the hub did not start")
        time.sleep(0.02)
    with open(os.path.join(folder, "port"), encoding="utf-8") as file:
        os.environ["HF_ENDPOINT"] = "http://127.0.0.1:" + file.read()
    return hub


def remove(folder, case):
    path = os.path.join(folder, case.output)
    if os.path.exists(path):
        os.unlink(path)
    shutil.rmtree(os.path.join(folder, "hub"), ignore_errors=True)


def run(folder, case, kill_after=None):
    """Returns whether it was killed, and the seconds; with kill_after None it must succeed."""
    began = time.monotonic()
    process = subprocess.Popen(case.command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "HF_HUB_CACHE": os.path.join(folder, "hub")})
    if kill_after is not None:
        try:
            process.wait(kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
    error = process.communicate()[1].decode(errors="replace")
    if process.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"exit code {process.returncode}: {error}")
    return process.returncode != 0, time.monotonic() - began


def kill_case(folder, case, kills):
    """Returns how many runs were killed before they were done, and how many there were."""
    path, sound = os.path.join(folder, case.output), os.path.join(folder, "sound")
    remove(folder, case)
    duration = run(folder, case)[1]
    shutil.copy(path, sound)
    killed = tries = 0
    # A run that was done sooner tells how long the next one takes: the first may have met a busy machine.
    while tries < kills or killed == 0 and tries < 10 * kills:
        moment = duration * (tries % kills + 0.5) / kills
        tries += 1
        remove(folder, case)
        was_killed, seconds = run(folder, case, moment)
        killed += was_killed
        duration = duration if was_killed else seconds
        if os.path.exists(path) and not case.whole(path, sound):
            raise RuntimeError(f"killed after {moment:.3f} s: {case.output} is not whole")
        run(folder, case)
        if not case.whole(path, sound):
            raise RuntimeError("the run after a kill gave something else")
    return killed, tries


def main():
    names, kills = sys.argv[1:], 4
    if names[:1] == ["-n"]:
        kills, names = int(names[1]), names[2:]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        hub = start_hub(folder)
        for name in names or CASES:
            case = CASES[name]
            if not all(os.path.exists(os.path.join(folder, need)) or shutil.which(need) for need in case.needs):
                skipped += 1
                continue
            try:
                killed, tries = kill_case(folder, case, kills)
                print(f"{name}: killed {killed} of {tries} times before it was done", flush=True)
                passed += killed > 0
                failed += killed == 0
            except (RuntimeError, ValueError) as problem:
                print(f"FAILED {name}: {problem}")
                failed += 1
        hub.terminate()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed > 0)


main()
