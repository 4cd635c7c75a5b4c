#!/usr/bin/env bash
# Trains the demo model and writes models/demo.gguf: corpus, vocabulary, training in two stages, export.
# usage: scripts/train_demo/run.sh [FOLDER]
#
# FOLDER   vocabulary and checkpoints (build/demo); a second call goes on from the last checkpoint
#
# Needs Debian's python3-torch and libopenblas0-pthread (without it matrix products are far slower).
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-build/demo}
# Large tensors from the heap: mapped and unmapped in every operation, they cost more than the arithmetic.
export MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_TRIM_THRESHOLD_=8000000000 MALLOC_TOP_PAD_=268435456
export OMP_NUM_THREADS=1 # two processes share the work
# OpenBLAS does not know every new processor and takes half as wide vectors then.
if grep -q avx512vl /proc/cpuinfo; then export OPENBLAS_CORETYPE=SkylakeX; fi
train() { /usr/bin/python3 scripts/train_demo/train.py --resume "$@"; }
export_model() { /usr/bin/python3 scripts/train_demo/export.py "$@"; }
train --out "$folder/first"
export_model "$folder/first" "$folder/first.gguf"
train --out "$folder/last" --start "$folder/first.gguf"
/usr/bin/python3 scripts/train_demo/make_questions.py bench/eval_demo.jsonl
export_model "$folder/last" models/demo.gguf
