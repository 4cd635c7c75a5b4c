#!/usr/bin/env bash
# Runs a command and interrupts it, as ctrl-c does, as soon as it listens to that; ends with its exit code.
# usage: tests/cli/interrupt.sh [-u CONDITION] COMMAND [ARGUMENT]...
#   -u CONDITION   not before this holds too: commands of the shell, whose errors are not shown
# No clock decides: not when a slow machine starts the command, and not what it has done by then.
set -um # a job in the background has its own group then, and does not ignore SIGINT
condition=true
if [ "$1" = -u ]; then
    condition=$2
    shift 2
fi

# Whether it is the command, no longer the shell's copy, and catches SIGINT (signal 2).
listens() {
    [ "$(cat "/proc/$pid/comm")" = "${command:0:15}" ] &&
        ((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status") & 1 << 1))
} 2>/dev/null

command=${1##*/}
"$@" <&0 &
pid=$!
# Its own group is not ended with that of the test.
trap 'kill -KILL "$pid"' TERM INT HUP
while kill -0 "$pid" 2>/dev/null; do
    if listens && eval "$condition" 2>/dev/null; then
        kill -INT "$pid"
        break
    fi
    sleep 0.01
done
wait "$pid"
