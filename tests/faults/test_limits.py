#!/usr/bin/env python3
"""Lets dllm's commands run under limits on memory, stack, files, threads and cores.

usage: tests/faults/test_limits.py [CASE]...
Whatever the limit, a command ends by itself, with the output that it has without one or with exit code 1 and an
error; no half file lies about. A limit so small that the program cannot even be loaded is not its to report.

environment: BUILD (build), DLLM the program ($BUILD/tests/faults/dllm)
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

from cases import CASES, DLLM, Case, Outcome, complaint, hub

NESTED = "[" * 2048 + "]" * 2048
# What needs the most stack: JSON that is nested as deep as it may be. (The words that it lacks are an error.)
CASES |= {
    "deep-json": Case("run --messages deep.json -n 1 -t 1", {"deep.json": NESTED}, code=1),
    "deep-batch": Case("run --input in.jsonl -n 1 -t 1", {"in.jsonl": '{"prompt": "a", "id": ' + NESTED + "}\n"},
                       code=1),
    "bench": Case("bench -m demo --canvas 4 --reps 1 -t 1", varies=True),
}


class Limit:
    """A limit of the shell's ulimit: its letter, values, and up to where the loader alone may fail."""

    def __init__(self, flag, values, unloadable=0, cases=None):
        self.flag, self.values, self.unloadable = flag, values, unloadable
        self.cases = cases  # for which there must be values that are too small; None: for all


LIMITS = {
    "address space": Limit("-v", [8000 + 500 * i for i in range(17)] + [17000, 19000, 21000, 24000, 27000, 30000,
                                                                      35000, 40000, 80000, 400000], 8000),
    "stack": Limit("-s", [12, 16, 32, 64, 128, 192, 256, 264, 280, 512, 1024], 16),
    "open files": Limit("-n", [2, 3, 4, 5, 6, 8, 10, 12, 16, 64], 2),
    "size of files": Limit("-f", [0, 1, 2, 4, 8, 16, 24, 64, 1024],
                           cases=[name for name, case in CASES.items() if case.outputs]),
    "threads": Limit("-u", [1, 2, 3, 4, 5, "hard"], cases=["run-threads"]),
}
# Sets the limit, and starts the program in its place.
SHELL = ["bash", "-c", 'ulimit "$0" "$1" && shift && exec "$@"']
# Of root the number of threads is not limited.
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []


def problem_of(case, sound, found, too_small):
    """What is wrong with a run under a limit; too_small: the loader may have failed."""
    if found.code in (126, 127) or too_small and found.code != "hang":
        return None
    return complaint(case, sound, found)


def run_limit(case, name, limit, program, endpoint):
    """The failures of a case under all values of a limit."""
    environment = {"HF_ENDPOINT": endpoint}
    sound = Outcome(case, NOBODY + [program], environment)
    if sound.code != case.code:
        return [f"exit code {sound.code} without a limit: {sound.err}"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda value: Outcome(case, [*NOBODY, *SHELL, limit.flag, str(value), program],
                                                    environment), limit.values))
    failures = []
    for value, one in zip(limit.values, found):
        problem = problem_of(case, sound, one, value != "hard" and value <= limit.unloadable)
        if problem:
            failures.append(f"at {value}: {problem}: {one.err.strip()[-300:]}")
    if found[-1].code != sound.code:
        failures.append(f"{limit.values[-1]} is not enough: {found[-1].err.strip()[-300:]}")
    if (limit.cases is None or name in limit.cases) and found[0].code == 0:
        failures.append(f"{limit.values[0]} is enough")
    return failures


def threads_in_mask(program):
    """There are as many threads as the affinity mask has cores: one."""
    core = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, program, "run", "hi", "-n", "1", "--verbose"], capture_output=True,
                          encoding="utf-8", check=True)
    return " 1 thread\n" in done.stderr


def long_environment(program):
    """The environment lies on the stack: with 90 KiB of it, what would do without it need not be enough."""
    codes = [Outcome(CASES["deep-json"], [*SHELL, "-s", str(kib), program], {"LONG": "a" * 90_000}).code
             for kib in range(256, 400, 16)]
    return set(codes) == {1}


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, hub() as endpoint:
        os.chmod(folder, 0o755)
        program = shutil.copy(DLLM, os.path.join(folder, "dllm"))
        for name in sys.argv[1:] or CASES:
            for what, limit in LIMITS.items():
                failures = run_limit(CASES[name], name, limit, program, endpoint)
                passed, failed = passed + (not failures), failed + bool(failures)
                for failure in failures:
                    print(f"FAILED {name}, limit on {what} (ulimit {limit.flag}) {failure}", flush=True)
        for check in (threads_in_mask, long_environment):
            if check(program):
                passed += 1
            else:
                failed += 1
                print(f"FAILED {check.__name__}: {check.__doc__}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
