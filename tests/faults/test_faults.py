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
import sys
import tempfile

from cases import BUILD, CASES, DLLM, Outcome, complaint, hub

PRELOAD = os.path.join(BUILD, "tests/faults/preload.so")
# Faults of a case in a quick run.
QUICK = 40


class Faulty(Outcome):
    """A run with one fault, or with some."""

    def __init__(self, case, endpoint, kind, at):
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
            super().__init__(case, [DLLM], {"LD_PRELOAD": PRELOAD, "FAULT_KIND": kind, "FAULT_AT": at,
                                            "FAULT_REPORT": file.name, "HF_ENDPOINT": endpoint})
            # A program that ends where it stands leaves no report.
            report = file.read().split() or ["0", "0", "1", "0", "-"]
        self.allocations, self.calls, self.alive = int(report[0]), int(report[1]), int(report[3])
        self.hit, self.name = report[2] == "1", report[4]


def problem_of(case, sound, found):
    """What is wrong with a run under a fault; None if nothing is."""
    if found.alive > sound.alive:
        return f"{found.alive - sound.alive} blocks of memory lost"
    return complaint(case, sound, found)


def run_case(name, endpoint, every):
    """Returns runs, faults met and failures of a case, and prints the failures."""
    case = CASES[name]
    sound = Faulty(case, endpoint, "count", "0")
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
        for (kind, at), found in zip(jobs, pool.map(lambda job: Faulty(case, endpoint, *job), jobs)):
            met += found.hit
            problem = problem_of(case, sound, found)
            if problem:
                failed += 1
                print(f"FAILED {name}, {kind} {at} ({found.name}): {problem}")
                if failed < 4:
                    print("    " + (found.err.strip() or "(nothing on stderr)")[-300:])
    return len(jobs), met, failed


def small_disk(name, endpoint):
    """What is wrong with a command whose file does not fit: it must say so before the first byte, with numbers."""
    case = CASES[name]
    found = Faulty(case, endpoint, "room", "100")
    if found.code != 1 or not re.search(r"error: .*[\d.]+ (bytes|KiB|MiB).* has room for (100 bytes|0 MiB)", found.err):
        return f"exit code {found.code}, {found.err.strip()[-300:]}"
    return complaint(case, found, found) or (found.files[case.outputs[0]] != case.files.get(case.outputs[0], "")
                                             and "a file was written")


def main():
    every = "--all" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--all"] or list(CASES)
    failures = 0
    with hub() as endpoint:
        for name in names:
            runs, met, failed = run_case(name, endpoint, every)
            failures += failed
            print(f"{name}: {runs} runs, {met} faults met, {failed} failures", flush=True)
        for name in ("quantize", "replace", "logits", "pull"):
            problem = small_disk(name, endpoint) if name in names else None
            failures += bool(problem)
            if problem:
                print(f"FAILED {name} on a small disk: {problem}")
    print(f"{len(names)} passed, 0 failed" if not failures else f"0 passed, {failures} failed")
    sys.exit(failures > 0)


main()
