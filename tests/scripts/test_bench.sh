#!/usr/bin/env bash
# The tables of measurements must say what the result files say, and unsteady times must not be kept: plants
# results in a small tree and looks at what bench_table.py, bench_results.py and bench/compare make of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{docs,scripts,bench/results}
cp scripts/bench_table.py "$tree/scripts/"
cp bench/bench_results.py "$tree/bench/"
. "tests/support/expect.sh"

pages() { # fresh pages, one table each
    printf 'Text.\n<!-- table speed: begin -->\n<!-- table speed: end -->\nMore.\n' >"$tree/README.md"
    printf '<!-- table steps: begin -->\n7 ms\n<!-- table steps: end -->\n' >"$tree/docs/benchmarks.md"
    printf '<!-- table parity: begin -->\n<!-- table parity: end -->\n' >"$tree/docs/correctness.md"
    echo "No table." >"$tree/docs/limits.md"
}
make_tables() { /usr/bin/python3 "$tree/scripts/bench_table.py" "$@"; }
lacks() { ! grep -q "$1" "$2"; }
check_fails() { # text that the complaint must hold
    local output
    output=$(make_tables --check) && return 1
    [[ $output == *"$1"* ]]
}

pages
expect "a page whose table was typed by hand is found" check_fails "docs/benchmarks.md: a table is not that"
expect "tables are made" make_tables
expect "nothing measured" grep -qx "Not measured yet." "$tree/README.md"
expect "what was typed is gone" lacks "7 ms" "$tree/docs/benchmarks.md"
expect "the rest of a page stays" grep -qx "More." "$tree/README.md"
expect "and stands the check" make_tables --check

# 2 s against 0.5 s in four pairs of five: four times faster, whatever a summary in the file may say.
cat >"$tree/bench/results/compare-x.json" <<'JSON'
{"kind": "compare", "mode": "model", "model": "x.gguf", "canvas": 148, "rows": 32, "threads": 2,
 "cpu_level": "avx2", "machine": {"processor": "P"}, "commit": "c", "times_faster": {"dllm_rows": 99},
 "seconds": {"llama": {"wall": [2, 2, 2, 2, 1]}, "dllm_all_rows": {"wall": [1, 1, 1, 1, 1]},
             "dllm_rows": {"wall": [0.5, 0.5, 0.5, 0.5, 0.5]}}}
JSON
expect "a new result is missed" check_fails "README.md: a table is not that"
expect "tables are made anew" make_tables
expect "the ratio of the pairs" \
    grep -qF '| 2000 ms | 1000 ms, **2.00x** (2.00 to 2.00) | 32: 500 ms, **4.00x** (4.00 to 4.00) |' "$tree/README.md"
expect "the new tables stand the check" make_tables --check
sed -i 's/4\.00x/4.10x/' "$tree/README.md"
expect "a changed number is found" check_fails "README.md: a table is not that"

python() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bench /usr/bin/python3 -c "$1"; }
expect "medians and quartiles" python '
import bench_results as r
assert r.quartiles([4, 1, 3, 2, 5]) == (2, 3, 4)
assert r.median([1, 2]) == 1.5'
expect "when times are kept" python '
import bench_results as r
steady = [1, 1.01, 1.02, 1.03, 1.04]
assert r.complaint("x", steady, 1.9, 2) is None
assert "4 measurements" in r.complaint("x", steady[:4], 1.9, 2)
assert "processors" in r.complaint("x", steady, 1.5, 2)
assert "quartiles" in r.complaint("x", [1, 1, 1.1, 1.2, 1.2], 1.9, 2)'
expect "when a comparison is kept" python '
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("compare", "bench/compare")
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)
def result(cosine=1, dllm=1.0, processor=2.0):
    times = lambda wall: {"wall": wall, "processor": [processor * x for x in wall]}
    return {"lowest_cosine": cosine, "threads": 2, "seconds": {
        "llama": times([4.0] * 5), "dllm_all_rows": times([1.0] * 5),
        "dllm_rows": times([1, 1, 1, dllm, dllm])}}
assert compare.complaints(result()) == []
assert "logits differ" in compare.complaints(result(cosine=0.9))[0]
assert "quartiles" in compare.complaints(result(dllm=1.5))[0]
assert "processors" in compare.complaints(result(processor=1.0))[0]'
expect "types are kept one by one, the others stay, and so do those of other models" python '
import importlib.machinery, importlib.util, tempfile, types
import bench_results as r
loader = importlib.machinery.SourceFileLoader("compare", "bench/compare")
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)
r.RESULTS = tempfile.mkdtemp()
steady = {"F16": 1, "Q5_K": 2}
compare.compare_type = lambda options, name: {"time": steady[name]} if name in steady else None
def of(model, layers=None, canvas=148, level=None):
    return types.SimpleNamespace(model=model, layers=layers, canvas=canvas, cpu_level=level)
assert not compare.compare_types(of("llada"), ["Q5_K", "Q8_0"])
assert compare.compare_types(of("llada"), ["F16"])
for other in (of("dream"), of("llada", layers=4), of("llada", canvas=64), of("llada", level="avx2")):
    assert compare.compare_types(other, ["F16"])
steady["Q5_K"] = 3
assert compare.compare_types(of("llada"), ["Q5_K"])
assert dict(r.read("types"))["types-llada-2-layers-canvas-148"]["results"] == {"F16": {"time": 1}, "Q5_K": {"time": 3}}
assert sorted(name for name, found in r.read("types") if found["results"] == {"F16": {"time": 1}}) == [
    "types-dream-2-layers-canvas-148", "types-llada-2-layers-canvas-148-avx2", "types-llada-2-layers-canvas-64",
    "types-llada-4-layers-canvas-148"]'
expect "a processor's result stands beside that of another" python '
import importlib.machinery, importlib.util, types
import bench_results as r
loader = importlib.machinery.SourceFileLoader("compare", "bench/compare")
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)
r.processor_name = lambda: "AMD (c) EPYC (family 25, model 1)"
def name(beside):
    return compare.name_of(types.SimpleNamespace(device="cpu", canvas=148, cpu_level="avx2", beside=beside), "m/llada-random-Q4_K_M.gguf")
assert name(False) == "compare-llada-Q4_K_M-canvas-148-avx2"
assert name(True) == "compare-llada-Q4_K_M-canvas-148-avx2-family-25-model-1"
r.processor_name = lambda: "another"
assert name(True).endswith("-avx2-unknown")'
expect "what llama.cpp a result names" python '
import importlib.machinery, importlib.util, os, tempfile
loader = importlib.machinery.SourceFileLoader("compare", "bench/compare")
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)
folder = tempfile.mkdtemp() + "/bins/x"
os.makedirs(folder)
def put(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
assert compare.peer_version(folder) == "llama.cpp"
put("../../package.json", """{"name": "p", "version": "3"}""")
put("_nlcBuildMetadata.json", """{"buildOptions": {"llamaCpp": {"release": "v1"}}}""")
assert compare.peer_version(folder) == "llama.cpp v1 of p 3"
put("libggml-cpu-haswell.so", "")
put("libggml-cpu-alderlake.so", "")
put("libggml-cpu-zen4.so", "")
compare.FOLDERS["cpu"], compare.results.ROOT = folder, tempfile.mkdtemp()
for level, library in (("avx2", "libggml-cpu-haswell.so"), ("avxvnni", "libggml-cpu-alderlake.so")):
    held = compare.folder_of_level(level)
    assert compare.peer_version(held) == "llama.cpp v1 of p 3" and held == compare.folder_of_level(level)
    assert sorted(os.listdir(held)) == ["_nlcBuildMetadata.json", library]
put("gpu_code", "90: ptxas of CUDA 13.0\n")
assert compare.peer_version(folder) == "llama.cpp v1 of p 3, code for 90: ptxas of CUDA 13.0"'
expect "parts whose results stand beside those of another processor" python '
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("run", "bench/run")
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)
done = []
def part(name):
    return lambda beside: done.append((name, beside)) or True
for name in run.PARTS:
    setattr(run, "run_" + name, part(name))
run.subprocess.run = lambda *arguments, **more: None
run.results.PEER = "."
def ran(*arguments):
    done.clear()
    sys.argv = ["run", *arguments]
    assert not run.main()
    return list(done)
assert ran("--beside", "avx2") == [("avx2", True)] and ran("moe") == [("moe", False)]
assert ran("--beside") == [(name, True) for name in run.BESIDE]
try:
    ran("--beside", "moe")
except SystemExit as end:
    assert "--beside" in str(end)
else:
    assert False, "a part that has one place was measured beside"'
expect "each part of the loop over panels can be left out, and the size of tiles changed" python '
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("step", "bench/kernel_step")
step = importlib.util.module_from_spec(importlib.util.spec_from_loader("step", loader))
loader.exec_module(step)
loop = open(step.LOOP).read()
assert step.edited(loop, step.EDITS) != loop
assert [step.with_tiles(open(name).read(), 5).count(" 5\n") for name in step.TILES] == [2, 3]
try:
    step.edited("another loop", ["inputs"])
    assert False
except ValueError as error:
    assert "once was expected" in str(error)'
expect "times of the tokenizer are read" python '
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("tokenizer", "bench/tokenizer")
tokenizer = importlib.util.module_from_spec(importlib.util.spec_from_loader("tokenizer", loader))
loader.exec_module(tokenizer)
found = tokenizer.parse("qwen2\nencode 1.00 MB: dllm 1.0 1.1 ms, llama.cpp 20.0 22.0 ms, ratio\n3 texts equal, 0 not\n")
assert found == {"qwen2": {"encode": {"amount": "1.00 MB", "dllm_ms": [1, 1.1], "llama_ms": [20, 22]}}}
assert "2 measurements" in list(tokenizer.complaints(found))[0]'
in_a_repository() { # what git knows of this tree, and of one that is none
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
    local check='import sys; sys.path.insert(0, sys.argv[1]); import bench_results as r; print(r.commit())'
    [ "$(/usr/bin/python3 -B -c "$check" "$tree/bench")" = unknown ] || return 1
    git -C "$tree" init -q && git -C "$tree" add -A && git -C "$tree" commit -qm one || return 1
    local head
    head=$(git -C "$tree" rev-parse --short=12 HEAD)
    echo "{}" >"$tree/bench/results/compare-x.json"
    echo >>"$tree/docs/limits.md"
    [ "$(/usr/bin/python3 -B -c "$check" "$tree/bench")" = "$head" ] || return 1
    echo "# changed" >>"$tree/bench/bench_results.py"
    [ "$(/usr/bin/python3 -B -c "$check" "$tree/bench")" = "$head-dirty" ]
}
command -v git >/dev/null && expect "the commit that a result names" in_a_repository
rows_refused() { [[ $(bench/compare --rows 200 2>&1) == *"--rows is 200; expected 1 to --canvas, 148" ]]; }
expect "more rows than positions" rows_refused

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
