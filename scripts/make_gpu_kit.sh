#!/usr/bin/env bash
# Packs what bench/gpu runs, for a machine with a card that cannot build dllm: $BUILD/gpu-kit.tar.xz, to be unpacked in
# a copy of this tree. The programs need only the C and C++ libraries of glibc 2.34 or newer (Ubuntu 22.04, Debian 12).
# usage: scripts/make_gpu_kit.sh [ARCH]
#   ARCH  also packs llama.cpp's CUDA build, with machine code for this compute capability alone (90 for 9.0), into
#         $BUILD/gpu-kit-llama-ARCH.tar.xz; scripts/install_peers.sh brings it from npm first. Compiling takes a quarter
#         of an hour the first time
# environment: BUILD (build), where make all tools cuda-tests has been
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
package=node_modules/@node-llama-cpp/linux-x64-cuda
folder=bins/linux-x64-cuda
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

pack() { # folder in the tree, file; the programs have much in common, so the dictionary holds all of them
    tar -C "$tree" -c --owner=0 --group=0 "$1" | xz -T0 --lzma2=preset=3,dict=128MiB >"$2"
    echo "$2"
}

mkdir -p "$tree/build/bench" "$tree/build/tests/gpu" "$tree/build/lib"
for program in dllm bench/compare_llama bench/gpu_parity tests/test_gpu tests/gpu/test_gpu_{answers,backend,forward,models}; do
    [ -x "$build/$program" ] || {
        echo "error: $build/$program is not there: make all tools cuda-tests comes first, with CUDA" >&2
        exit 1
    }
    strip -o "$tree/build/$program" "$build/$program"
done
cmocka=$(ldd "$build/tests/gpu/test_gpu_models" | awk '$1 ~ /^libcmocka/ { print $3 }')
cp -L "$cmocka" "$tree/build/lib/"
/usr/bin/python3 -B -c 'import sys; sys.path.insert(0, "bench"); import bench_results; print(bench_results.commit())' >"$tree/build/commit"
pack build "$build/gpu-kit.tar.xz"

[ $# -gt 0 ] || exit 0
scripts/install_peers.sh "${package#node_modules/}@3.22.1"
to=$tree/llama/build/peers/$package
mkdir -p "$to/$folder"
cp "build/peers/$package/package.json" "$to/"
nvcc --version | sed -n "s/^Cuda compilation.* release \([0-9.]*\),.*/$1: ptxas of CUDA \1/p" >"$to/$folder/gpu_code"
cp "build/peers/$package/$folder"/{_nlcBuildMetadata.json,libggml-base.so,libggml.*.so,libllama.*.so} "$to/$folder/"
# All layers are on the card: these are libraries enough for the rest.
cp "build/peers/$package/$folder"/libggml-cpu-{x64,haswell,skylakex}.so "$to/$folder/"
scripts/gpu_code_for.py "build/peers/$package/$folder/libggml-cuda.so" "$to/$folder/libggml-cuda.so" "$1" "$build/gpu-code"
tree=$tree/llama pack build "$build/gpu-kit-llama-$1.tar.xz"
