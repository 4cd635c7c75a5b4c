#!/usr/bin/env bash
# What scripts/make_gpu_kit.sh packs must run where nothing but the C and C++ libraries is installed, and say what it
# was built from; scripts/gpu_code_for.py must make what a card takes and move nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
. "tests/support/expect.sh"

# A library of two containers: machine code for 8.6 and PTX that is newer than the toolkit, not packed in the second;
# text around them.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
PATH=$PATH:$(dirname "$nvcc")
make_library() {
    echo '__global__ void kernel(float *x) { x[threadIdx.x] += 1; }' >"$tree/code.cu"
    nvcc -arch=compute_80 -ptx "$tree/code.cu" -o "$tree/code.ptx" && nvcc -arch=sm_86 -cubin "$tree/code.cu" -o "$tree/code.cubin" &&
        sed -i 's/^\.version .*/.version 99.0/' "$tree/code.ptx" || return 1
    printf 'begin...' >"$tree/library"
    local packing
    for packing in --compress-all --compress=false; do
        fatbinary --64 $packing --create="$tree/container" --image3=kind=elf,sm=86,file="$tree/code.cubin" \
            --image3=kind=ptx,sm=80,file="$tree/code.ptx" || return 1
        cat "$tree/container" >>"$tree/library"
        printf end..... >>"$tree/library"
    done
}
make_copy() { scripts/gpu_code_for.py "$tree/library" "$tree/copy" "$1" "$tree/cache"; }
# Capability, and a file with the code where it must not change: each container has that alone, all else is as it was.
copy_is() {
    make_copy "$1" && /usr/bin/python3 -B - "$tree" "$@" <<'PYTHON'
import sys
sys.path.insert(0, "scripts")
import gpu_code_for as code
tree, arch, *same = sys.argv[1:]
old, new = (open("%s/%s" % (tree, name), "rb").read() for name in ("library", "copy"))
assert len(old) == len(new) and new.startswith(b"begin...") and new.count(b"end.....") == 2
places, outside = list(code.containers(new)), 0
assert [place[0] for place in places] == [place[0] for place in code.containers(old)] and len(places) == 2
for place in places:
    (key, (head, packed)), = code.entries(new, *place[1:]).items()
    assert key == (code.MACHINE_CODE, int(arch)), key
    cubin = code.unpacked(head, packed)
    assert cubin.startswith(b"\x7fELF") and b"_Z6kernelPf" in cubin
    assert not same or cubin == open(same[0], "rb").read()
for start, _, end in code.containers(old):
    assert new[outside:start] == old[outside:start]
    outside = end
PYTHON
}
too_old() { [[ $(make_copy 75 2>&1) == *"no code for a compute capability of 7.5"* ]]; }
if command -v fatbinary >/dev/null && command -v zstd >/dev/null; then
    expect "a library with GPU code" make_library
    expect "machine code of the card's own is kept" copy_is 86 "$tree/code.cubin"
    expect "else PTX becomes machine code" copy_is 90
    expect "also from the cache" copy_is 90
    expect "a card that takes none of it" too_old
fi

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
