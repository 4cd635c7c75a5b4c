#!/usr/bin/env bash
# What scripts/make_gpu_kit.sh packs must run where nothing but the C and C++ libraries is installed, and say what it
# was built from; scripts/keep_gpu_code.py must keep what a card takes and move nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
. "tests/support/expect.sh"

# A library of two containers: machine code for 8.6, PTX of 7.5, 8.0 and 9.0 in each, text around them.
/usr/bin/python3 -B - "$tree/library" <<'PYTHON'
import struct
import sys
codes = [(2, 86, b"M86"), (1, 75, b"P75"), (1, 80, b"P80"), (1, 90, b"P90")]
entries = b"".join(struct.pack("<HHIQIIHHI", kind, 0, 64, 3 * 8, 0, 0, 0, 0, arch).ljust(64, b"\1") + 8 * text
                   for kind, arch, text in codes)
container = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries
open(sys.argv[1], "wb").write(b"begin " + container + b" middle " + container + b" end")
PYTHON
codes_kept() { # capability: the texts that are left, once each
    scripts/keep_gpu_code.py "$tree/library" "$tree/copy" "$1" >/dev/null &&
        grep -aoE 'M86|P[0-9]{2}|begin|middle|end' "$tree/copy" | uniq | tr '\n' ' '
}
keeps() { [ "$(codes_kept "$1")" = "begin $2 middle $2 end " ]; }
expect "machine code of the card's own" keeps 86 M86
expect "else the newest PTX that it takes" keeps 89 P80
expect "also of the newest cards" keeps 120 P90
expect "nothing moves" test "$(stat -c %s "$tree/copy")" = "$(stat -c %s "$tree/library")"
too_old() { [[ $(scripts/keep_gpu_code.py "$tree/library" "$tree/copy" 70 2>&1) == *"no code for a compute capability of 7.0"* ]]; }
expect "a card that takes none of it" too_old

# Needs a build with CUDA.
unpack() {
    cp -r --parents bench scripts tests/gpu tests/data models "$tree/there" &&
        tar -C "$tree/there" -xf "$build/gpu-kit.tar.xz"
}
others_needed() { # libraries that a program would load and a bare system may lack
    find "$tree/there/build" -type f -perm -u+x ! -name '*.so*' -exec ldd {} + | awk '
        NF > 1 && $1 !~ /^(linux-vdso|libc|libm|libstdc\+\+|libgcc_s)\.so/ && $1 !~ /ld-linux/ && $3 !~ /\/there\/build\// { print }'
}
doctor_runs() { "$tree/there/build/dllm" doctor | grep '^GPU'; }
says_its_commit() {
    [ "$(cd "$tree/there" && GIT_DIR=$tree/none /usr/bin/python3 -B -c 'import sys
sys.path.insert(0, "bench")
import bench_results
print(bench_results.commit())')" = c9 ]
}
if [ -x "$build/tests/gpu/test_gpu_models" ] && command -v xz >/dev/null; then
    mkdir "$tree/there"
    expect "the kit is packed" env DLLM_COMMIT=c9 scripts/make_gpu_kit.sh
    expect "and unpacked in a copy of the tree" unpack
    expect "its programs need nothing else" test -z "$(others_needed)"
    expect "all eight of them" test "$(find "$tree/there/build" -type f -perm -u+x ! -name '*.so*' | wc -l)" = 8
    expect "dllm runs there" doctor_runs
    expect "it knows its commit" says_its_commit
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
