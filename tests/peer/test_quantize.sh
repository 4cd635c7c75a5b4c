#!/usr/bin/env bash
# Files that dllm quantizes (experts among them) against those of llama.cpp's library, tensor by tensor, and rows of many kinds
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

# Quantizes the file with both and compares.
same_as_theirs() { # file type
    "$build/dllm" quantize "$1" "$scratch/ours.gguf" "$2" &&
        "$build/tests/peer/forward_peer" quantize "$1" "$scratch/theirs.gguf" "$2" &&
        "$build/tests/peer/quantize_peer" files "$scratch/ours.gguf" "$scratch/theirs.gguf"
}

check "$build/tests/peer/quantize_peer" rows \
    build/peers/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so
for arch in llada dream; do
    source=$shared/data/models/$arch-F32.gguf
    [ -f "$source" ] || continue
    for type in Q8_0 Q6_K Q5_K_M Q4_K_M; do
        check same_as_theirs "$source" "$type"
    done
done

# Experts, in rows of whole super-blocks and of less, enough layers for a mix to choose among.
experts() { # kind, then sizes
    local kind=$1
    shift
    rm -rf "$scratch/folder" "$scratch/folder.gguf"
    /usr/bin/python3 tests/scripts/published_model.py "$kind" "$scratch/folder" "$@" || return 1
    scripts/convert "$scratch/folder" "$scratch/folder.gguf"
}
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    for kind in llada-moe rnd1; do
        for sizes in "hidden=256 ffn=256 heads=8 layers=9 experts=6" "hidden=128 ffn=96 layers=3 experts=3"; do
            # shellcheck disable=SC2086
            check experts "$kind" $sizes
            for type in Q8_0 Q6_K Q5_K_M Q4_K_M; do
                check same_as_theirs "$scratch/folder.gguf" "$type"
            done
        done
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
