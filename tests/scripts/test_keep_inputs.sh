#!/usr/bin/env bash
# What fuzzers find must not make the tree grow without end: scripts/keep_inputs.sh keeps the limits that it
# names, of a file and of a corpus, takes the smallest first, and every corpus of the tree is within its own.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=$scratch/found corpus=$scratch/corpus
passed=0 failed=0

expect() { # name wanted got
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1: wanted \"$2\", got \"$3\""
    fi
}

fresh() {
    rm -rf "$found" "$corpus"
    mkdir "$found" "$corpus"
}

put() { # folder name bytes
    head -c "$3" /dev/zero >"$1/$2"
}

fresh
put "$corpus" old 500000
put "$found" old 500000
put "$found" small 100
put "$found" large 65536
put "$found" larger 65537
said=$(scripts/keep_inputs.sh model "$found" "$corpus")
expect "a file that has no room, and one that is too large" \
    "model: the corpus holds 500100 of 524288 bytes, 2 inputs were left out" "$said"
expect "what was kept" "old small" "$(cd "$corpus" && echo *)"

fresh
put "$corpus" old 480000
put "$found" a 40000
put "$found" b 10000
scripts/keep_inputs.sh model "$found" "$corpus" >"$scratch/said"
expect "the smallest first" "b old" "$(cd "$corpus" && echo *)"

fresh
put "$found" a 65536
expect "a file at the limit" "model: the corpus holds 65536 of 524288 bytes, 0 inputs were left out" \
    "$(scripts/keep_inputs.sh model "$found" "$corpus")"
expect "a file of another program" "split: the corpus holds 65536 of 131072 bytes, 1 inputs were left out" \
    "$(put "$found" b 4097 && scripts/keep_inputs.sh split "$found" "$corpus")"

fresh
put "$corpus" a 131073
put "$found" b 1
said=$(scripts/keep_inputs.sh gguf "$found" "$corpus" 2>&1)
expect "a corpus beyond its limit" \
    "1 error: $corpus holds 131073 bytes; at most 131072 were expected: remove the largest inputs" "$? $said"
expect "what it kept" "a" "$(cd "$corpus" && echo *)"

fresh
for folder in tests/fuzz/corpus/*; do
    said=$(scripts/keep_inputs.sh "${folder##*/}" "$found" "$folder" 2>&1)
    expect "$folder" 0 "$?${said##*out}"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
