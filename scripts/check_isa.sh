#!/usr/bin/env bash
# Checks that wide instructions stay in the files compiled for them, so that the binary runs on any
# x86-64: no VEX or EVEX code outside *_avx2, *_avxvnni and *_avx512vnni objects, nothing of AVX-512 in
# the first two, and no AVX-VNNI in *_avx2. And that no compiler has joined a product and a sum by itself
# in a way of which none of the kernels makes use (vfmaddsub), which would change results.
# usage: scripts/check_isa.sh [OBJECT FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-${BUILD:-build}/obj}
[ -d "$folder" ] || {
    echo "error: $folder is missing; run make first" >&2
    exit 1
}

# Matched against lines of "address:<tab>mnemonic operands". BMI's instructions are VEX too.
vex='\t([{]vex[}] )?v[a-z0-9]+ |%[yz]mm|%k[0-7]'
vex+='|\t(andn|bextr|blsi|blsmsk|blsr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx)[lq]? '
avx512='%zmm|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])'
vnni='vpdp[bw][us]'
joined='\tvfm(addsub|subadd)'

# Prints the first instructions of an object that match (and are no privileged verr/verw).
offending() { # object pattern
    objdump -d --no-show-raw-insn -- "$1" | grep -P -- "$2" | grep -vP '\tver[rw] ' | head -n 3 || true
}

bad=0 objects=0
while read -r object; do
    objects=$((objects + 1))
    case $object in
    *_avx512vnni.o) pattern=$joined what="products joined with sums" ;;
    *_avxvnni.o) pattern="$avx512|$joined" what="AVX-512 code or products joined with sums" ;;
    *_avx2.o) pattern="$avx512|$vnni|$joined" what="AVX-512 or VNNI code, or products joined with sums" ;;
    *) pattern=$vex what="AVX code" ;;
    esac
    lines=$(offending "$object" "$pattern")
    [ -n "$lines" ] || continue
    echo "$object has $what:"
    echo "$lines"
    bad=1
done < <(find "$folder" -name '*.o' \( -path '*/src/*' -o -path '*/kernels/*' \) | sort)
[ "$bad" = 0 ] || exit 1
echo "instruction sets: $objects objects keep to theirs"
