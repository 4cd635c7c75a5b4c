"""Result files of benchmarks: what they say about the machine, when times are steady enough to keep, and
where they lie (bench/results/NAME.json, or in the folder that the environment's BENCH_RESULTS names).

The rule: times are kept when
- the quartiles of what is reported (ratios of pairs, times of repetitions) are at most MAX_SPREAD of its
  median apart, with at least MIN_COUNT of them, and
- while it was measured the process got at least MIN_PROCESSOR of the processor time of its threads (on a GPU,
  where threads wait, that is no sign).
Else nothing is written: another program was using the machine.
"""
import json
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
RESULTS = os.path.abspath(os.environ.get("BENCH_RESULTS", os.path.join(ROOT, "bench", "results")))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PEER = os.path.join(ROOT, "build/peers/node_modules/@node-llama-cpp/linux-x64")
PEER_GPU = PEER + "-cuda"
MAX_SPREAD, MIN_COUNT, MIN_PROCESSOR = 0.15, 5, 0.8


def quartiles(values):
    """(low quartile, median, high quartile), between neighbours by their distance."""
    ordered = sorted(values)

    def at(share):
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return at(0.25), at(0.5), at(0.75)


def median(values):
    return quartiles(values)[1]


def spread(values):
    """Distance of the quartiles as a share of the median."""
    low, middle, high = quartiles(values)
    return (high - low) / middle


def peer_seconds(result):
    """Of a comparison: of llama.cpp's passes; of several prompts in one or one after the other, as it is faster."""
    sides = [result["seconds"][side]["wall"] for side in ("llama", "llama_each") if side in result["seconds"]]
    return min(sides, key=median)


def ratios(slow, fast):
    """How many times faster the second was, pair by pair."""
    return [a / b for a, b in zip(slow, fast)]


def unsteady(what, values):
    """Why values scatter too much to be kept, or None."""
    if len(values) < MIN_COUNT:
        return "%s: %d measurements; at least %d were expected" % (what, len(values), MIN_COUNT)
    if spread(values) > MAX_SPREAD:
        return "%s: quartiles lie %.1f %% of the median apart; at most %.0f %% were expected" % (
            what, 100 * spread(values), 100 * MAX_SPREAD)
    return None


def complaint(what, values, processor_use, threads):
    """Why values must not be kept, or None."""
    reason = unsteady(what, values)
    if reason:
        return reason
    if processor_use < MIN_PROCESSOR * threads:
        return "%s: got %.2f of %d processors; at least %.2f were expected" % (
            what, processor_use, threads, MIN_PROCESSOR * threads)
    return None


def processor_name():
    """With family and model numbers: a virtual machine often says no more than "AMD EPYC"."""
    with open("/proc/cpuinfo") as file:
        fields = dict(map(str.strip, line.split(":", 1)) for line in file.read().split("\n\n")[0].splitlines())
    if "model name" not in fields:
        return platform.processor() or "unknown"
    return "%s (family %s, model %s)" % (fields["model name"], fields["cpu family"], fields["model"])


def processor_numbers():
    """Of processor_name what can stand in a file's name: family-25-model-17."""
    numbers = re.search(r"\(family (\d+), model (\d+)\)$", processor_name())
    return "family-%s-model-%s" % numbers.groups() if numbers else "unknown"


def name_of(name, beside):
    """A result's name; beside those of other processors it ends in this one's numbers."""
    return name + "-" + processor_numbers() if beside else name


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def commit():
    """The commit measured, "-dirty" with changes that are not in it: other ones than new results and their tables.
    The environment's DLLM_COMMIT goes before; without history the file of scripts/make_gpu_kit.sh says it."""
    if "DLLM_COMMIT" in os.environ:
        return os.environ["DLLM_COMMIT"]
    try:
        changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs",
                      ":!README.md")
        return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return packed_commit()


def packed_commit():
    try:
        with open(os.path.join(BUILD, "commit")) as file:
            return file.read().strip()
    except FileNotFoundError:
        return "unknown"


def facts():
    """Of machine and source, the same in every result."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"machine": {"processor": processor_name(), "cores": len(os.sched_getaffinity(0)),
                        "memory_gb": round(memory / 1e9, 1)},
            "commit": commit()}


def gpu_facts():
    """The first card and its driver, by dllm doctor and nvidia-smi; None, after a line, where there is none.
    What doctor says of a card besides, that it fails or of others, is not asked here."""
    run = subprocess.run([os.path.join(BUILD, "dllm"), "doctor"], capture_output=True, text=True)
    found = re.search(r"^GPU +(?:ok|NOT OK) +(.*)", run.stdout, re.M)
    text = found.group(1) if found else run.stderr.strip()
    card = re.match(r"0: (.+?), compute capability ([\d.]+), \S+ \S+ free of (\S+ \S+?)(?:[,;] .*)?; "
                    r"the driver has CUDA ([\d.]+), this build ([\d.]+)", text)
    if not card:
        print("nothing is measured: %s" % text)
        return None
    keys = ("name", "compute_capability", "memory", "cuda_of_driver", "cuda_of_build")
    return dict(zip(keys, card.groups()), driver=driver_version())


def driver_version():
    try:
        run = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader"],
                             check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return run.stdout.strip()


def write(name, result):
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, name + ".json")
    with open(path + ".new", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.rename(path + ".new", path)
    print("%s: written" % os.path.relpath(path))


def read(kind):
    """[(name, result)] of that kind, by name."""
    out = []
    for entry in sorted(os.listdir(RESULTS)) if os.path.isdir(RESULTS) else []:
        if entry.endswith(".json"):
            with open(os.path.join(RESULTS, entry)) as file:
                result = json.load(file)
            if result.get("kind") == kind:  # other tools keep results of their own form here
                out.append((entry[:-len(".json")], result))
    return out


def start_model_file(arch, file_type="Q4_K_M", layers=None):
    """The path of a file of random blocks in the shapes of a model, in build/models, and the process that
    writes it there, None when it is there."""
    name = "%s-random-%s%s.gguf" % (arch, file_type, "-%d-layers" % layers if layers else "")
    path = os.path.join(ROOT, "build", "models", name)
    if os.path.exists(path):
        return path, None
    os.makedirs(os.path.dirname(path), exist_ok=True)
    command = [sys.executable, os.path.join(ROOT, "scripts/make_random_model.py"), path, "--arch", arch,
               "--type", file_type] + (["--layers", str(layers)] if layers else [])
    return path, subprocess.Popen(command, stdout=sys.stderr)


def model_file(arch, file_type="Q4_K_M", layers=None):
    """The same when it is written."""
    path, writer = start_model_file(arch, file_type, layers)
    if writer and writer.wait():
        sys.exit("error: %s could not be written" % path)
    return path


def warm(path):
    """Reads the file once, so that it is in the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
