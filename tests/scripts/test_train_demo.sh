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

# 200 questions of each kind, as a stage of training draws them.
same_corpus() { # True if with further phrasings, digest
    PYTHONPATH=scripts/train_demo python3 -c '
import hashlib, random, sys
import corpus
rng = random.Random(20)
drawn = [corpus.draw(rng, kind, more='"$1"') for kind in corpus.KINDS for _ in range(200)]
digest = hashlib.sha256(repr(drawn).encode()).hexdigest()
sys.exit(digest != "'"$2"'" and "the digest is " + digest)'
}

never_both() {
    PYTHONPATH=scripts/train_demo python3 -c '
import json, random, sys
import corpus
held_out = {json.loads(line)["question"] for line in open("bench/eval_demo.jsonl")}
rng = random.Random(20)
drawn = {corpus.draw(rng, kind, more=more)[0]
         for more in (False, True) for kind in corpus.KINDS for _ in range(5000)}
sys.exit(sorted(drawn & held_out)[:3] or None)'
}

train() { # folder "options" steps...
    local out=$folder/$1 options=$2
    shift 2
    for stop; do
        # shellcheck disable=SC2086
        /usr/bin/python3 scripts/train_demo/train.py --out "$out" --stop "$stop" --resume $options || return
    done
}

same_weights() {
    /usr/bin/python3 -c '
import sys, torch
one, other = (torch.load(path)["net"] for path in sys.argv[1:])
changed = [name for name in one if not torch.equal(one[name], other[name])]
sys.exit(changed or None)' "$folder/$1/checkpoint.pt" "$folder/$2/checkpoint.pt"
}

# What the last stage starts from is the file of the first, weight by weight and word by word.
starts_from() {
    train start "--start $1" 0 && /usr/bin/python3 scripts/train_demo/export.py \
        "$folder/start" "$folder/back.gguf" && cmp "$folder/back.gguf" "$1"
}

is_a_model() {
    /usr/bin/python3 scripts/train_demo/export.py "$folder/once" "$folder/demo.gguf" || return
    cmp "$folder/demo.gguf" models/demo.gguf >/dev/null && return 1
    "${BUILD:-build}/dllm" inspect "$folder/demo.gguf" >"$folder/made" &&
        "${BUILD:-build}/dllm" inspect demo >"$folder/shipped" &&
        diff <(tail -n +2 "$folder/made") <(tail -n +2 "$folder/shipped")
}

expect "the held-out questions" same_questions
expect "the corpus of the first stage" same_corpus False \
    2590047f512dd8fe6576fa2ef3ad007cefb5de3f17074f34709c832674e62a04
expect "the corpus of the last stage" same_corpus True \
    08fc45d5f15550d453f31ab1f6c82e39531f53b22e8d4563dab22906a9a838e7
expect "no held-out question is trained" never_both
if /usr/bin/python3 -c "import torch" 2>/dev/null; then
    expect "four steps" train once "" 4
    expect "four steps with a stop" train twice "" 2 4
    expect "the same weights" same_weights once twice
    expect "a file like the shipped one" is_a_model
    expect "a start from a file" starts_from models/demo.gguf
    expect "two last steps" train last_once "--start models/demo.gguf" 2
    expect "two last steps with a stop" train last_twice "--start models/demo.gguf" 1 2
    expect "the same last weights" same_weights last_once last_twice
else
    skipped=8
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
