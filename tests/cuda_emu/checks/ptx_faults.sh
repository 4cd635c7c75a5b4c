#!/usr/bin/env bash
# Each fault planted in what nvcc made of the kernels must make a test fail that passes without it: asm with
# operands in another order, waits and barriers left out, and what the emulator must refuse.
# usage: BUILD=build tests/cuda_emu/checks/ptx_faults.sh     (make check-ptx builds what it needs)
set -u
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# Name; file; what sed changes there; build; test and its words.
faults='
A of mma.k32 in another order    | cuda_probe     | s/(k32[^{]*\{[^}]*\},\{)(%r[0-9]+),(%r[0-9]+)/\1\3,\2/                   | plain | test_ptx mma_s8
B of mma.k32 in another order    | cuda_probe     | s/(k32.*\},\{)(%r[0-9]+),(%r[0-9]+)(\},\{)/\1\3,\2\4/                    | plain | test_ptx mma_s8
C of mma.k32 in another order    | cuda_probe     | s/(k32[^{]*\{)(%r[0-9]+),(%r[0-9]+)/\1\3,\2/                             | plain | test_ptx mma_s8
A of mma.k16 in another order    | cuda_probe     | s/(s32\.s8[^{]*\{[^}]*\},\{)(%r[0-9]+),(%r[0-9]+)\}/\1\3,\2}/            | plain | test_ptx mma_s8_of_depth_16
B of mma.f16 in another order    | cuda_probe     | s/(f16\.f16.*\},\{)(%r[0-9]+),(%r[0-9]+)(\},\{)/\1\3,\2\4/               | plain | test_ptx mma_f16
bf16 taken for f16               | cuda_probe     | s/bf16\.bf16/f16.f16/                                                    | plain | test_ptx mma_bf16
ldmatrix without .trans          | cuda_probe     | s/x4\.trans/x4/                                                          | plain | test_ptx ldmatrix
registers of ldmatrix exchanged  | cuda_probe     | s/(x4\.shared[^{]*\{)(%r[0-9]+),(%r[0-9]+)/\1\3,\2/                      | plain | test_ptx ldmatrix
cp.async clears nothing          | cuda_probe     | s/(cp\.async\.cg[^;]*\],16,)%r[0-9]+/\116/                               | plain | test_ptx cp_async
cp.async of half the bytes       | cuda_probe     | s/(cp\.async\.ca[^;]*\]),8,/\1,4,/                                       | plain | test_ptx cp_async
cp.async waits for too few       | cuda_probe     | s/wait_group 0/wait_group 1/                                             | plain | test_ptx cp_async
cp.async without commit          | cuda_probe     | s/cp\.async\.commit_group;//                                             | plain | test_ptx cp_async
an unknown instruction           | cuda_probe     | s/ex2\.approx\.ftz/lg2.approx.ftz/                                       | plain | test_ptx ex2
no barrier of the block          | cuda_routing   | s/bar\.sync[^;]*;//                                                      | race  | test_routing
no barrier of the warp           | cuda_routing   | s/bar\.warp\.sync[^;]*;//                                                | race  | test_routing
a branch the other way           | cuda_rows      | s/@%p2 bra/@!%p2 bra/                                                    | plain | test_rows
'

# Runs a test on a folder of PTX; its output goes to a file.
run() { # folder build test [word]
    local folder=$1 program=$build/cuda-$2/$3
    shift 3
    EMU_PTX=$folder timeout 120 "$program" "$@" >"$scratch/log" 2>&1 </dev/null
}

check() { # name file edit build test [word]
    local name=$1 file=$2 edit=$3
    shift 3
    rm -rf "$scratch/ptx" && cp -r "$build/ptx-80" "$scratch/ptx"
    sed -E "$edit" "$build/ptx-80/$file.ptx" >"$scratch/ptx/$file.ptx"
    if cmp -s "$build/ptx-80/$file.ptx" "$scratch/ptx/$file.ptx"; then
        echo "not planted: $name"
    elif ! run "$build/ptx-80" "$@"; then
        echo "fails without it as well: $name"
    elif run "$scratch/ptx" "$@"; then
        echo "not found: $name"
    else
        echo "found: $name: $(grep -m 1 -E 'cuda_emu:|^    ' "$scratch/log" | sed 's/^ *//')"
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
}

while IFS='|' read -r name file edit build_of test; do
    [ -n "$name" ] || continue
    # shellcheck disable=SC2086
    check "$name" $file "$edit" $build_of $test
done <<<"$(sed -E 's/ +\| +/|/g' <<<"$faults")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
