#!/usr/bin/env bash
# Runs every test, some at a time, a line each as it ends; then "N passed, M failed[, K skipped]".
# usage: scripts/run_tests.sh [check|lint|unit|model|cuda|cli|faults|tty|peer|sanitized]...
#
# A C program's tests are counted by cmocka's closing lines; a script may end with the line above; any
# other program counts as one test. Exit status 77 means skipped. The log of each is kept in
# $BUILD/test-logs; that of a failing one is shown.
#
# environment
#   BUILD         build folder (build)
#   SAN_BUILD     the same built with sanitizers; not run when empty
#   THREAD_BUILD  the same for ThreadSanitizer
#   TEST_JOBS     programs at a time (cores, 4 at most)
#   TEST_TIMEOUT  seconds that one program may take (1800): this ends hangs and judges no speed
#   DLLM_SHARED   where the larger test data lies (../shared)
#   CI            true: a skip that tests/expected_skips.txt does not list is a failure
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
export DLLM_SHARED=${DLLM_SHARED:-../shared}
logs=$BUILD/test-logs
limit=${TEST_TIMEOUT:-1800}
cores=$(nproc)
jobs=${TEST_JOBS:-$((cores < 4 ? cores : 4))}
mkdir -p "$logs"
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
# shellcheck disable=SC2046
trap 'kill $(jobs -rp) 2>/dev/null; exit 130' INT TERM

# cmocka's closing lines, or a script's own, added up: sets p f k and found.
count_log() {
    read -r p f k found < <(awk '
        /^\[  PASSED  \] [0-9]+ test/ { p += $4; found = 1 }
        /^ *[0-9]+ FAILED TEST/       { f += $1; found = 1 }
        /^ *[0-9]+ SKIPPED TEST/      { k += $1; found = 1 }
        /^([A-Za-z_-]+: )?[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
            sub(/^[A-Za-z_-]+: /, "")
            p += $1; f += $3; k += $5; found = 1
        }
        END { print p + 0, f + 0, k + 0, found + 0 }' "$1")
}

# Under CI, a skip must be listed: "PROGRAM" or "PROGRAM TEST" at the start of a line.
unexpected_skips() { # name log
    local names
    [ "${CI:-}" = true ] || return 0
    names=$(sed -n 's/^\[  SKIPPED \] \([^0-9].*\)$/\1/p' "$2" | sort -u | sed "s|^|$1 |")
    echo "${names:-$1}" | while read -r line; do
        grep -qsxE "(${1}|${line})( +#.*)?" tests/expected_skips.txt || echo "$line"
    done
}

# Waits until fewer than so many programs run.
wait_for_fewer() {
    while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do wait -n; done
}

# run NAME COMMAND...: one test program, in the background as soon as there is room for it.
run() {
    wait_for_fewer "$jobs"
    run_one "$@" &
}

# The counts of a program go to $counts as one line, so that programs at a time do not mix them.
run_one() {
    local name=$1 log status began seconds verdict surprises
    shift
    log=$logs/$(echo "$name" | tr / _).log
    began=$EPOCHREALTIME
    timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null &
    trap 'kill $!; exit' INT TERM # timeout ends what it started
    wait $!
    status=$?
    seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    count_log "$log"
    case $status in
    0) [ "$found" = 1 ] || p=1 ;;
    77) [ "$found" = 1 ] || k=1 ;;
    124 | 137)
        f=$((f + 1))
        echo "timed out after $limit seconds" >>"$log"
        ;;
    *) [ "$f" -gt 0 ] || f=1 ;;
    esac
    if [ "$((p + f + k))" = 0 ]; then
        f=1
        echo "no test was run" >>"$log"
    fi
    surprises=""
    [ "$k" = 0 ] || surprises=$(unexpected_skips "$name" "$log")
    if [ -n "$surprises" ]; then
        echo "skipped, but not in tests/expected_skips.txt: $surprises" >>"$log"
        f=$((f + $(echo "$surprises" | wc -l)))
    fi
    verdict=ok
    [ "$k" = 0 ] || verdict=skipped
    [ "$p" = 0 ] || verdict=ok
    [ "$f" = 0 ] || verdict=FAILED
    echo "$p $f $k" >>"$counts"
    report "$verdict" "$name" "$seconds" "$log"
}

# A program's line and, if it failed, the end of its log, in one piece.
report() { # verdict name seconds log; p f k are set
    local line
    printf -v line '%-8s %-34s %4d passed' "$1" "$2" "$p"
    [ "$f" = 0 ] || line+=", $f failed"
    [ "$k" = 0 ] || line+=", $k skipped"
    printf -v line '%s %7ss' "$line" "$3"
    [ "$f" = 0 ] || line+=$'\n'$(sed 's/^/    /' "$4" | tail -n 60)
    echo "$line"
}

# Every program of a kind, built from tests/KIND/test_*.c.
run_programs() { # kind [build folder [prefix]]
    local source name copies
    for source in tests/"$1"/test_*.c; do
        [ -e "$source" ] || continue
        name=$1/$(basename "$source" .c)
        run "${3:-}$name" "${2:-$BUILD}/tests/$name"
    done
}

run_scripts() { # kind pattern
    local script
    for script in $2; do
        [ ! -x "$script" ] || run "$1/$(basename "$script" .sh)" "$script"
    done
}

# The GPU's kernels: each test in every mode of the emulator, then what nvcc makes of them, then all of them on
# a GPU if there is one.
run_cuda() {
    local name
    [ "$jobs" = 1 ] || export CUDA_JOBS=1 # tests run at a time, not the modes of one
    if [ -x "$BUILD/dllm-emu" ]; then
        for name in $(scripts/run_cuda_modes.sh --names); do
            run "cuda/$name" scripts/run_cuda_modes.sh "$name"
        done
    fi
    if [ -e "$BUILD/ptx-80" ]; then
        for name in $(scripts/run_cuda_modes.sh --ptx --names); do
            run "ptx/$name" scripts/run_cuda_modes.sh --ptx "$name"
        done
    fi
    [ ! -x "$BUILD/tests/test_gpu" ] || run cuda/test_gpu scripts/run_gpu_tests.sh
}

run_cli() {
    [ ! -x tests/cli/run.sh ] || run cli/run tests/cli/run.sh
}

# The same tests under AddressSanitizer and UBSan: those that read what strangers wrote.
run_sanitized() {
    local source name copies
    [ -n "${SAN_BUILD:-}" ] || return 0
    export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    run_programs unit "$SAN_BUILD" sanitized/
    # Coverage of memory errors, not of numbers: one kernel level is enough there.
    [ ! -x "$SAN_BUILD/dllm" ] || [ ! -x tests/cli/run.sh ] ||
        DLLM=$SAN_BUILD/dllm run sanitized/cli tests/cli/run.sh
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        case $name in
        fuzz_gguf) copies=300000 ;;
        fuzz_split) copies=75000 ;;
        fuzz_model) copies=42500 ;;
        *) copies=20000 ;;
        esac
        [ ! -x "$SAN_BUILD/tests/fuzz/$name" ] ||
            run "sanitized/$name" "$SAN_BUILD/tests/fuzz/$name" -n $copies "tests/fuzz/corpus/${name#fuzz_}"
    done
}

# What uses threads, under ThreadSanitizer.
run_threads() {
    local name
    [ -n "${THREAD_BUILD:-}" ] || return 0
    for name in pool meeting engine; do
        run "threads/test_$name" "$THREAD_BUILD/tests/unit/test_$name"
    done
    DLLM=$THREAD_BUILD/dllm run threads/cli tests/cli/run.sh tests/cli/batch.t tests/cli/threads.t
}

run_part() {
    case $1 in
    lint)
        run_scripts lint 'scripts/check_*.sh'
        run_scripts lint 'tests/scripts/test_*.sh'
        ;;
    unit | check | model) run_programs "$1" ;;
    cuda) run_cuda ;;
    cli) run_cli ;;
    faults) run_scripts faults 'tests/faults/test_*.*' ;;
    tty) run_scripts tty 'tests/tty/test_*.py' ;;
    peer) run_scripts peer 'tests/peer/test_*.sh' ;;
    sanitized)
        run_sanitized
        run_threads
        ;;
    *)
        echo "unknown part: $1" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- lint unit check model cuda cli faults tty sanitized peer
for part in "$@"; do run_part "$part"; done
wait_for_fewer 1
read -r passed failed skipped < <(awk '{ p += $1; f += $2; k += $3 } END { print p + 0, f + 0, k + 0 }' "$counts")
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
