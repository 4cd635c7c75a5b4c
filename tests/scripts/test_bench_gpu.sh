#!/usr/bin/env bash
# bench/gpu must measure the most important first, keep each result as it stands, go on where it ended, name what is
# missing, and end what it started when its time is over. Programs that print made-up results play those that measure;
# then the emulated card's programs themselves: every field that a table takes must be there.
set -u
cd "$(dirname "$0")/../.." || exit 1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
. "tests/support/expect.sh"
models=$PWD/tests/data/models
export BENCH_RESULTS=$tree/results DLLM_COMMIT=c1 LLAMA_PEER_DIR=$tree/peer
mkdir -p "$tree"/{build/bench,build/tests/gpu,peer}

make_program() { # name: its body is read from stdin
    { echo "#!/usr/bin/env bash"; cat; } >"$tree/build/$1"
    chmod +x "$tree/build/$1"
}
measure() { # arguments of bench/gpu; what it prints is in $tree/said
    (cd tests/data && BUILD=$tree/build ../../bench/gpu --model models/llada-Q4_K_M.gguf --canvas 8,16 --prompts 1,4 \
        --reps 5 --shape F16:8x8x8 "$@" >"$tree/said" 2>&1)
}
says() { grep -qF -- "$1" "$tree/said" || { cat "$tree/said"; return 1; }; }
status_is() { # status, then a command
    local want=$1 status
    shift
    "$@"
    status=$?
    [ $status = "$want" ] || { echo "exit status $status"; cat "$tree/said"; return 1; }
}
kept() { # the folder's files, sorted
    (cd "$tree/results" 2>/dev/null && ls) | tr '\n' ' '
}
with_a_card() {
    make_program dllm <<'END'
times='"ms_each": [4, 4, 4, 4, 4], "gop_per_s": 2000.0, "weight_gb_per_s": 100.0'
known='"ceiling_gop_per_s": 1600000, "share_of_ceiling": 0.125, "bandwidth_ceiling_gb_per_s": 4000, "share_of_bandwidth": 0.25, "floor_ms": 1'
unknown='"ceiling_gop_per_s": null, "share_of_ceiling": null, "bandwidth_ceiling_gb_per_s": null, "share_of_bandwidth": null, "floor_ms": null'
case "$*" in
doctor) echo "GPU         ${VERDICT:-ok    } 0: A card, compute capability 9.0, 139.00 GiB free of 140.00 GiB, the demo model's logits are the CPU's (cosine 0.999926); 1: Another, compute capability 8.6, 1.00 GiB free of 2.00 GiB; the driver has CUDA 13.0, this build 13.0" ;;
*--matmul*) echo "{\"version\": \"1\", \"products\": [{\"type\": \"F16\", \"rows\": 8, \"width\": 8, \"tokens\": 8, $times, $unknown}]}" ;;
*"--canvas 16"*"--prompts 4"*) echo '{"step": {"ms_each": [1, 2, 3, 4, 5]}}' ;; # unsteady
*) echo "{\"canvas\": 8, \"prompts\": 4, \"step\": {\"layers_ms\": 3, \"head_ms\": 1, $times, $known}}" ;;
esac
END
}

make_program dllm <<'END'
echo "GPU         ok     no GPU: no driver"
END
expect "without a card nothing is measured" status_is 77 measure
expect "and it says why" says "nothing is measured: no GPU: no driver"

with_a_card
make_program tests/test_gpu <<<'echo "3 passed, 0 failed"'
for source in tests/gpu/test_*.c; do
    make_program "tests/gpu/$(basename "$source" .c)" <<<'echo "[  PASSED  ] 2 test(s)."'
done
make_program bench/gpu_parity <<'END'
near='{"median_rms": 1e-3, "worst_rms": 2e-3, "median_cosine": 0.9999, "lowest_cosine": 0.999, "same_top": 23, "rows": 24}'
echo "{\"models\": [{\"model\": \"$(basename "$1")\", \"quantization\": \"Q4_K\", \"good\": true, \"beside_cpu\": $near,
    \"half_of_layers\": $near, \"logits_repeat\": true, \"generations\": 8, \"ids\": 64, \"same_ids\": 60,
    \"same_ids_half\": 61, \"same_in_company\": {\"1\": 8, \"3\": 8, \"8\": 7}}]}"
END
# llama.cpp's time: 8 ms in one pass, 6 ms one after the other.
make_program bench/compare_llama <<'END'
[ -f "$1" ] || exit 1
times() { echo "{\"wall\": [$1, $1, $1, $1, $1], \"processor\": [1, 1, 1, 1, 1]}"; }
other="\"dllm_all_rows\": $(times 0.004)"
[ "$6" = 1 ] || other="\"llama_each\": $(times 0.006)"
echo "{\"model\": \"$(basename "$1")\", \"canvas\": $3, \"prompts\": $6, \"rows\": $4, \"threads\": 1,
    \"device\": \"gpu:0\", \"cpu_level\": \"sm_90\", \"lowest_cosine\": ${COSINE:-0.999}, \"llama_libraries\": \"ggml\",
    \"seconds\": {\"llama\": $(times 0.008), $other, \"dllm_rows\": $(times 0.002)}}"
END
expect "an unsteady result is missing" status_is 1 measure
expect "it is named with the reason" says "not done: gpu-step-llada-Q4_K_M-canvas-16-prompts-4: times: quartiles lie"
expect "what counts most comes first" test "$(grep -o '^gpu-[^ ]* \.\.\.' "$tree/said" | head -n 6 | tr -d '\n')" = \
    "gpu-tests ...gpu-parity ...gpu-step-llada-Q4_K_M-canvas-8-prompts-1 ...gpu-step-llada-Q4_K_M-canvas-8-prompts-4 ...gpu-compare-llada-Q4_K_M-canvas-8-prompts-1 ...gpu-product-F16-8x8x8 ..."
expect "all others are kept" says "10 of 11 results are as they must be"
expect "each in a file" test "$(kept)" = "gpu-compare-llada-Q4_K_M-canvas-16-prompts-1.json \
gpu-compare-llada-Q4_K_M-canvas-16-prompts-4.json gpu-compare-llada-Q4_K_M-canvas-8-prompts-1.json \
gpu-compare-llada-Q4_K_M-canvas-8-prompts-4.json gpu-parity.json gpu-product-F16-8x8x8.json \
gpu-step-llada-Q4_K_M-canvas-16-prompts-1.json gpu-step-llada-Q4_K_M-canvas-8-prompts-1.json \
gpu-step-llada-Q4_K_M-canvas-8-prompts-4.json gpu-tests.json "
status_is 1 measure
expect "a second call goes on with what is missing" says "11 results, 1 of them to measure"
DLLM_COMMIT=c2 measure
expect "another commit is measured anew" says "11 results, 11 of them to measure"
expect "parts can be named" status_is 0 measure tests products
VERDICT="NOT OK" DLLM_COMMIT=c7 expect "a card that fails in doctor is tested" status_is 0 measure tests
expect "a part that there is not" status_is 2 measure speed
make_program tests/gpu/test_gpu_models <<<'echo "[  PASSED  ] 1 test(s)."; echo " 1 FAILED TEST(S)"; exit 1'
DLLM_COMMIT=c5 status_is 1 measure tests
expect "tests that fail are named" says "not done: gpu-tests: it is kept, but not as it must be"
DLLM_COMMIT=c5 measure tests
expect "and run again the next time" says "1 results, 1 of them to measure"
COSINE=0.98 DLLM_COMMIT=c3 measure compare
expect "a wrong answer is no result" says "logits differ: lowest cosine 0.9800, at least 0.99 was expected"

# What hangs is ended with all that it started, and the rest is named.
make_program bench/gpu_parity <<'END'
sleep 1000 &
echo $! >"$BUILD/sleeper"
wait
END
DLLM_COMMIT=c4 status_is 1 measure parity products --minutes 0.2
expect "what takes too long is named" says "not done: gpu-parity: it took more than a third of the time"
expect "there is time for the others" says "1 of 2 results are as they must be"
is_gone() { # or dead and not yet taken note of
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        grep -q '^State:[[:space:]]*[^Z]' "/proc/$(cat "$tree/build/sleeper")/status" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}
expect "nothing of it goes on" is_gone
DLLM_COMMIT=c6 status_is 1 measure parity products --minutes 0.000001
expect "what there is no time for is named" says "not done: gpu-product-F16-8x8x8: no time was left"

# The tables are of the results; of several prompts llama.cpp's shorter time counts.
make_table() {
    /usr/bin/python3 -B -c 'import sys; sys.path.insert(0, "scripts"); import bench_table; print(bench_table.TABLES[sys.argv[1]]())' "$1"
}
table_has() { make_table "$1" | grep -qF -- "$2" || { make_table "$1"; return 1; }; }
expect "the table of steps" table_has gpu_steps "| 8 | 4 | 4.00 ms | 1.00 ms | 1.00 ms, 4.00x | 3.00 ms | 1.00 ms | 100 GB/s of 4000, 25.0 % | 2 Top/s of 1600, 12.5 % | c2 |"
expect "the table of products" table_has gpu_products "| F16 | 8 x 8 | 8 | A card, driver unknown | 4.000 ms | not measured | 100 GB/s | 2 Top/s | c4 |"
expect "comparisons of one prompt" table_has gpu_compare "| 8 | 1 | llama.cpp | 8.0 ms |  | 4.0 ms, **2.00x** (2.00 to 2.00) | 8 rows: 2.0 ms, **4.00x**"
expect "comparisons of several" table_has gpu_compare "| 8 | 4 | llama.cpp | 8.0 ms | 6.0 ms |  | 8 rows: 2.0 ms, **3.00x**"
expect "the table of parity" table_has gpu_parity "| 23 of 24 | 0.999000 |  | 60, 61 of 64 | yes; 8, 8, 7 of 8 | yes | A card | c2 |"
expect "the table of tests" table_has gpu_tests "| A card, driver unknown | 10 | 1 | c5 |"
rm -r "$tree/results"
expect "nothing measured" table_has gpu_steps "Not measured yet."

# The programs themselves, on the emulated card. Its times may scatter; then the reason is the rule's.
emulated() {
    BUILD=build/cuda-plain bench/gpu --parity-model "$models/dream-Q4_K_M.gguf" --model "$models/dream-Q4_K_M.gguf" \
        --canvas 8 --prompts 3 --reps 5 --shape Q4_K:64x256x3 "$@" >"$tree/said" 2>&1
}
measured_or_unsteady() { # table, what a row has, name of the result
    table_has "$1" "$2" || says "not done: $3: times: quartiles lie"
}
if [ -x build/cuda-plain/bench/gpu_parity ]; then
    emulated parity steps products
    expect "parity" table_has gpu_parity "of 64 | yes; 8, 8, 8 of 8 | yes | Emulated GPU | c1 |"
    expect "steps" measured_or_unsteady gpu_steps "| Emulated GPU, driver unknown | 8 | 3 |" \
        gpu-step-dream-Q4_K_M-canvas-8-prompts-3
    expect "products" measured_or_unsteady gpu_products "| Q4_K | 64 x 256 | 3 |" gpu-product-Q4_K-64x256x3
    unset BENCH_RESULTS
    expect "times of an emulated card stay apart" status_is 1 emulated products
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
