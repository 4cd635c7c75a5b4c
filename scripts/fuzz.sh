#!/usr/bin/env bash
# Fuzzes the programs of tests/fuzz with libFuzzer or AFL++, one after the other.
# usage: scripts/fuzz.sh [-e libfuzzer|afl] [-t SECONDS] [-w FOLDER] [-k] [NAME]...
#   -e   the engine (libfuzzer); needs clang and its runtime (Debian: clang libclang-rt-14-dev), or afl++
#   -t   seconds for each program (60)
#   -w   where new inputs and findings are kept (build/fuzz-work); a later run goes on from them
#   -k   afterwards keep in tests/fuzz/corpus a smallest set of inputs with the same coverage
#   NAME gguf, split, model, tokenizer, vocabulary, messages, batch, options, trace, template (all)
# Prints a line for each: executions, seconds, inputs kept, findings. Exit status 1 when something was found;
# the inputs that did it lie in FOLDER/NAME/findings.
set -eu
cd "$(dirname "$0")/.."
engine=libfuzzer seconds=60 work=build/fuzz-work keep=""
while getopts e:t:w:k option; do
    case $option in
    e) engine=$OPTARG ;;
    t) seconds=$OPTARG ;;
    w) work=$OPTARG ;;
    k) keep=1 ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- gguf split model tokenizer vocabulary messages batch options trace template
build=build/fuzz-$engine
case $engine in
libfuzzer) compiler=clang ;;
afl) compiler=afl-clang-fast ;;
*)
    echo "error: -e is libfuzzer or afl, not $engine" >&2
    exit 2
    ;;
esac
command -v $compiler >/dev/null || {
    echo "error: $compiler is missing" >&2
    exit 1
}
programs=("${@/#/$build/tests/fuzz/fuzz_}")
mkdir -p build
AFL_QUIET=1 make --no-print-directory BUILD="$build" CC="$compiler" FUZZER=1 "${programs[@]}" \
    >"$build.log" 2>&1 || {
    tail -n 20 "$build.log"
    exit 1
}
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:allocator_may_return_null=1:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1

# Sets executions and found.
run_libfuzzer() { # program new corpus findings
    ASAN_OPTIONS=allocator_may_return_null=1 "$1" -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=3000 -max_len=131072 -print_final_stats=1 -artifact_prefix="$4/" "$2" "$3" \
        >"$2.log" 2>&1 || true
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2.log")
    found=$(find "$4" -type f | wc -l)
}

run_afl() { # program new corpus findings
    AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:allocator_may_return_null=1:detect_leaks=0 \
        afl-fuzz -i "$3" -o "$2.afl" -V "$seconds" -t 5000 -m none -- "$1" >"$2.log" 2>&1 || true
    executions=$(sed -n 's/^execs_done *: *//p' "$2.afl/default/fuzzer_stats")
    cp "$2".afl/default/queue/id:* "$2/" 2>/dev/null || true
    cp "$2".afl/default/crashes/id:* "$2".afl/default/hangs/id:* "$4/" 2>/dev/null || true
    rm -rf "$2.afl"
    found=$(find "$4" -type f | wc -l)
}

bad=0
for name in "$@"; do
    corpus=tests/fuzz/corpus/$name new=$work/$name/inputs findings=$work/$name/findings
    mkdir -p "$new" "$findings"
    began=$SECONDS executions=0 found=0
    "run_$engine" "$build/tests/fuzz/fuzz_$name" "$new" "$corpus" "$findings"
    printf '%-10s %s: %12d executions in %5d s, %d inputs, %d findings\n' "$name" "$engine" \
        "${executions:-0}" $((SECONDS - began)) "$(find "$new" -type f | wc -l)" "$found"
    [ "$found" = 0 ] || bad=1
done

# The smallest inputs first; what is too large to keep in the tree is left out.
if [ -n "$keep" ] && [ "$engine" = libfuzzer ]; then
    for name in "$@"; do
        small=$work/$name/small
        rm -rf "$small" && mkdir "$small"
        "$build/tests/fuzz/fuzz_$name" -merge=1 -max_len=4096 "$small" "tests/fuzz/corpus/$name" \
            "$work/$name/inputs" >/dev/null 2>&1 || true
        cp -n "$small"/* "tests/fuzz/corpus/$name/"
    done
fi
exit $bad
