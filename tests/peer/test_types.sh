#!/usr/bin/env bash
# The divergence of each block type from its expansion to F32, beside llama.cpp's.
# What would break: a block decoder on real weights; inputs that are rounded more coarsely than llama.cpp's.
# Exit status 77: the peer's package cannot be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${DLLM_SHARED:-../shared}
scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
models=()
for name in "$shared"/data/models/{llada,dream}-F32.gguf; do
    [ -f "$name" ] && models+=("$name")
done
[ ${#models[@]} -gt 0 ] || models=(models/demo.gguf)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build/tests/peer/types_peer" "$scratch" "${models[@]}"
