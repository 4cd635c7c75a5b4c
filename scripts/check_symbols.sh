#!/usr/bin/env bash
# Checks what the library shows and what it calls: it defines only dllm_ symbols, and never exits, aborts
# or prints.
# usage: scripts/check_symbols.sh [ARCHIVE]
set -eu
cd "$(dirname "$0")/.."
archive=${1:-${BUILD:-build}/libdllm.a}
[ -f "$archive" ] || {
    echo "error: $archive is missing; run make first" >&2
    exit 1
}

# Without what NVIDIA's runtime, which may be in the archive, calls.
own=${archive%.a}_own.o
[ -f "$own" ] || own=$archive

forbidden='^(_?exit|_Exit|quick_exit|abort|raise|__assert_fail|perror|psignal|puts|putchar|putc|fputs|fputc'
forbidden+='|fwrite|v?printf|vf?printf|v?dprintf|fprintf|__v?f?d?printf_chk|stdout|stderr|err|errx|warn|warnx)$'

bad=0
defined=$(nm -g --defined-only -- "$archive" | awk 'NF == 3 { print $3 }')
while read -r symbol; do
    echo "$archive defines $symbol: not a dllm_ name (make it static, or hidden)"
    bad=1
done < <(echo "$defined" | grep -vE '^dllm_|^$' || true)
while read -r symbol; do
    echo "$archive calls $symbol: the library returns an error instead"
    bad=1
done < <(nm -u -- "$own" | awk 'NF == 2 { print $2 }' | grep -E "$forbidden" || true)
[ -n "$defined" ] || {
    echo "$archive defines nothing"
    bad=1
}
[ "$bad" = 0 ] || exit 1
echo "symbols: $(echo "$defined" | wc -l) public ones, all dllm_"
