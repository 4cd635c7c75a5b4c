#!/usr/bin/env bash
# Compares dllm with llama.cpp on a model of yours: the logits of one pass, row by row; its hidden states,
# layer by layer; or a generation step by step, up to the first step where the two would commit something else.
# usage: scripts/parity.sh logits MODEL.gguf [IDS]
#        scripts/parity.sh layers MODEL.gguf [IDS]
#        scripts/parity.sh generate MODEL.gguf [IDS [POSITIONS [STEPS]]]
#   IDS        token ids such as 3,5,17 (dllm tokenize prints them)      [3,5,17,300,99]
#   POSITIONS  to generate                                               [32]
#   STEPS                                                                [POSITIONS]
# Exit code 1 where the generations part; logits and layers are only shown.
# environment
#   LLAMA_PEER_DIR  the folder with libllama.so of a llama.cpp of yours; without it one comes from npm
#   BUILD           build folder (build)
#   THREADS         (2)
set -eu
dllm=$(cd "$(dirname "$0")/.." && pwd)
case "${1:-}" in
logits | layers | generate) ;;
*)
    [ $# = 0 ] || [ "$1" = --help ] || echo "error: \"$1\" is none of logits, layers and generate" >&2
    sed -n '2,/^set/p' "$0" | grep '^#' | sed 's/^# \{0,1\}//' >&2
    exit 2
    ;;
esac
[ -f "${2:-}" ] || {
    echo "error: there is no file \"${2:-}\"; name a GGUF file" >&2
    exit 2
}
what=$1 model=$(realpath "$2")
ids=$(tr -d '[] ' <<<"${3:-3,5,17,300,99}")
cd "$dllm"
build=${BUILD:-build}
if [ -z "${LLAMA_PEER_DIR:-}" ]; then
    scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
fi
make -s --no-print-directory BUILD="$build" "$build/scripts/parity" >&2
if [ "$what" != generate ]; then
    exec "$build/scripts/parity" "$what" "$model" "$ids" "${THREADS:-2}"
fi
positions=${4:-32}
exec "$build/scripts/parity" generate "$model" "$ids" "${THREADS:-2}" "$positions" "${5:-$positions}"
