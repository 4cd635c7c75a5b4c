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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
worse=0
if [ ${#models[@]} -gt 0 ]; then
    "$build/tests/peer/types_peer" "$scratch" "${models[@]}" || worse=1
fi
"$build/tests/peer/types_peer" "$scratch" models/demo.gguf || worse=1

# The script that counts answers per type: every type can be made, and a fine one answers as F32 does.
. "tests/support/expect.sh"
counted() {
    BUILD=$build bench/types_accuracy --every 100 --types Q8_0,Q4_K_M,IQ2_XXS | tee "$scratch/counted" &&
        grep -qE '^F32 +[5-7] of 7 right' "$scratch/counted" && grep -qE '^Q8_0 +[5-7] of 7 right' "$scratch/counted"
}
expect "answers per type are counted" counted
echo "$passed passed, $failed failed"
exit $((worse || failed > 0))
