#!/usr/bin/env bash
# Runs every kernel test on the CPU, in each mode of the emulator; a line each, then the count.
# usage: scripts/run_cuda_modes.sh [--ptx] [--names | TEST...]     (test_ptx and so on, or transcripts; none: all)
#   --ptx     runs the kernels as nvcc translated them to PTX (make check-ptx)
#   --names   only prints which tests there are
#
# environment
#   BUILD      build folder (build)
#   CUDA_JOBS  runs at a time (cores)
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}

# Mode, build and order of threads, and of PTX its generation; random also makes cp.async land early or late.
modes='plain plain forward 0
reverse plain reverse 0
random-1 plain random 1
random-2 plain random 2
random-3 plain random 3
asan asan forward 0
race race forward 0
race-random race random 1'
ptx_modes='ptx plain random 1 80
ptx-race race forward 0 80
ptx-120 plain forward 0 120'

# What is not run in all of them: tests that set orders and seeds themselves, for what they run in processes
# of their own; long ones, of whose kernels test_gpu_forward and the kernels' tests see every order; and
# transcripts, which are about the host.
modes_of() { # test
    case $1 in
    test_planted | test_machines | test_gpu_models) echo "$modes" | grep ' forward ' ;;
    test_gpu_answers) echo "$modes" | grep -E '^(plain|random-1|asan|race) ' ;;
    transcripts | ptx_faults) echo "$modes" | head -n 1 ;;
    *) echo "$modes" ;;
    esac
}

# The longest first, so that none is left to the end.
all_tests="transcripts $(basename -s .c tests/gpu/test_*.c) $(basename -s .cpp tests/cuda/test_*.cpp \
    tests/cuda_emu/checks/test_*.cpp)"
ptx=
if [ "${1:-}" = --ptx ]; then
    shift
    ptx=yes
    modes=$ptx_modes
    all_tests="test_gpu_forward $(basename -s .cpp tests/cuda/test_*.cpp) ptx_faults"
fi
if [ "${1:-}" = --names ]; then
    echo "$all_tests"
    exit
fi
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all_tests
logs=$BUILD/cuda-logs
mkdir -p "$logs"

run_one() { # logs test mode build order seed [generation]
    local log=$1/$2.$3 status began=$EPOCHREALTIME
    local -a command=("$BUILD/cuda-$4/$2")
    case $2 in
    transcripts) command=(env DLLM="$BUILD/cuda-$4/dllm" tests/cli/run.sh tests/gpu/*.t) ;;
    ptx_faults) command=(tests/cuda_emu/checks/ptx_faults.sh) ;;
    esac
    [ -z "${7:-}" ] || export EMU_PTX=$BUILD/ptx-$7
    EMU_ORDER=$5 EMU_SEED=$6 timeout -k 5 900 "${command[@]}" >"$log" 2>&1 </dev/null
    status=$?
    awk -v name="$2 ($3)" -v status=$status -v a="$began" -v b="$EPOCHREALTIME" '
        /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p = $1; f = $3 }
        /^\[  PASSED  \] [0-9]+ test/ { p = $4 }
        /^ *[0-9]+ FAILED TEST/ { f = $1 }
        END {
            if (status && !f) f = 1
            printf "%-8s %-40s %4d passed, %d failed %7.1fs\n", f ? "FAILED" : "ok", name, p, f, b - a
        }' "$log"
    [ $status = 0 ] || sed 's/^/    /' "$log" | tail -n 40
}
export -f run_one

for test in "$@"; do
    modes_of "$test" | sed "s|^|$logs $test |"
done | xargs -P "${CUDA_JOBS:-$(nproc)}" -L 1 bash -c 'run_one "$@"' run_one | awk -v ptx="$ptx" '
    { print; fflush() }
    /^(ok|FAILED) / { for (i = 3; i < NF; i++) { if ($(i + 1) ~ /^passed/) p += $i; if ($(i + 1) ~ /^failed/) f += $i } }
    END { print (ptx ? "check-ptx" : "check-cuda") ": " p + 0 " passed, " f + 0 " failed"; exit f > 0 || p == 0 }'
