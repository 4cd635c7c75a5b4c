#!/usr/bin/env bash
# Checks the documentation: every block of commands that opens with "```sh test" runs and succeeds, every
# link to a file or to a heading of one leads there, and the tables of measurements are those that bench/results gives.
# usage: scripts/check_docs.sh
# Commands run as if in the root of the tree, but what they write goes to a scratch folder.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath -m "${BUILD:-build}")
[ -x "$build/dllm" ] || {
    echo "error: $build/dllm is missing; run make first" >&2
    exit 1
}
# What the build was made with holds for the commands that call make, too.
[ ! -r "$build/configured" ] || read -r CUDA _ <"$build/configured"
[ -z "${CUDA:-}" ] || export CUDA
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pages=(README.md CONTRIBUTING.md NEWS.md docs/*.md bench/results/README.md)
bad=0 blocks=0 links=0

# The tree as a reader sees it, with the build folder under its usual name.
for name in README.md VERSION LICENSE Makefile bench docs include kernels models packaging scripts src tests; do
    ln -s "$PWD/$name" "$scratch/$name"
done
ln -s "$build" "$scratch/build"

# The names by which the headings of a page are linked: small letters, blanks as dashes, no other signs.
anchors() {
    awk '/^```/ { code = !code } !code' "$1" | sed -nE 's/^#+ +(.*)$/\1/p' | tr '[:upper:] ' '[:lower:]-' |
        sed 's/[^a-z0-9_-]//g'
}

for page in "${pages[@]}"; do
    mkdir "$scratch/blocks"
    awk -v folder="$scratch/blocks" '
        /^```sh test$/ { n++; file = sprintf("%s/%03d-line-%d", folder, n, FNR + 1); next }
        /^```/ { file = "" }
        file != "" { print >file }' "$page"
    for block in "$scratch"/blocks/*; do
        [ -e "$block" ] || continue
        blocks=$((blocks + 1))
        output=$(cd "$scratch" && timeout 900 bash -eu "$block" 2>&1 </dev/null) || {
            echo "$page, commands at ${block##*-line-}:"
            tail -n 5 <<<"$output"
            bad=1
        }
    done
    rm -rf "$scratch/blocks"
    while IFS='#' read -r target heading; do
        links=$((links + 1))
        target=${target:+$(dirname "$page")/$target}
        [ -e "${target:-$page}" ] || {
            echo "$page: link to $target, which is not there"
            bad=1
        }
        [ -z "$heading" ] || anchors "${target:-$page}" | grep -qxF -- "$heading" || {
            echo "$page: link to the heading #$heading, which ${target:-$page} does not have"
            bad=1
        }
    done < <(grep -oE '\]\([^): ]+\)' "$page" | sed -E 's/^\]\(//; s/\)$//')
done
scripts/bench_table.py --check || bad=1
[ "$bad" = 0 ] || exit 1
echo "docs: $blocks blocks of commands run, $links links lead somewhere"
