#!/usr/bin/env bash
# Times dllm's forward pass against llama.cpp's (compare_llama.c) on a full-size file and keeps the result
# in bench/results/compare-NAME.json.
# usage: bench/compare.sh [MODEL [THREADS [CANVAS [CANDIDATES [ROUNDS]]]]]
#   MODEL  a GGUF file; "llada" (default) and "dream" stand for files of random blocks in those models'
#          shapes, written to build/models once (4.9 and 4.7 GB). Run it while nothing else is running.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
model=${1:-llada}
[ $# -eq 0 ] || shift

scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1
make -s "BUILD=$build" "$build/bench/compare_llama"
case $model in
llada | dream)
    file=build/models/$model-random-Q4_K_M.gguf
    mkdir -p build/models
    [ -f "$file" ] || scripts/make_random_model.py --arch "$model" "$file"
    ;;
*) file=$model ;;
esac

result=bench/results/compare-$(basename "$file" .gguf).json
"$build/bench/compare_llama" "$file" "$@" >"$build/compare.json" || {
    status=$?
    echo "bench/results is unchanged" >&2
    exit $status
}
mkdir -p bench/results
cp "$build/compare.json" "$result"
cat "$result"
