#!/usr/bin/env bash
# The checks must find what they look for: plants one violation of each kind in a small tree and expects
# the check to fail and to name it, and expects silence on the clean tree.
set -u
cd "$(dirname "$0")/../.." || exit 1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

# A minimal tree that breaks no rule.
fresh() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{include,src/base,src/format,src/text,src/model,src/backend,src/cli,kernels/{cpu,cuda},build/obj/src,build/obj/kernels}
    printf '/* dllm.h: public. */\n\n/* One. */\nint dllm_one(void);\n' >"$tree/include/dllm.h"
    printf '/* status.h: errors. */\n#include "dllm.h"\n' >"$tree/src/base/status.h"
    printf '/* gguf.h: reader. */\n#include "status.h"\n' >"$tree/src/format/gguf.h"
    printf '/* model.c: model. */\n#include "gguf.h"\n' >"$tree/src/model/model.c"
}

result() { # name ok|bad detail
    if [ "$2" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1: $3"
    fi
}

expect_clean() { # name command...
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then result "$name" ok; else result "$name" bad "$output"; fi
}

expect_caught() { # name text command...
    local name=$1 text=$2 output
    shift 2
    if output=$("$@" 2>&1); then
        result "$name" bad "not noticed: $output"
    elif [[ $output != *"$text"* ]]; then
        result "$name" bad "expected \"$text\" in: $output"
    else
        result "$name" ok
    fi
}

plant() { # file text: appends a line
    printf '%b\n' "$2" >>"$tree/$1"
}

layers=(scripts/check_layers.sh "$tree")
fresh
expect_clean "layers, clean tree" "${layers[@]}"
plant src/base/status.h '#include "gguf.h"'
expect_caught "base includes format" "src/base may not include src/format/gguf.h" "${layers[@]}"
fresh
plant src/cli/main.c '#include "status.h"'
expect_caught "cli includes an internal header" "src/cli may not include src/base/status.h" "${layers[@]}"
fresh
plant src/text/bpe.c '#include "gguf.h"'
expect_caught "text includes format" "src/text may not include src/format/gguf.h" "${layers[@]}"
fresh
plant kernels/cpu/k.c '#include "gguf.h"'
expect_caught "a kernel includes the reader" "kernels/cpu may not include src/format/gguf.h" "${layers[@]}"
fresh
plant src/model/json.c '#include <jansson.h>'
expect_caught "a foreign library" "only src/cli src/hub may include <jansson.h>" "${layers[@]}"
fresh
mkdir "$tree/src/attic"
plant src/attic/a.c '#include "dllm.h"'
expect_caught "a room that is not in the table" "no room of the house" "${layers[@]}"
fresh
plant src/model/gone.c '#include "gone.h"'
expect_caught "a header that is not there" "no header gone.h" "${layers[@]}"

fresh
plant kernels/cuda/k.cu '#include "gguf.h"'
expect_caught "a GPU kernel includes the reader" "kernels/cuda may not include src/format/gguf.h" "${layers[@]}"
fresh
plant kernels/cuda/k.cuh '#include "cuda_emu.h"'
expect_caught "a GPU kernel includes the emulator" "no header cuda_emu.h" "${layers[@]}"
fresh
plant kernels/cuda/k.cu '#include <cuda_runtime.h>'
expect_caught "a GPU kernel includes CUDA itself" "only kernels/cuda/gpu.cuh may include <cuda_runtime.h>" "${layers[@]}"
fresh
plant src/model/card.c '#include <cuda_runtime_api.h>'
expect_caught "the model includes CUDA" "only src/backend may include <cuda_runtime_api.h>" "${layers[@]}"
fresh
plant kernels/cuda/gpu.cuh '#include <cuda_runtime.h>\n#include "cuda_emu.h"'
plant src/backend/gpu_rows.c '#include <cuda_runtime_api.h>'
expect_clean "CUDA where it belongs" "${layers[@]}"

style=(scripts/check_style.sh "$tree")
fresh
expect_clean "style, clean tree" "${style[@]}"
plant kernels/cuda/k.cu "/* k.cu: a kernel. */\nstatic void f(void)\n{\n$(printf ';\\n%.0s' {1..150})}"
expect_clean "a GPU kernel of 150 lines" "${style[@]}"
plant kernels/cuda/k.cu "static void g(void)\n{\n$(printf ';\\n%.0s' {1..151})}"
expect_caught "a GPU kernel of 151 lines" "functions over 80 lines" "${style[@]}"
fresh
plant kernels/cuda/k.cu '/* k.cu: a kernel. */\n\tint x;'
expect_caught "a tab in a GPU kernel" "kernels/cuda/k.cu:2" "${style[@]}"
fresh
plant kernels/cuda/k.cuh "/* k.cuh: $(printf 'x%.0s' {1..100}) */"
expect_caught "a long line in a GPU kernel" "over 100 columns" "${style[@]}"
fresh
plant kernels/cuda/k.cuh 'int x;'
expect_caught "a GPU kernel without its purpose" "kernels/cuda/k.cuh" "${style[@]}"
fresh
plant kernels/cuda/k.cu '/* k.cu: a kernel. */\nasm volatile("bar.sync 0;");'
expect_caught "PTX outside its file" "asm outside ptx.cuh" "${style[@]}"
fresh
plant kernels/cuda/ptx.cuh '/* ptx.cuh: PTX. */\nasm volatile("bar.sync 0;");'
expect_clean "PTX in its file" "${style[@]}"
plant kernels/cuda/k.cu '/* k.cu: a kernel. */\nk<<<1, 32>>>();'
expect_caught "a launch that the emulator cannot read" "<<<>>>" "${style[@]}"
fresh
plant src/model/model.c "// $(printf 'x%.0s' {1..100})"
expect_caught "a long line" "over 100 columns" "${style[@]}"
fresh
plant src/model/model.c '\tint x;'
expect_caught "a tab" "tabs" "${style[@]}"
fresh
plant src/model/model.c "int f(void)\n{\n$(printf ';\\n%.0s' {1..81})}"
expect_caught "a long function" "functions over 80 lines" "${style[@]}"
fresh
plant src/model/model.c "$(printf '\\n%.0s' {1..800})"
expect_caught "a long file" "files over 800 lines" "${style[@]}"
fresh
plant src/format/gguf.h '\nint gguf_open(const char *path,\n              int flags);'
expect_caught "a prototype without a comment" "gguf_open" "${style[@]}"
fresh
plant src/model/bare.c 'int x;'
expect_caught "a file without its purpose" "src/model/bare.c" "${style[@]}"

compile() { # object flags, source on stdin
    local object=$1
    shift
    ${CC:-cc} -O2 "$@" -x c - -c -o "$tree/build/obj/$object"
}

archive() { # source on stdin
    compile src/a.o
    rm -f "$tree/a.a"
    ar rcs "$tree/a.a" "$tree/build/obj/src/a.o"
}

fresh
echo 'int dllm_one(void) { return 1; }' | archive
expect_clean "symbols, clean archive" scripts/check_symbols.sh "$tree/a.a"
echo 'int dllm_one(void) { return 1; } int helper(void) { return 2; }' | archive
expect_caught "a symbol that is not public" "defines helper" scripts/check_symbols.sh "$tree/a.a"
echo '#include <stdlib.h>
void dllm_one(void) { exit(1); }' | archive
expect_caught "a call of exit" "calls exit" scripts/check_symbols.sh "$tree/a.a"
echo '#include <stdio.h>
void dllm_one(int x) { fprintf(stderr, "%d", x); }' | archive
expect_caught "a print" "calls fprintf" scripts/check_symbols.sh "$tree/a.a"

sum='float s(const float *x) { float a[16] = {0}; for (int i = 0; i < 640; i++) a[i % 16] += x[i];
float t = 0; for (int i = 0; i < 16; i++) t += a[i]; return t; }'
isa=(scripts/check_isa.sh "$tree/build/obj")
fresh
echo "$sum" | compile src/plain.o
echo "$sum" | compile kernels/sum_avx2.o -mavx2
echo "$sum" | compile kernels/sum_avx512vnni.o -mavx512f -O3
expect_clean "instruction sets, clean objects" "${isa[@]}"
echo "$sum" | compile src/leak.o -mavx2
expect_caught "AVX in a plain object" "leak.o has AVX code" "${isa[@]}"
rm "$tree/build/obj/src/leak.o"
echo '__attribute__((target("bmi2"))) unsigned f(unsigned a, unsigned b) { return __builtin_ia32_pext_si(a, b); }' |
    compile src/bits.o
expect_caught "BMI2 in a plain object" "bits.o has AVX code" "${isa[@]}"
rm "$tree/build/obj/src/bits.o"
echo '#include <immintrin.h>
void f(float *x) { _mm512_storeu_ps(x, _mm512_add_ps(_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16))); }' |
    compile kernels/wide_avx2.o -mavx512f
expect_caught "AVX-512 in an AVX2 object" "wide_avx2.o has AVX-512 or VNNI code" "${isa[@]}"
mv "$tree/build/obj/kernels/wide_avx2.o" "$tree/build/obj/kernels/wide_avxvnni.o"
expect_caught "AVX-512 in an AVX-VNNI object" "wide_avxvnni.o has AVX-512 code" "${isa[@]}"
rm "$tree/build/obj/kernels/wide_avxvnni.o"
echo '#include <immintrin.h>
__m256 f(__m256 a, __m256 b, __m256 c) { return _mm256_fmaddsub_ps(a, b, c); }' >"$tree/joined.c"
for level in avx2 avxvnni avx512vnni; do
    compile kernels/joined_$level.o -mavx2 -mfma <"$tree/joined.c"
    expect_caught "a product and a sum joined, $level" "products joined with sums" "${isa[@]}"
    rm "$tree/build/obj/kernels/joined_$level.o"
done
# gcc 12 joined them here at -O3, in spite of -ffp-contract=off.
gcc -std=c11 -O3 -ffp-contract=off -mavx2 -mfma -mf16c -Isrc/base -Isrc/format -Iinclude -Ikernels/cpu \
    -c kernels/cpu/rows_avx2.c -o "$tree/build/obj/kernels/rows_avx2.o"
expect_clean "gcc -O3 joins nothing in the kernels of a row" "${isa[@]}"

# Documentation: a tree of its own, with a program that does nothing.
documented() {
    fresh
    mkdir -p "$tree"/{bench/results,docs,scripts}
    cp scripts/check_docs.sh scripts/bench_table.py "$tree/scripts/"
    cp bench/bench_results.py "$tree/bench/"
    cp "$(type -P true)" "$tree/build/dllm"
    touch "$tree"/{CONTRIBUTING.md,NEWS.md,bench/results/README.md}
    plant README.md '# One\n\nSee [two](docs/two.md), [its end](docs/two.md#the-end-of-two), [this](#one).'
    plant docs/two.md '# Two\n\n```sh test\nbuild/dllm run\n```\n\n## The end, of `Two`\n\n[One](../README.md)'
}
docs=(env BUILD=build "$tree/scripts/check_docs.sh")
documented
expect_clean "documentation, clean tree" "${docs[@]}"
plant docs/two.md '[three](three.md)'
expect_caught "a link to nothing" "docs/two.md: link to docs/three.md, which is not there" "${docs[@]}"
documented
plant docs/two.md '[one](../README.md#two)'
expect_caught "a link to no heading" "the heading #two, which docs/../README.md does not have" "${docs[@]}"
documented
plant docs/two.md '```sh test\ntrue\nfalse\ntrue\n```'
expect_caught "a command that fails" "docs/two.md, commands at 11" "${docs[@]}"
documented
plant docs/two.md '<!-- table batch: begin -->\n7 s\n<!-- table batch: end -->'
expect_caught "a number typed by hand" "docs/two.md: a table is not that" "${docs[@]}"

# Flags given to make cannot loosen the floats.
expect_clean "given flags come before the needed ones" bash -c \
    'make -n -B CFLAGS=-O3 build/obj/kernels/cpu/rows_ref.o | grep -q -- "-O3 -std=c11 .*-ffp-contract=off"'
expect_caught "fast-math is refused" "ffast-math changes results" \
    cc -ffast-math -Iinclude -Isrc/base -fsyntax-only src/base/status.c

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
