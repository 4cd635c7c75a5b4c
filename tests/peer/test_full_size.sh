#!/usr/bin/env bash
# A file of a model's real size (random blocks; LLaDA-8B: 4.9 GB, LLaDA-MoE: 4.5 GB): inspect, logits and run work on it, and memory in
# use stays within 1.08 of the file. What would break: a size that overflows 32 bits, a copy of the weights.
# usage: tests/peer/test_full_size.sh [llada|dream|llada-moe]
# Exit status 77: not enough disk or memory for it.
set -u
cd "$(dirname "$0")/../.." || exit 1
dllm=${BUILD:-build}/dllm
arch=${1:-llada}
passed=0 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
free_kb=$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')
memory_kb=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
[ "$free_kb" -gt 7000000 ] && [ "$memory_kb" -gt 7000000 ] || {
    echo "needs 7 GB of disk and of memory: $((free_kb / 1000000)) and $((memory_kb / 1000000)) are free"
    exit 77
}

check() { # what command...
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
    fi
}

model=$scratch/model.gguf
check "the file is written" scripts/make_random_model.py "$model" --arch "$arch"
"$dllm" inspect "$model" >"$scratch/inspect" || true
check "inspect lists every tensor" grep -qE '^contents: +[0-9]+ keys, (291|339|195) tensors' "$scratch/inspect"
"$dllm" logits -m "$model" --tokens 3,5,17,300,99 --rows 0,4 --out "$scratch/logits.npy" || true
check "logits are finite and not all alike" /usr/bin/python3 - "$scratch/logits.npy" <<'PYTHON'
import sys
import numpy
logits = numpy.load(sys.argv[1])
print("logits", logits.shape, "deviation %.2f" % logits.std())
sys.exit(not (len(logits) == 2 and numpy.isfinite(logits).all() and 0.5 < logits.std() < 10))
PYTHON
"$dllm" run -m "$model" -n 128 --steps 1 --block-length 128 --temperature 0 --json "the thing" >"$scratch/run.json" || true
check "a step stays within the memory bound" /usr/bin/python3 - "$scratch/run.json" "$model" <<'PYTHON'
import json
import os
import sys
result = json.load(open(sys.argv[1]))
share = result["peak_rss_bytes"] / os.path.getsize(sys.argv[2])
print("peak memory %.3f of the file, loaded in %.2f s, %.2f s for a step of %d tokens" %
      (share, result["load_s"], result["generate_s"], len(result["generated_ids"])))
sys.exit(not (share <= 1.08 and len(result["generated_ids"]) == 128))
PYTHON
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
