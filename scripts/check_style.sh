#!/usr/bin/env bash
# Checks what a script can check of the style: line and file length, function length, the purpose at the
# head of a file, a comment at every prototype, no tabs.
# usage: scripts/check_style.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
sources=$(find include src kernels tests bench scripts docs -type f -regex '.*\.\([ch]\|cpp\|cuh?\)' 2>/dev/null | sort)
bad=0
report() { # title, findings on stdin
    local findings
    findings=$(cat)
    [ -n "$findings" ] || return 0
    echo "$1:"
    echo "$findings" | sed 's/^/  /'
    bad=1
}

# shellcheck disable=SC2046,SC2086
{
    report "lines over 100 columns" < <(LC_ALL=C.UTF-8 grep -nP '^.{101,}' $sources | cut -c1-90)
    report "tabs or blanks at a line's end" < <(grep -nP '\t|[ \t]+$' $sources | cut -c1-90)
    report "asm outside ptx.cuh, or a launch with <<<>>>, which the emulator cannot read" < <(
        grep -nE '(^|[^a-z_])asm[ (v]|<<<.*>>>' $(echo "$sources" | grep '^kernels/cuda/.*\.cuh\?$') /dev/null |
            grep -vE '^kernels/cuda/ptx.cuh:|^[^:]*:[0-9]+: +\*|^[^:]*:[0-9]+: */\*' | cut -c1-90)
    report "files over 800 lines" < <(wc -l $sources | awk '$2 != "total" && $1 > 800')
    report "files that do not open with their purpose" < <(
        awk 'FNR == 1 && !/^\/[*\/]/ { print FILENAME }' $sources)

    # clang-format puts a function's braces alone in the first column.
    lengths=$(awk '
        FNR == 1 { head = ""; open = 0 }
        /^\{$/ && head !~ /^namespace|^extern "C"/ { open = FNR; next }
        /^\}/ && open { print FNR - open - 1, FILENAME ":" open ": " head; open = 0; next }
        !open && (/^[A-Za-z_].*\(/ || /^namespace/) { head = $0 }' $sources)
    report "functions over 80 lines (150 with vector instructions and in kernels of a GPU)" < <(
        echo "$lengths" | awk '
            { limit = $2 ~ /_avx2|vnni|kernels\/.*\.(h|cuh?):/ ? 150 : 80 }
            $1 > limit')

    mapfile -t headers < <(echo "$sources" | grep '\.h$')
    # A prototype, or a group of them without a blank line between, stands under a comment.
    report "prototypes without a comment" < <(
        awk '
                FNR == 1 { covered = 0; text = "" }
                text == "" && /^[a-zA-Z_].*\(/ && !/^(typedef|#|extern "C"|static|_Static_assert|return|ALWAYS_INLINE)/ &&
                    !/^[A-Z_0-9]+\(/ && !/^enum .*\{/ {
                    text = $0; at = FNR; own = covered
                }
                text != "" {
                    if (/;[ ]*(\/\*.*\*\/)?$/) {
                        if (!own && $0 !~ /\/\*/) print FILENAME ":" at ": " text
                        text = ""
                        covered = 1
                    } else if (/^\{/ || /[{]$/) text = ""
                    next
                }
                /\*\/$/ || /^(enum .*)?};$/ { covered = 1; next }
                { covered = 0 }' "${headers[@]}")
}
[ "$bad" = 0 ] || exit 1
echo "$lengths" | sort -n | awk '
    { n[NR] = $1 }
    END { printf "style: %d functions, median %d lines, 90%% under %d\n", NR, n[int((NR + 1) / 2)], n[int(NR * .9) + 1] }'
