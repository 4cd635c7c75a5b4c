#!/usr/bin/env bash
# Fuzzes the programs of tests/fuzz with libFuzzer or AFL++, one after the other.
# usage: scripts/fuzz.sh [-e libfuzzer|afl] [-t SECONDS] [-w FOLDER] [-k] [NAME]...
#   -e   the engine (libfuzzer); needs clang and its runtime (Debian: clang libclang-rt-14-dev), or afl++
#   -t   seconds for each program (60)
#   -w   where new inputs and findings are kept (build/fuzz-work), for both engines; a later run goes on from them
#   -k   afterwards keep in tests/fuzz/corpus a smallest set of inputs with the same coverage, as far as its limits
#        allow: see scripts/keep_inputs.sh (libfuzzer; -t 1 -k keeps what AFL++ found)
#   NAME gguf, split, model, tokenizer, vocabulary, messages, batch, options, trace, template, npy (all)
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
[ $# -gt 0 ] || set -- gguf split model tokenizer vocabulary messages batch options trace template npy
build=build/fuzz-$engine
case $engine in
libfuzzer) compiler=clang ;;
afl) compiler=afl-clang-fast ;;
*)
    echo "error: -e is libfuzzer or afl, not $engine" >&2
    exit 2
    ;;
esac
[ -z "$keep" ] || [ $engine = libfuzzer ] || {
    echo "error: -k needs libFuzzer, whose programs can merge; run again with -e libfuzzer -t 1 -k" >&2
    exit 2
}
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
# What a program writes lies here; AFL++ ends programs by a signal, so that they cannot clean up.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Sets executions and found.
run_libfuzzer() { # program new corpus findings
    TMPDIR=$scratch ASAN_OPTIONS=allocator_may_return_null=1 "$1" -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=3000 -max_len=131072 -print_final_stats=1 -artifact_prefix="$4/" "$2" "$3" \
        >"$2.log" 2>&1 || true
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2.log")
    found=$(find "$4" -type f | wc -l)
}

# A shared library of the program's own mutator, if it has one: its path, or nothing.
make_mutator() { # name
    local library=$build/mutator_$1.so includes=(-Iinclude -Itests/support)
    grep -q LLVMFuzzerCustomMutator "tests/fuzz/fuzz_$1.c" || return 0
    for folder in src/*; do includes+=("-I$folder"); done
    # What the mutator does not use is dropped, so that nothing else need be linked.
    cc -shared -std=c11 -D_GNU_SOURCE -fPIC -O2 -ffunction-sections -fvisibility=hidden -Wl,--gc-sections,-z,defs \
        "${includes[@]}" tests/fuzz/{afl_mutator,gguf_mutate,support,"fuzz_$1"}.c -o "$library"
    realpath "$library"
}

# Copies inputs under names made of their contents, as libFuzzer does.
keep_inputs() { # folder file...
    local folder=$1 file
    shift
    for file in "$@"; do
        [ ! -f "$file" ] || cp "$file" "$folder/$(sha1sum <"$file" | cut -d' ' -f1)"
    done
}

run_afl() { # program new corpus findings
    local out=$2.afl code=0
    rm -rf "$out" "$2.seeds"
    mkdir "$2.seeds"
    keep_inputs "$2.seeds" "$3"/* "$2"/*
    AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 \
        AFL_CUSTOM_MUTATOR_LIBRARY=$(make_mutator "$name") TMPDIR=$scratch \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:allocator_may_return_null=1:detect_leaks=0 \
        afl-fuzz -i "$2.seeds" -o "$out" -V "$seconds" -t 5000 -m none -- "$1" >"$2.log" 2>&1 || code=$?
    if [ ! -f "$out/default/fuzzer_stats" ]; then
        tail -n 20 "$2.log" >&2
        echo "error: afl-fuzz ended with exit code $code before it fuzzed $name" >&2
        exit 1
    fi
    executions=$(sed -n 's/^execs_done *: *//p' "$out/default/fuzzer_stats")
    keep_inputs "$2" "$out"/default/queue/id:*
    keep_inputs "$4" "$out"/default/crashes/id:* "$out"/default/hangs/id:*
    rm -rf "$out" "$2.seeds"
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

# Copies to the corpus what covers more than it does already, as few files as that takes, within the corpus' limits.
keep_covering() { # name
    local small=$work/$1/small
    rm -rf "$small"
    cp -r "tests/fuzz/corpus/$1" "$small"
    "$build/tests/fuzz/fuzz_$1" -set_cover_merge=1 -max_len=131072 "$small" "$work/$1/inputs" >"$small.log" 2>&1 || {
        tail -n 5 "$small.log"
        return 1
    }
    scripts/keep_inputs.sh "$1" "$small"
}
if [ -n "$keep" ]; then
    for name in "$@"; do keep_covering "$name" || bad=1; done
fi
exit $bad
