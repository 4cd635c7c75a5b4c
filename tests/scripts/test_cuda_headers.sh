#!/usr/bin/env bash
# The kernels, their tests and the host's side of a GPU must compile without the CUDA toolkit, against the
# headers that stand in for it, and the emulator must work with these.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v g++ >/dev/null || { echo "no g++"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export scratch
flags=$(make -s --no-print-directory CUDA=0 CUDA_HEADERS=tests/cuda_emu/nocuda cuda-flags)
export flags
passed=0 failed=0

# Everything in a process each: source object-or-nothing.
compile() {
    local language=()
    [[ $1 != *.cu ]] || language=(-x c++)
    if [ -n "${2:-}" ]; then
        # shellcheck disable=SC2086
        g++ $flags "${language[@]}" -c "$1" -o "$scratch/$2"
    else
        # shellcheck disable=SC2086
        g++ $flags "${language[@]}" -fsyntax-only "$1"
    fi >"$scratch/$(basename "$1").log" 2>&1 || {
        echo "FAILED $1"
        head -n 20 "$scratch/$(basename "$1").log"
    }
}
export -f compile

{
    for source in kernels/cuda/*.cu tests/cuda/test_*.cpp; do echo "$source"; done
    for source in tests/cuda_emu/*.cpp tests/cuda_emu/checks/probe_kernels.cu kernels/cuda/cuda_probe.cu \
        tests/cuda/device_test.cpp tests/cuda/test_ptx.cpp tests/cuda_emu/checks/test_{floats,runtime}.cpp; do
        case $source in
        */race_*) ;;
        *) echo "$source $(basename "${source%.*}").o" ;;
        esac
    done
} >"$scratch/list"
problems=$(xargs -P "$(nproc)" -L 1 bash -c 'compile "$@"' compile <"$scratch/list")
if [ -z "$problems" ]; then passed=1; else failed=1; fi
[ -z "$problems" ] || echo "$problems"

for source in src/backend/backend_cuda.c src/backend/gpu_*.c; do
    gcc -std=c11 -fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Isrc/base -Isrc/format \
        -Isrc/backend -Ikernels/cpu -Ikernels/cuda -isystem tests/cuda_emu/nocuda "$source" || failed=$((failed + 1))
done

if [ "$failed" = 0 ]; then
    (cd "$scratch" && g++ -no-pie -pthread ./*.o -o all) || failed=1
    "$scratch/all" >"$scratch/all.log" 2>&1 || { failed=1; tail -n 20 "$scratch/all.log"; }
    passed=$((passed + $(awk '/^[0-9]+ passed/ { print $1 }' "$scratch/all.log")))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
