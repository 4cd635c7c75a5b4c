#!/usr/bin/env bash
# scripts/parity.sh on the small models: rows of logits and layers alike, generations followed step by step, wrong
# arguments refused.
set -u
cd "$(dirname "$0")/../.." || exit 1
scripts/install_peers.sh @node-llama-cpp/linux-x64@3.22.1 || exit $?
models=tests/data/models
. "tests/support/expect.sh"

# A row per id, each with a cosine of at least 0.999 and the line that counts the best ids.
rows_alike() { # model
    scripts/parity.sh logits "$1" "[3, 5, 17, 300]" | awk '
        { print }
        /^ *[0-9]+ / { rows++; if ($4 < 0.999) bad = 1 }
        /^same best id in/ { counted = 1 }
        END { exit !(rows == 4 && counted && !bad) }'
}

# The embedding and both layers, in order, each with a cosine of at least 0.999.
layers_alike() { # model
    scripts/parity.sh layers "$1" 3,5,17,300 | awk '
        { print }
        NR == 2 && $1 == "embedding" && $3 >= 0.999999 { alike++ }
        NR > 2 && $1 " " $2 == "layer " NR - 3 && $4 >= 0.999 && $7 >= 0.999 { alike++ }
        END { exit !(NR == 4 && alike == 3) }'
}

# Steps are followed; where quantized sides part, both confidences of both positions are shown.
followed() { # model
    local output code
    output=$(scripts/parity.sh generate "$1" 3,5,17,99 24 12)
    code=$?
    echo "$output"
    case $code in
    0) grep -qx '12 steps the same; confidences differ by at most .* there' <<<"$output" ;;
    1) grep -qE '^  position [0-9]+: dllm .* at 0\.[0-9]+, llama.cpp .* at 0\.[0-9]+$' <<<"$output" ;;
    *) false ;;
    esac
}

fails_with() { # code, then a command
    local want=$1
    shift
    "$@" >/dev/null 2>&1
    [ $? = "$want" ]
}

for model in llada dream; do
    expect "$model: logits" rows_alike "$models/$model-Q4_K_M.gguf"
    expect "$model: layers" layers_alike "$models/$model-Q4_K_M.gguf"
    expect "$model: generation" followed "$models/$model-Q4_K_M.gguf"
done
expect "no file" fails_with 2 scripts/parity.sh logits none.gguf
expect "no command" fails_with 2 scripts/parity.sh
expect "an id that the model lacks is named" \
    grep -q "^error: dllm: id 999999 at position 1 " <(scripts/parity.sh logits "$models/llada-Q4_K_M.gguf" 3,999999 2>&1)
expect "no ids" fails_with 1 scripts/parity.sh logits "$models/llada-Q4_K_M.gguf" x
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
