#!/usr/bin/env bash
# Lets commands run under limits on memory, files and cores: whatever the limit, they end by themselves, with
# the right output or with an error.
# usage: tests/faults/test_limits.sh
# environment: BUILD (build), DLLM the program ($BUILD/tests/faults/dllm)
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/support/expect.sh
dllm=$(realpath "${DLLM:-${BUILD:-build}/tests/faults/dllm}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{"prompt": "What is 1 + 2?"}' >"$work/in.jsonl"
"$dllm" run "What is 1 + 2?" -n 8 -t 1 >"$work/answer" || exit 1

# Runs the program under a limit of the shell's ulimit. Before it has been loaded (the loader's exit code 127, or a
# signal below $unloadable) a limit is not the program's to report.
limited() { # flag value arguments...
    local flag=$1 value=$2 code
    shift 2
    (ulimit "$flag" "$value" && exec "$dllm" "$@") >"$work/out" 2>"$work/err"
    code=$?
    case $code in
    0) cmp -s "$work/out" "$work/answer" || [[ $* == *--input* ]] ;;
    1) grep -q '^error: ' "$work/err" ;;
    127) ;;
    *) [ "$value" -le "$unloadable" ] ;;
    esac || {
        echo "ulimit $flag $value, $*: exit code $code: $(head -n 1 "$work/err")"
        return 1
    }
    [ $code != 0 ] || ended=$((ended + 1))
}

# every LIMIT of the list: all must hold, and some must let the command end well.
sweep() { # flag values arguments...
    local flag=$1 values=$2 value ended=0
    shift 2
    for value in $values; do limited "$flag" "$value" "$@" || return 1; done
    [ $ended -gt 0 ] && [ $ended -lt "$(wc -w <<<"$values")" ]
}

unloadable=8000 # KiB of address space that the loader alone may not do with
sizes="$(seq 8000 500 16000) $(seq 17000 1000 40000) 80000 200000"
expect "run in any address space" sweep -v "$sizes" run "What is 1 + 2?" -n 8 -t 1
expect "two threads in any address space" sweep -v "$sizes" run "What is 1 + 2?" -n 8 -t 2
expect "a batch in any address space" sweep -v "$sizes" run --input "$work/in.jsonl" -n 8 -t 2
unloadable=2
expect "run with few files" sweep -n "2 3 4 5 6 8 16" run "What is 1 + 2?" -n 8 -t 1
expect "a batch with few files" sweep -n "2 3 4 5 6 8 16" run --input "$work/in.jsonl" -n 8 -t 1

# As many threads as the affinity mask has cores.
threads_of() { # cpus
    taskset -c "$1" "$dllm" run hi -n 1 --verbose 2>&1 >/dev/null | sed -n 's/.* \([0-9]*\) threads\{0,1\}$/\1/p'
}
first=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/')
expect "one thread in a mask of one core" [ "$(threads_of "$first")" = 1 ]
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
