#!/usr/bin/env bash
# Writes a GGUF file to stdout: one F32 matrix of zeros, a.weight, 4 rows of 64.
set -eu
le() { # VALUE BYTES: little endian
    printf "$(printf '%016x\n' "$1" | fold -w2 | tac | head -n "$2" | sed 's/^/\\x/' | tr -d '\n')"
}
printf GGUF
le 3 4 # version, one tensor, no keys
le 1 8
le 0 8
le 8 8 # name, two dimensions, F32, offset
printf a.weight
le 2 4
le 64 8
le 4 8
le 0 4
le 0 8
head -c 24 /dev/zero # up to a multiple of 32
head -c 1024 /dev/zero
