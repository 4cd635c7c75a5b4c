#!/usr/bin/env bash
# Every check of the sources and of what was built from them; needs a built tree (make).
# usage: scripts/lint.sh
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
for check in scripts/check_*.sh; do
    "$check" || failed=1
done
if command -v shellcheck >/dev/null 2>&1; then
    git ls-files '*.sh' .ci/run | xargs shellcheck -S warning || failed=1
fi
[ "$failed" = 0 ] && echo "lint: clean"
exit $failed
