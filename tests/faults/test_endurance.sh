#!/usr/bin/env bash
# Long work, in its short form: scripts/endurance.sh with fewer requests and steps.
cd "$(dirname "$0")/../.." || exit 1
exec scripts/endurance.sh -n 500 -s 1
