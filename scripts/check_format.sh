#!/usr/bin/env bash
# Checks that clang-format 14 would change nothing; skipped (77) where it is not installed.
# usage: scripts/check_format.sh
set -eu
cd "$(dirname "$0")/.."
for tool in clang-format-14 clang-format; do
    command -v "$tool" >/dev/null 2>&1 && break
done
"$tool" --version 2>/dev/null | grep -q 'version 14\.' || {
    echo "format: clang-format 14 is not installed"
    exit 77
}
mapfile -t files < <(git ls-files '*.[ch]' '*.cpp' '*.cu' '*.cuh')
printf '%s\n' "${files[@]}" | xargs "$tool" --dry-run -Werror
echo "format: ${#files[@]} files as clang-format writes them"
