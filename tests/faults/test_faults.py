#!/usr/bin/env python3
"""Lets every allocation and every call to the system of dllm's commands fail in turn.

usage: tests/faults/test_faults.py [--all] [CASE]...
Each run has one fault (preload.c). It must end by itself, and either succeed with exactly the output
that it has without the fault, or exit with 1 and an error on stderr. Then no half file lies about, no
output stands under its final name that is not whole, and no memory is lost. Without --all the faults
are spread so that a case takes a few seconds. How long a run takes says nothing, the machine may be
crowded: one that neither computes nor ends is ended, and so is one that computes for minutes.

environment: BUILD (build), DLLM the program ($BUILD/tests/faults/dllm)
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
DLLM = os.path.abspath(os.environ.get("DLLM", os.path.join(BUILD, "tests/faults/dllm")))
PRELOAD = os.path.join(BUILD, "tests/faults/preload.so")
MODELS = os.path.join(ROOT, "tests/fuzz/corpus/model")
TINY = os.path.join(MODELS, "llada")
MESSAGES = '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}, ' \
    '{"role": "user", "content": "b"}]'
REQUESTS = '{"prompt": "What is 1 + 2?"}\n{"prompt": "x", "id": "b"}\n'
QUESTIONS = "".join(f'{{"question": "What is {i} + 1?", "answer": "{i + 1}"}}\n' for i in range(2))
# Faults of a case in a quick run.
QUICK = 40
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SNAPSHOT = f".cache/huggingface/hub/models--test--tiny/snapshots/{COMMIT}"
# Seconds without any computing, of computing, and in all, after which a run does not end by itself.
IDLE_MOST, COMPUTING_MOST, WALL_MOST = 60, 300, 1800


class Case:
    """A command: its arguments, what lies in its folder, its input, its files."""

    def __init__(self, arguments, files=None, given="", outputs=(), grows=(), others=(),
                 varies=False, hub=False):
        self.arguments, self.files, self.given = shlex.split(arguments), files or {}, given
        self.hub = hub  # needs a hub to talk to
        self.others = others  # files that depend on what happened before
        self.varies = varies  # its output, from run to run
        # Files that appear whole or not at all, and those that grow line by line.
        self.outputs, self.grows = outputs, grows


CASES = {
    "run": Case(f"run -m {TINY} --no-chat --prompt a -n 4 -t 1"),
    "run-threads": Case(f"run -m {TINY} --no-chat --prompt a -n 4 -t 3"),
    "run-chat": Case("run -n 4 -t 1 --json --messages m.json", {"m.json": MESSAGES}),
    "run-trace": Case("run hi -n 4 --steps 2 -t 1 --trace t.jsonl", outputs=["t.jsonl"]),
    "run-template": Case("run --template x[[2]]y[[1]] -t 1 --json"),
    "run-stdin": Case("run - -n 4 -t 1", given="What is 1 + 2?"),
    "batch": Case("run --input in.jsonl -o out.jsonl -n 4 -t 1 --parallel 1", {"in.jsonl": REQUESTS},
                  grows=["out.jsonl"]),
    "batch-resume": Case("run --input in.jsonl -o out.jsonl --resume -n 4 -t 1 --parallel 1",
                         {"in.jsonl": REQUESTS, "out.jsonl": '{"id": 1, "line": 1}\n{"id": "b'},
                         grows=["out.jsonl"]),
    "chat": Case("chat -n 4 -t 1 --history h", given="hi\n/save c.json\n//x\n",
                 others=["c.json", "h"]),
    "tokenize": Case("tokenize hi"),
    "inspect": Case(f"inspect --json {TINY}"),
    "logits": Case(f"logits -m {TINY} --tokens 1,2,3 -t 1 -o x.npy --layers l",
                   outputs=["x.npy", "l/embedding.npy", "l/layer-00.npy"]),
    "score": Case("score --input in.jsonl -o out.jsonl --samples 2 -t 1",
                  {"in.jsonl": '{"prompt": "a", "answer": "b"}\n'}, grows=["out.jsonl"]),
    "quantize": Case("quantize f32.gguf out.gguf Q8_0 -t 1", {"f32.gguf": TINY}, outputs=["out.gguf"]),
    "trace": Case("trace t.jsonl -o t.html", {"t.jsonl": f"{ROOT}/tests/fuzz/corpus/trace/short"},
                  outputs=["t.html"]),
    "pull": Case("pull test/tiny", outputs=[f"{SNAPSHOT}/tiny-F32.gguf"], others=[".cache"], hub=True),
    "eval": Case("eval q.jsonl --common '-n 4 -t 1' --arm a: -r r.jsonl --json e.json", {"q.jsonl": QUESTIONS},
                 outputs=["e.json"], grows=["r.jsonl"], varies=True),
    "completion": Case("completion bash"),
    "help": Case("help run"),
    "doctor": Case("doctor", varies=True),
}
# Numbers that are never the same twice: times, rates and memory.
MOMENTS = re.compile(r'("\w*(?:_s|_ms|seconds\w*|_second|bytes|ms_per_step)": *)(?:[-+.\de]+|\[[-+.\de, ]*\])')


def without_times(text):
    return MOMENTS.sub(r"\1", text)


def computed(pid):
    """Seconds that the threads of a process have computed so far."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    except OSError:  # it is ending
        pass
    return total / 1e9


def waits_for_a_core(pid):
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "RD":
                    return True
    except OSError:
        pass
    return False


def run(command, folder, given, environment):
    """Returns exit code, stdout and stderr; the code is "hang" when it does not end by itself."""
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    began = moved = time.monotonic()
    before = 0
    while True:
        try:
            out, err = process.communicate(given, timeout=2)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            now, seconds = time.monotonic(), computed(process.pid)
            if seconds > before or waits_for_a_core(process.pid):
                before, moved = seconds, now
            if now - moved > IDLE_MOST or seconds > COMPUTING_MOST or now - began > WALL_MOST:
                process.kill()
                process.communicate()
                return "hang", "", ""


def start_hub(folder):
    """Starts the hub that tests/support plays; returns its process and address."""
    hub = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/support/fake_hub.py"),
                            os.path.join(ROOT, "tests/data/models"), "port", "requests.log"], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = os.path.join(folder, "port")
    while not os.path.exists(port) and hub.poll() is None:
        time.sleep(0.02)
    with open(port, encoding="utf-8") as file:
        return hub, "http://127.0.0.1:" + file.read()


endpoint = ""


class Outcome:
    """What a run left behind."""

    def __init__(self, case, kind, at):
        with tempfile.TemporaryDirectory() as folder:
            self._prepare(case, folder)
            before = set(os.listdir(folder))
            report = folder + ".report"
            environment = {"PATH": os.environ["PATH"], "HOME": folder, "LD_PRELOAD": PRELOAD,
                           "FAULT_KIND": kind, "FAULT_AT": at, "FAULT_REPORT": report}
            if case.hub:
                environment["HF_ENDPOINT"] = endpoint
            self.code, self.out, self.err = run([DLLM, *case.arguments], folder, case.given, environment)
            self.out = without_times(self.out).replace(folder, "FOLDER")
            # A program that ends where it stands leaves no report.
            self.report = self._read(report).split() or ["0", "0", "1", "0", "-"]
            if os.path.exists(report):
                os.unlink(report)
            self.files = {name: self._read(os.path.join(folder, name))
                          for name in (*case.outputs, *case.grows)}
            self.left = sorted(set(os.listdir(folder)) - before
                               - {name.split("/")[0] for name in (*self.files, *case.others)})

    @staticmethod
    def _prepare(case, folder):
        for name, content in case.files.items():
            path = os.path.join(folder, name)
            if content.startswith("/"):
                shutil.copy(content, path)
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)

    @staticmethod
    def _read(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return without_times(file.read())
        except OSError:
            return ""

    @property
    def allocations(self):
        return int(self.report[0])

    @property
    def calls(self):
        return int(self.report[1])

    @property
    def hit(self):
        return self.report[2] == "1"

    @property
    def alive(self):
        return int(self.report[3])


def complaint(case, sound, found):
    """What is wrong with a run under a fault; None if nothing is."""
    if found.code == "hang":
        return "it did not end"
    if found.code == 0:
        if found.out != sound.out and not case.varies:
            return "exit code 0, but another output"
        for name, content in sound.files.items():
            if found.files[name] != content:
                return f"exit code 0, but {name} is another"
    elif found.code not in (1, 2):
        return f"exit code {found.code}"
    elif "error: " not in found.err and not (case.varies and found.out):
        return "no error on stderr"
    else:
        for name in case.outputs:
            if found.files[name] not in ("", sound.files[name]):
                return f"{name} is not whole"
        for name in case.grows:
            lines, wanted = found.files[name].split("\n"), sound.files[name].split("\n")
            if [line for line in lines[:-1] if line not in wanted and '"error"' not in line]:
                return f"{name} has a line that it should not have"
    if found.left:
        return f"left behind: {found.left}"
    if found.alive > sound.alive:
        return f"{found.alive - sound.alive} blocks of memory lost"
    return None


def run_case(name, every):
    """Returns runs, faults met and failures of a case, and prints the failures."""
    case = CASES[name]
    sound = Outcome(case, "count", "0")
    if sound.code != 0:
        print(f"FAILED {name}: exit code {sound.code} without a fault: {sound.err}")
        return 1, 0, 1
    jobs = []
    for kind, count in (("allocation", sound.allocations), ("call", sound.calls)):
        step = 1 if every else max(1, count // QUICK)
        jobs += [(kind, f"{at}{more}") for at in range(1, count + 1, step) for more in ("", "+")
                 if every or (at // step) % 2 == (more == "+")]
    met = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (kind, at), found in zip(jobs, pool.map(lambda job: Outcome(case, *job), jobs)):
            met += found.hit
            problem = complaint(case, sound, found)
            if problem:
                failed += 1
                print(f"FAILED {name}, {kind} {at} ({found.report[4]}): {problem}")
                if failed < 4:
                    print("    " + (found.err.strip() or "(nothing on stderr)")[-300:])
    return len(jobs), met, failed


def main():
    global endpoint
    every = "--all" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--all"] or list(CASES)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        hub, endpoint = start_hub(folder)
        for name in names:
            runs, met, failed = run_case(name, every)
            failures += failed
            print(f"{name}: {runs} runs, {met} faults met, {failed} failures", flush=True)
        hub.terminate()
        hub.wait()
    print(f"{len(names)} passed, 0 failed" if not failures else f"0 passed, {failures} failed")
    sys.exit(failures > 0)


main()
