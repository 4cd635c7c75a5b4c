#!/usr/bin/env bash
# Runs the kernels' tests on a GPU, then those of whole models (tests/gpu). Exit status 77: there is none. What
# passed is only known of the ptx.cuh that ran: tests/cuda/verified_on_gpu.txt lists versions of it with the card
# they passed on.
# usage: scripts/run_gpu_tests.sh [TEST]...     those of the kernels' tests alone
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
list=tests/cuda/verified_on_gpu.txt
hash=$(sha256sum kernels/cuda/ptx.cuh | cut -c1-16)

"$build/tests/test_gpu" "$@"
status=$?
if [ $status != 77 ] && [ $# = 0 ]; then
    for source in tests/gpu/test_*.c; do
        "$build/tests/gpu/$(basename "$source" .c)" || status=1
    done
fi
if known=$(grep "^$hash " "$list"); then
    echo "kernels/cuda/ptx.cuh: passed on ${known#* }"
elif [ $status = 0 ] && [ $# = 0 ]; then
    card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    echo "kernels/cuda/ptx.cuh: passed here for the first time; add to $list:"
    echo "$hash $(date -u +%F) ${card:-unknown card}"
else
    echo "kernels/cuda/ptx.cuh: not verified: this version has not passed on any GPU"
fi
exit $status
