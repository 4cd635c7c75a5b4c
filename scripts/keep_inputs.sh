#!/usr/bin/env bash
# Keeps inputs that a fuzzer found in the tree, within limits: for whole models 64 KiB a file and 512 KiB in all,
# for every other program 4 KiB a file and 128 KiB in all. The smallest come first, until the next has no room.
# usage: scripts/keep_inputs.sh NAME FOLDER [CORPUS]
#   NAME    the program, as scripts/fuzz.sh names it
#   FOLDER  the inputs; those that CORPUS has under the same name are passed over
#   CORPUS  where they are kept (tests/fuzz/corpus/NAME)
# Says what was left out. Exit status 1, and nothing kept, when the corpus is beyond its limit already.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 2 ] && [ $# -le 3 ] || {
    sed -n 's/^# usage/usage/p' "$0" >&2
    exit 2
}
name=$1 folder=$2 corpus=${3:-tests/fuzz/corpus/$1}
case $name in
model) file_most=65536 most=524288 ;;
*) file_most=4096 most=131072 ;;
esac
held=$(find "$corpus" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')
[ "$held" -le $most ] || {
    echo "error: $corpus holds $held bytes; at most $most were expected: remove the largest inputs" >&2
    exit 1
}
left=0
while read -r size file; do
    [ ! -e "$corpus/$file" ] || continue
    if [ "$size" -gt $file_most ] || [ $((held + size)) -gt $most ]; then
        left=$((left + 1))
    else
        cp "$folder/$file" "$corpus/"
        held=$((held + size))
    fi
done < <(find "$folder" -maxdepth 1 -type f -printf '%s %f\n' | sort -n)
echo "$name: the corpus holds $held of $most bytes, $left inputs were left out"
