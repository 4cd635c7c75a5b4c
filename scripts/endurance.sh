#!/usr/bin/env bash
# Long work: a canvas of 4,096 positions, and a batch of many requests whose memory must not grow.
# usage: scripts/endurance.sh [-n REQUESTS] [-c CANVAS] [-s STEPS]   (10000, 4096, 16)
# environment: BUILD (build), MODEL of the canvas (tests/data/models/llada-Q4_K_M.gguf)
# Prints what it measured; exit status 1 when an answer is missing or memory grew by more than what is kept of each
# request: its id, of which each may come once.
set -eu
cd "$(dirname "$0")/.."
requests=10000 canvas=4096 steps=16
while getopts n:c:s: option; do
    case $option in
    n) requests=$OPTARG ;;
    c) canvas=$OPTARG ;;
    s) steps=$OPTARG ;;
    *) exit 2 ;;
    esac
done
dllm=$(realpath "${BUILD:-build}/dllm")
model=${MODEL:-tests/data/models/llada-Q4_K_M.gguf}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- a long canvas ---
length=$((canvas - 64))
"$dllm" run -m "$model" --allow-long --no-early-stop --prompt-tokens "$(seq -s, 10 73)" -n $length --steps "$steps" \
    --block-length $length --json >"$work/long.json"
python3 - "$work/long.json" "$length" <<'END'
import json
import sys
run = json.load(open(sys.argv[1]))
assert len(run["generated_ids"]) == int(sys.argv[2]), "ids are missing"
positions = run["prompt_tokens"] + len(run["generated_ids"])
print(f"canvas of {positions} positions: {len(run['step_ms'])} steps, {run['ms_per_step']:.0f} ms each, workspace "
      f"{run['workspace_bytes'] / 2**20:.1f} MiB, peak memory {run['peak_rss_bytes'] / 2**20:.1f} MiB")
END

# --- many requests ---
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; } # KiB
answered() { wc -l <"$work/answers.jsonl"; }
wait_for() { # answers
    until [ "$(answered)" -ge "$1" ]; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
}
for i in $(seq 1 "$requests"); do
    echo "{\"prompt\": \"What is $((i % 97)) + $((i % 89))?\", \"max_tokens\": $((4 + i % 13)), \"steps\": 2}"
done >"$work/requests.jsonl"
: >"$work/answers.jsonl"
mkfifo "$work/feed"
"$dllm" run --input "$work/feed" -o "$work/answers.jsonl" -t 2 2>"$work/log" &
pid=$!
exec 9>"$work/feed"
early=$((requests / 5))
head -n $early "$work/requests.jsonl" >&9
wait_for $early
before=$(resident $pid)
tail -n +$((early + 1)) "$work/requests.jsonl" >&9
wait_for "$requests"
after=$(resident $pid)
exec 9>&-
wait $pid
[ "$(answered)" = "$requests" ] || {
    echo "error: $(answered) answers to $requests requests"
    exit 1
}
! grep -q '"error"' "$work/answers.jsonl" || {
    echo "error: $(grep -c '"error"' "$work/answers.jsonl") requests failed"
    exit 1
}
echo "$requests requests: $((before)) KiB resident after $early, $((after)) KiB at the end; $(tail -n 1 "$work/log")"
# 256 bytes of each request, and what the allocator may hold on to.
allowed=$(((requests - early) / 4 + 512))
[ $((after - before)) -le $allowed ] || {
    echo "error: memory grew by $((after - before)) KiB, more than $allowed"
    exit 1
}
