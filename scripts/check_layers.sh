#!/usr/bin/env bash
# Checks that a file includes only its own floor and those its room may see (docs/architecture.md).
# usage: scripts/check_layers.sh [ROOT]
# Reads the #include lines under ROOT (default: the repository) and prints every edge that is not allowed.
set -eu
cd "${1:-$(dirname "$0")/..}"

{
    # What each room may include besides its own headers and include/dllm.h: rooms, or single headers.
    # Then the headers of tests that one file includes, the libraries from outside, and the only rooms that
    # may know of them.
    cat <<'TABLE'
room src/base
room src/format       src/base
room src/text         src/base
room kernels/cpu      src/base src/format/blocks.h src/format/dtype.h
room kernels/cuda     src/format/blocks.h src/format/dtype.h kernels/cpu/activations.h kernels/cpu/grid_tables.h kernels/cpu/grid_digits.h
room src/backend      src/base src/format kernels/cpu kernels/cuda
room src/model        src/base src/format src/backend/backend.h src/backend/pick.h
room src/decode       src/base src/backend/pick.h src/model/forward.h src/model/kvcache.h
room src/quantize     src/base src/format kernels/cpu/kernels.h kernels/cpu/half.h kernels/cpu/activations.h kernels/cpu/cpu_features.h
room src/engine       src/base src/format src/text kernels/cpu src/backend src/model src/decode
room src/hub
room src/cli          src/hub/hub.h
room include
borrowed cuda_emu.h   kernels/cuda/gpu.cuh
borrowed emu_ptx.h    kernels/cuda/ptx.cuh
foreign pcre2.h       src/text
foreign jansson.h     src/cli src/hub
foreign histedit.h    src/cli
foreign pthread.h     src/base src/cli
foreign cuda_runtime.h      kernels/cuda/gpu.cuh
foreign cuda_fp16.h         kernels/cuda/gpu.cuh
foreign cuda_bf16.h         kernels/cuda/gpu.cuh
foreign cuda_runtime_api.h  src/backend
foreign sched.h       src/base
TABLE
    find include src kernels -type f -regex '.*\.\(h\|cuh\)' -printf 'header %f %p\n'
    grep -rnE '^ *# *include *["<]' --include='*.[ch]' --include='*.cu' --include='*.cuh' include src kernels |
        sed -E 's/^([^:]*):([0-9]+): *# *include *(["<])([^">]*).*/line \1 \2 \3 \4/'
} | awk '
    function complain(text) { print text; bad = 1 }
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    function places(words) { sub(/^[^ ]+ +[^ ]+ +/, "", words); return words }
    function lists(words, a, b,    n, parts, i) {
        n = split(words, parts, " ")
        for (i = 3; i <= n; i++) if (parts[i] == a || parts[i] == b) return 1
        return 0
    }
    $1 == "room" { room[$2] = $0 }
    $1 == "foreign" { foreign[$2] = $0 }
    $1 == "borrowed" { borrower[$2] = $3 }
    $1 == "header" {
        # One name, one file: an include line then says which header it means.
        if ($2 in where) complain("two headers are called " $2 ": " where[$2] " and " $3)
        where[$2] = $3
    }
    $1 == "line" {
        place = $2 ":" $3; own = folder($2); header = $5; lines++
        if (!(own in room))
            complain(place ": " own " is no room of the house: add it to scripts/check_layers.sh")
        else if ($4 == "<") {
            if (header in foreign && !lists(foreign[header], own, $2))
                complain(place ": only " places(foreign[header]) \
                         " may include <" header ">")
        } else if (borrower[header] == $2) {
            # The other half of this file, for the compiler of tests.
        } else if (!(header in where))
            complain(place ": no header " header " in include, src or kernels")
        else {
            target = where[header]; home = folder(target)
            if (home != own && target != "include/dllm.h" && !lists(room[own], home, target))
                complain(place ": " own " may not include " target)
        }
    }
    END {
        if (bad) exit 1
        print "layers: " lines " include lines follow the table"
    }'
