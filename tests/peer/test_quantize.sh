#!/usr/bin/env bash
# Files that dllm quantizes against those of llama.cpp's library, tensor by tensor, and rows of many kinds
# through the encoders of both.
# What would break: a step of a search, a rule of a mix, a rounding, that differ from how files are usually
# made.
# Exit status 77: the peer's package cannot be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${DLLM_SHARED:-../shared}
scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() { # command...
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check "$build/tests/peer/quantize_peer" rows \
    build/peers/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so
for arch in llada dream; do
    source=$shared/data/models/$arch-F32.gguf
    [ -f "$source" ] || continue
    for type in Q8_0 Q6_K Q5_K_M Q4_K_M; do
        check "$build/dllm" quantize "$source" "$scratch/ours.gguf" "$type"
        check "$build/tests/peer/forward_peer" quantize "$source" "$scratch/theirs.gguf" "$type"
        check "$build/tests/peer/quantize_peer" files "$scratch/ours.gguf" "$scratch/theirs.gguf"
    done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
