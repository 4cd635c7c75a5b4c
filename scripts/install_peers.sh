#!/usr/bin/env bash
# Installs the packages that tests and benchmarks compare with into build/peers (not part of the build):
# llama.cpp's shared libraries, and a published full-size vocabulary.
# usage: scripts/install_peers.sh PACKAGE[@VERSION]...
# Quick when they are there. Exit status 77: the registry could not be reached.
set -eu
cd "$(dirname "$0")/.."
dir=build/peers
missing=()
for package in "$@"; do
    [ -d "$dir/node_modules/${package%@[0-9]*}" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
command -v npm >/dev/null 2>&1 || {
    echo "npm is not installed (scripts/install_deps.sh all brings it)"
    exit 77
}
mkdir -p "$dir"
[ -f "$dir/package.json" ] || echo '{"private": true}' >"$dir/package.json"
# Two tests may ask at once.
exec 9>"$dir/lock"
flock 9
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --prefix "$dir" "${missing[@]}" >&2 || {
    echo "npm could not install ${missing[*]}"
    exit 77
}
