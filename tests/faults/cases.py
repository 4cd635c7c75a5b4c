"""Commands that are run while something goes wrong, and what they may then do: see complaint()."""
import contextlib
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
MODELS = os.path.join(ROOT, "tests/fuzz/corpus/model")
TINY = os.path.join(MODELS, "llada")
MESSAGES = '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}, ' \
    '{"role": "user", "content": "b"}]'
REQUESTS = '{"prompt": "What is 1 + 2?"}\n{"prompt": "x", "id": "b"}\n'
QUESTIONS = "".join(f'{{"question": "What is {i} + 1?", "answer": "{i + 1}"}}\n' for i in range(2))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SNAPSHOT = f".cache/huggingface/hub/models--test--tiny/snapshots/{COMMIT}"
# Seconds without any computing, of computing, and in all, after which a run does not end by itself.
IDLE_MOST, COMPUTING_MOST, WALL_MOST = 60, 300, 1800


class Case:
    """A command: its arguments, what lies in its folder, its input, its files."""

    def __init__(self, arguments, files=None, given="", outputs=(), grows=(), others=(),
                 varies=False, code=0):
        self.arguments, self.files, self.given = shlex.split(arguments), files or {}, given
        self.others = others  # files that depend on what happened before
        self.varies = varies  # its output, from run to run
        self.code = code  # its exit code when nothing goes wrong
        # Files that appear whole or not at all, and those that grow line by line.
        self.outputs, self.grows = outputs, grows


CASES = {
    "run": Case("run -m m.gguf --no-chat --prompt a -n 4 -t 1", {"m.gguf": TINY}),
    "run-threads": Case("run -m m.gguf --no-chat --prompt a -n 4 -t 3", {"m.gguf": TINY}),
    "run-chat": Case("run -n 4 -t 1 --json --messages m.json", {"m.json": MESSAGES}),
    "run-trace": Case("run hi -n 4 --steps 2 -t 1 --trace t.jsonl", outputs=["t.jsonl"]),
    "run-template": Case("run --template x[[2]]y[[1]] -t 1 --json"),
    "run-stdin": Case("run - -n 4 -t 1", given="What is 1 + 2?"),
    "batch": Case("run --input in.jsonl -o out.jsonl -n 4 -t 1 --parallel 1", {"in.jsonl": REQUESTS},
                  grows=["out.jsonl"]),
    "batch-resume": Case("run --input in.jsonl -o out.jsonl --resume -n 4 -t 1 --parallel 1",
                         {"in.jsonl": REQUESTS, "out.jsonl": '{"id": 1, "line": 1, "seed": 42}\n{"id": "b'},
                         grows=["out.jsonl"]),
    "chat": Case("chat -n 4 -t 1 --history h", given="hi\n/save c.json\n//x\n",
                 others=["c.json", "h"]),
    "tokenize": Case("tokenize hi"),
    "inspect": Case("inspect --json m.gguf", {"m.gguf": TINY}),
    "logits": Case("logits -m m.gguf --tokens 1,2,3 -t 1 -o x.npy --layers l", {"m.gguf": TINY},
                   outputs=["x.npy", "l/embedding.npy", "l/layer-00.npy"]),
    "score": Case("score --input in.jsonl -o out.jsonl --resume --samples 2 -t 1",
                  {"in.jsonl": '{"prompt": "a", "answer": "b"}\n' * 2, "out.jsonl": '{"id": 1, "line": 1, "seed": 42}\n'},
                  grows=["out.jsonl"]),
    "quantize": Case("quantize f32.gguf out.gguf Q8_0 -t 1", {"f32.gguf": TINY}, outputs=["out.gguf"]),
    "replace": Case("quantize f32.gguf out.gguf Q8_0 -t 2", {"f32.gguf": TINY, "out.gguf": "the old file"},
                    outputs=["out.gguf"]),
    "trace": Case("trace t.jsonl -o t.html", {"t.jsonl": f"{ROOT}/tests/fuzz/corpus/trace/short"},
                  outputs=["t.html"]),
    "pull": Case("pull test/tiny", outputs=[f"{SNAPSHOT}/tiny-F32.gguf"], others=[".cache"]),
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


@contextlib.contextmanager
def hub():
    """The address of the hub that tests/support plays meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/support/fake_hub.py"),
                                   os.path.join(ROOT, "tests/data/models"), "port", "requests.log"], cwd=folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = os.path.join(folder, "port")
        while not os.path.exists(port) and server.poll() is None:
            time.sleep(0.02)
        with open(port, encoding="utf-8") as file:
            yield "http://127.0.0.1:" + file.read()
        server.terminate()
        server.wait()


class Outcome:
    """What a run left behind; program: the words before the command's arguments."""

    def __init__(self, case, program, environment):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)  # the program may be another user's
            self._prepare(case, folder)
            before = set(os.listdir(folder))
            environment = {"PATH": os.environ["PATH"], "HOME": folder} | environment
            self.code, self.out, self.err = run([*program, *case.arguments], folder, case.given, environment)
            self.out = without_times(self.out).replace(folder, "FOLDER")
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
            os.chmod(path, 0o666)

    @staticmethod
    def _read(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return without_times(file.read())
        except OSError:
            return ""


def complaint(case, sound, found):
    """What is wrong with a run beside a sound one; None if nothing is."""
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
            if found.files[name] not in (case.files.get(name, ""), sound.files[name]):
                return f"{name} is neither whole nor what it was"
        for name in case.grows:
            lines, wanted = found.files[name].split("\n"), sound.files[name].split("\n")
            if [line for line in lines[:-1] if line not in wanted and '"error"' not in line]:
                return f"{name} has a line that it should not have"
    if found.left:
        return f"left behind: {found.left}"
    return None
