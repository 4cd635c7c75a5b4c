#!/usr/bin/env bash
# Logits of dllm against llama.cpp's own forward on files that exist nowhere else: types that llama.cpp
# makes from the small F32 models, and the full-size shapes with few layers.
# What would break: a block decoder, tensor shape or head geometry that the small models do not reach. Also that
# prompts which share a pass of llama.cpp do not see each other, as bench/compare --prompts takes for granted.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
shared=${DLLM_SHARED:-../shared}
tool=$build/tests/peer/forward_peer
scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() { # arguments of the tool
    if "$tool" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

make_file() { # command...
    "$@" || failed=$((failed + 1))
}

for arch in llada dream; do
    source=$shared/data/models/$arch-F32.gguf
    [ -f "$source" ] || continue
    for type in F16 BF16 Q6_K Q5_K_M; do
        file=$scratch/$arch-$type.gguf
        make_file "$tool" quantize "$source" "$file" "$type"
        # llama.cpp rounds activations to the weights' type there, so only F32 meets the float bound.
        check compare quantized "$file"
    done
    check compare float "$source"
    # Not of quantized weights: llama.cpp's kernels depend on the number of rows, and a sum in another order
    # rounds an activation the other way (AVX512: a cosine of 0.99992 for llada-Q4_K_M with nothing wrong).
    check prompts "$source"
done

# The mix that only models with experts are published in: these in MXFP4, all else in Q8_0.
make_file tests/scripts/published_model.py llada-moe "$scratch/experts"
make_file scripts/convert "$scratch/experts" "$scratch/experts.gguf" --type F32
make_file "$tool" quantize "$scratch/experts.gguf" "$scratch/experts-MXFP4.gguf" MXFP4_MOE
check compare quantized "$scratch/experts-MXFP4.gguf"

# The peer's GPU: a build that has none, and one whose libraries are not all there.
says_why() { # folder, what it must say
    local said
    said=$(LLAMA_PEER_DIR=$1 "$tool" gpu tests/data/models/llada-Q4_K_M.gguf)
    if [ $? = 1 ] && [[ $said == *"$2"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: \"$2\" is not in: $said"
    fi
}
peer=$PWD/build/peers/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
says_why "$peer" "since this file of a build with CUDA is not there: $peer/libggml-cuda.so"
mkdir "$scratch/broken"
cp "$peer"/*.so "$scratch/broken"
make_file gcc -shared -o "$scratch/libnowhere.so.1" -Wl,-soname,libnowhere.so.1 -x c /dev/null
make_file gcc -shared -o "$scratch/broken/libggml-cuda.so" -x c /dev/null -Wl,--no-as-needed -x none "$scratch/libnowhere.so.1"
says_why "$scratch/broken" "libnowhere.so.1: cannot open shared object file"

# A layer of each real shape: about 0.8 GB a file.
free_kb=$(df -Pk "$scratch" | awk 'NR == 2 { print $4 }')
if [ "$free_kb" -gt 3000000 ]; then
    for arch in llada dream; do
        file=$scratch/$arch-wide.gguf
        make_file scripts/make_random_model.py "$file" --arch "$arch" --layers 1
        check compare quantized "$file"
        rm -f "$file"
    done
else
    echo "full-size shapes left out: less than 3 GB free in $scratch"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
