# Counts what holds; sourced by scripts that end with a line of the counts.
# shellcheck shell=bash
passed=0 failed=0

expect() { # name, then a command that must succeed
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name: ${output:-$*}"
    fi
}
