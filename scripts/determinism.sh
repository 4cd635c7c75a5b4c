#!/usr/bin/env bash
# Builds dllm with gcc and clang, at -O1, -O2 and -O3, and compares the hashes of logits, confidences, ids and
# scores that tests/model/test_determinism prints, and the answers to a batch in two orders and in shards.
# usage: scripts/determinism.sh [-w FOLDER] [COMPILER:FLAGS]...
#   -w   where the builds lie (build/determinism); they are made again only where sources changed
# Without builds named: gcc:-O1 gcc:-O2 gcc:-O3 clang:-O1 clang:-O2 clang:-O3. Prints the hashes of the first build
# and a line for each, with a hash of its hashes; exit status 1 when any differs from the first.
set -eu
cd "$(dirname "$0")/.."
work=build/determinism
if [ "${1:-}" = -w ]; then
    work=$2
    shift 2
fi
[ $# -gt 0 ] || set -- gcc:-O1 gcc:-O2 gcc:-O3 clang:-O1 clang:-O2 clang:-O3
mkdir -p "$work"
for i in $(seq 1 24); do
    echo "{\"id\": $i, \"prompt\": \"What is $i + $((i * 7 % 90))?\", \"temperature\": 0.$((i % 3))}"
done >"$work/requests.jsonl"

# A hash of the answers [id, sample, seed, ids] in the order of their ids.
hash_answers() {
    python3 -c 'import hashlib, json, sys
rows = sorted((r["id"], r["sample"], r["seed"], r["generated_ids"]) for r in map(json.loads, sys.stdin))
print(hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16])'
}
batch() { # program options...
    "$@" -n 12 --block-length 6 2>/dev/null
}
hashes_of() { # build folder
    "$1/tests/model/test_determinism" 2>&1 | grep '^hash' || echo "hash: the test failed"
    echo "batch $(batch "$1/dllm" run --input "$work/requests.jsonl" | hash_answers)"
    echo "batch $(tac "$work/requests.jsonl" | batch "$1/dllm" run --input - --parallel 1 | hash_answers)"
    echo "batch $(for i in 1 2 3; do batch "$1/dllm" run --input "$work/requests.jsonl" --shard $i/3; done |
        hash_answers)"
}

first="" bad=0
for setting in "$@"; do
    compiler=${setting%%:*} options=${setting#*:}
    build=$work/$compiler${options// /}
    make --no-print-directory BUILD="$build" CC="$compiler" CFLAGS="$options -g" "$build/dllm" \
        "$build/tests/model/test_determinism" >"$build.log" 2>&1 || {
        tail -n 20 "$build.log"
        exit 1
    }
    hashes_of "$build" >"$build.hashes"
    if [ "$(grep '^batch' "$build.hashes" | sort -u | wc -l)" != 1 ]; then
        echo "$setting: orders and shards of a batch differ"
        bad=1
    fi
    [ -n "$first" ] || sed 's/^/    /' "$build.hashes"
    first=${first:-$build.hashes}
    if cmp -s "$first" "$build.hashes"; then
        echo "$setting: $(sha256sum <"$build.hashes" | cut -c1-16), $(wc -l <"$build.hashes") hashes"
    else
        echo "$setting: other hashes than the first build:"
        diff "$first" "$build.hashes" || bad=1
    fi
done
exit $bad
