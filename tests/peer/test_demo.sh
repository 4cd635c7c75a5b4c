#!/usr/bin/env bash
# The demo model's greedy ids against a plain loop over llama.cpp's logits of the same file, 50 questions.
# What would break: a difference between the trained architecture and what both run; a sampler's rule.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
if "$build/tests/peer/demo_peer" models/demo.gguf; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
