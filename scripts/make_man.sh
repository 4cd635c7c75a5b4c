#!/usr/bin/env bash
# Writes the manual page to standard output: packaging/dllm.1.in, then a section per command, made from its
# help text, which comes from the option tables.
# usage: scripts/make_man.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/dllm}
sed "s/@VERSION@/$(cat VERSION)/" packaging/dllm.1.in
for command in $("$program" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help); do
    "$program" help "$command" | awk -v command="$command" '
        function roff(text) {
            gsub(/\\/, "\\e", text)
            gsub(/-/, "\\-", text)
            return text ~ /^[.\047]/ ? "\\&" text : text
        }
        FNR == 1 { print ".SH \"DLLM " toupper(command) "\""; sub(/^usage: /, ""); print ".B " roff($0); print ".PP"; next }
        # The columns of a help text: names from 3, meaning from 29.
        /^  [^ ]/ || /^      --/ {
            name = substr($0, 3, 26); rest = substr($0, 29)
            if (substr($0, 28, 1) != " " && length($0) > 27) { name = substr($0, 3); rest = "" }
            gsub(/^ +| +$/, "", name)
            print ".TP"; print ".B " roff(name)
            if (rest != "") print roff(rest)
            options = 1; next
        }
        options && substr($0, 1, 28) ~ /^ +$/ { print roff(substr($0, 29)); next }
        /^$/ { print ".PP"; next }
        { print roff($0) }'
done
