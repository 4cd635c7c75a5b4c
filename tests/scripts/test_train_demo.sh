#!/usr/bin/env bash
# The demo model's training: the corpus is what it was when the model was made (another Python must not
# change it), a run is a function of its seeds however often it stops, and its file is a model.
# Without PyTorch only the corpus is looked at.
set -u
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
skipped=0
. "tests/support/expect.sh"

same_questions() {
    python3 scripts/train_demo/make_questions.py "$folder/questions.jsonl" &&
        cmp "$folder/questions.jsonl" bench/eval_demo.jsonl
}

# 200 questions of each kind, as training draws them.
same_corpus() {
    PYTHONPATH=scripts/train_demo python3 -c '
import hashlib, random, sys
import corpus
rng = random.Random(20)
drawn = [corpus.draw(rng, kind) for kind in corpus.KINDS for _ in range(200)]
digest = hashlib.sha256(repr(drawn).encode()).hexdigest()
sys.exit(digest != "'"$1"'" and "the digest is " + digest)'
}

never_both() {
    PYTHONPATH=scripts/train_demo python3 -c '
import json, random, sys
import corpus
held_out = {json.loads(line)["question"] for line in open("bench/eval_demo.jsonl")}
rng = random.Random(20)
drawn = {corpus.draw(rng, kind)[0] for kind in corpus.KINDS for _ in range(5000)}
sys.exit(sorted(drawn & held_out)[:3] or None)'
}

train() { # folder steps...
    local out=$folder/$1
    shift
    for stop; do
        /usr/bin/python3 scripts/train_demo/train.py --out "$out" --stop "$stop" --resume || return
    done
}

same_weights() {
    /usr/bin/python3 -c '
import sys, torch
one, other = (torch.load(path)["net"] for path in sys.argv[1:])
changed = [name for name in one if not torch.equal(one[name], other[name])]
sys.exit(changed or None)' "$folder"/{once,twice}/checkpoint.pt
}

is_a_model() {
    /usr/bin/python3 scripts/train_demo/export.py "$folder/once" "$folder/demo.gguf" || return
    cmp "$folder/demo.gguf" models/demo.gguf >/dev/null && return 1
    "${BUILD:-build}/dllm" inspect "$folder/demo.gguf" >"$folder/made" &&
        "${BUILD:-build}/dllm" inspect demo >"$folder/shipped" &&
        diff <(tail -n +2 "$folder/made") <(tail -n +2 "$folder/shipped")
}

expect "the held-out questions" same_questions
expect "the corpus" same_corpus 2590047f512dd8fe6576fa2ef3ad007cefb5de3f17074f34709c832674e62a04
expect "no held-out question is trained" never_both
if /usr/bin/python3 -c "import torch" 2>/dev/null; then
    expect "four steps" train once 4
    expect "four steps with a stop" train twice 2 4
    expect "the same weights" same_weights
    expect "a file like the shipped one" is_a_model
else
    skipped=4
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
