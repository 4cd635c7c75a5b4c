#!/usr/bin/env bash
# Checks that a file includes only its own floor and those its room may see (docs/architecture.md).
# usage: scripts/check_layers.sh [ROOT]
# Reads the #include lines under ROOT (default: the repository) and prints every edge that is not allowed.
set -eu
cd "${1:-$(dirname "$0")/..}"

# What each room may include besides its own headers: rooms, or single headers of a room. Any room may
# include src/base and include/dllm.h.
allowed() {
    case $1 in
    src/base) ;;
    src/format | src/text) ;;
    kernels/cpu) echo "src/format/blocks.h src/format/dtype.h" ;;
    src/backend) echo "src/format kernels/cpu" ;;
    src/model) echo "src/format src/backend/backend.h src/backend/pick.h" ;;
    src/decode) echo "src/backend/pick.h src/model/forward.h src/model/kvcache.h" ;;
    src/engine) echo "src/format src/text kernels/cpu src/backend src/model src/decode" ;;
    src/cli) ;;
    include) ;;
    *) echo "unknown" ;;
    esac
}

# Libraries from outside, and the only rooms that may know of them.
foreign() {
    case $1 in
    pcre2.h) echo "src/text" ;;
    jansson.h) echo "src/cli" ;;
    pthread.h | sched.h) echo "src/base" ;;
    esac
}

bad=0 edges=0
complain() {
    echo "$1"
    bad=$((bad + 1))
}

check_own() { # file line room header
    local found room seen
    found=$(find include src kernels -name "$4" -type f | head -n 1)
    if [ -z "$found" ]; then
        complain "$1:$2: no header $4 in include, src or kernels"
        return
    fi
    room=$(dirname "$found")
    edges=$((edges + 1))
    [ "$room" != "$3" ] || return 0
    [ "$found" != include/dllm.h ] || return 0
    if [ "$3" != src/cli ] && [ "$room" = src/base ]; then return 0; fi
    for seen in $(allowed "$3"); do
        if [ "$seen" = "$room" ] || [ "$seen" = "$found" ]; then return 0; fi
    done
    complain "$1:$2: $3 may not include $found"
}

check_foreign() { # file line room header
    local homes
    homes=$(foreign "$4")
    [ -z "$homes" ] || [[ " $homes " = *" $3 "* ]] ||
        complain "$1:$2: only $homes may include <$4>"
}

while IFS=: read -r file line text; do
    room=$(dirname "$file")
    if [ "$(allowed "$room")" = unknown ]; then
        complain "$file:$line: $room is no room of the house: add it to scripts/check_layers.sh"
        continue
    fi
    header=$(echo "$text" | sed -E 's/^ *# *include *["<]([^">]*)[">].*/\1/')
    case $text in
    *\"*) check_own "$file" "$line" "$room" "$header" ;;
    *) check_foreign "$file" "$line" "$room" "$header" ;;
    esac
done < <(grep -rnE '^ *# *include *["<]' --include='*.c' --include='*.h' include src kernels)

# One name, one file: an include line then says which header it means.
while read -r name; do
    complain "two headers are called $name"
done < <(find include src kernels -name '*.h' -type f -printf '%f\n' | sort | uniq -d)

[ "$bad" = 0 ] || exit 1
echo "layers: $edges include lines follow the table"
