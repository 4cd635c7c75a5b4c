#!/usr/bin/env bash
# Puts the help texts of the program into docs/cli.md, between "<!-- help COMMAND -->" and the end of the
# code block that follows. A test compares them.
# usage: scripts/make_cli_docs.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/dllm}
page=docs/cli.md
awk -v program="$program" '
    /^<!-- help [a-z]+ -->$/ {
        print; print "```text"; fflush()
        command = program " help " $3
        while ((command | getline line) > 0)
            print line
        close(command)
        print "```"
        skipping = 1
        next
    }
    skipping { if ($0 == "```") skipping = 0; next }
    { print }' "$page" >"$page.new"
mv "$page.new" "$page"
