#!/usr/bin/env bash
# Runs the main paths of dllm under valgrind: no invalid access, nothing lost.
# usage: scripts/valgrind.sh
# environment: BUILD (build). CPU level avx2: valgrind does not know AVX-512.
set -u
cd "$(dirname "$0")/.." || exit 1
dllm=$(realpath "${BUILD:-build}/dllm")
models=$PWD/tests/fuzz/corpus/model
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
echo '{"prompt": "a"}' >in.jsonl
bad=0
check() { # arguments...
    if valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$dllm" "$@" \
        >out 2>log <<<"hi"; then
        echo "clean: dllm $*"
    else
        echo "FAILED: dllm $*"
        tail -n 20 log
        bad=1
    fi
}
for model in llada dream llada-moe rnd1; do
    check run -m "$models/$model" --no-chat --prompt a -n 4 -t 2 --cpu-level avx2
done
check run -m "$models/llada" --no-chat --prompt a -n 4 -t 1 --cpu-level ref --json --trace t.jsonl
check run --input in.jsonl -o out.jsonl -n 4 -t 2 --cpu-level avx2
check chat -n 4 --cpu-level avx2
check score --prompt a --answer b --samples 2 --cpu-level avx2
check logits -m "$models/llada" --tokens 1,2,3 --cpu-level avx2 -o x.npy
check tokenize hi
check inspect --json "$models/dream"
check quantize "$models/llada" q.gguf Q8_0
check trace t.jsonl -o t.html
exit $bad
