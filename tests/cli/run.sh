#!/usr/bin/env bash
# Runs the transcripts of tests/cli: commands with what they must print and their exit code.
# usage: tests/cli/run.sh [NAME.t]...
#
# A transcript is lines that start with a mark, everything else is prose:
#   $ command       run by bash in a new scratch folder, standard input empty
#   > more          continues the command
#   | text          a line that stdout must have      |~ pattern   the same as a shell pattern
#   ! text          a line that stderr must have      !~ pattern
#   = N             the exit code, 0 if not said
#   % program       skip the case unless that program exists
# stdout and stderr must have exactly the lines given. Patterns are those of bash's [[ x == pattern ]].
# In the commands: dllm is the program under test, $models the folder of small models, $tests this
# folder, $root the repository. What depends on the moment waits for what can be seen, not for a time:
# $tests/interrupt.sh sends ctrl-c, and a case that waits for ever is ended after CASE_TIMEOUT.
#
# environment: DLLM the program ($BUILD/dllm), BUILD (build), CASE_TIMEOUT seconds (300)
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${DLLM:-$root/${BUILD:-build}/dllm}") || exit 1
export root tests=$root/tests/cli models=$root/tests/data/models
passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/dllm"
export PATH="$scratch/bin:$PATH"
unset LC_ALL LANG
# What the CPU prints is compared: a GPU of the machine stays unseen.
export CUDA_VISIBLE_DEVICES=

# Compares the lines of a file with the wanted ones ("=text" or "~pattern"); prints what differs.
compare() { # stream file wanted...
    local stream=$1 file=$2 line i=0
    shift 2
    local -a got=()
    mapfile -t got <"$file"
    for line in "$@"; do
        if [ "$i" -ge "${#got[@]}" ]; then
            echo "  $stream lacks line $((i + 1)): ${line:1}"
            return 1
        fi
        # shellcheck disable=SC2053
        if [ "${line:0:1}" = '=' ] && [ "${got[i]}" != "${line:1}" ] ||
            [ "${line:0:1}" = '~' ] && [[ ${got[i]} != ${line:1} ]]; then
            echo "  $stream line $((i + 1)) is     ${got[i]}"
            echo "  $stream line $((i + 1)) wanted ${line:1}"
            return 1
        fi
        i=$((i + 1))
    done
    [ "$i" = "${#got[@]}" ] && return 0
    echo "  $stream has more: ${got[i]}"
    return 1
}

# Runs the case in $command against $want_out, $want_err, $want_code, $needs.
finish_case() {
    local code tool complaint
    [ -n "$command" ] || return 0
    for tool in $needs; do
        command -v "$tool" >/dev/null && continue
        skipped=$((skipped + 1))
        command=
        return 0
    done
    rm -rf "$scratch/work" && mkdir "$scratch/work"
    (cd "$scratch/work" && timeout -k 5 "${CASE_TIMEOUT:-300}" bash -c "$command") \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    if complaint=$(
        [ "$code" = "$want_code" ] || echo "  exit code $code, wanted $want_code"
        compare stdout "$scratch/out" "${want_out[@]}"
        compare stderr "$scratch/err" "${want_err[@]}"
    ) && [ -z "$complaint" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $file:$number: $command"
        echo "$complaint"
    fi
    command=
}

start_case() {
    finish_case
    command=$1 number=$line_number want_out=() want_err=() want_code=0 needs=
}

run_transcript() {
    local file=$1 line line_number=0
    command=
    while IFS= read -r line || [ -n "$line" ]; do
        line_number=$((line_number + 1))
        case $line in
        '$ '*) start_case "${line:2}" ;;
        '> '*) command+=$'\n'${line:2} ;;
        '|~ '*) want_out+=("~${line:3}") ;;
        '| '* | '|') want_out+=("=${line:2}") ;;
        '!~ '*) want_err+=("~${line:3}") ;;
        '! '*) want_err+=("=${line:2}") ;;
        '= '*) want_code=${line:2} ;;
        '% '*) needs+=" ${line:2}" ;;
        esac
    done <"$file"
    finish_case
}

if [ $# -gt 0 ]; then
    files=("$@")
else
    files=("$root"/tests/cli/*.t)
fi
for file in "${files[@]}"; do
    [ -f "$file" ] || {
        echo "error: there is no transcript \"$file\"" >&2
        exit 2
    }
    run_transcript "$file"
done
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
