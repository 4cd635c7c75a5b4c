#!/usr/bin/env bash
# Installs from Debian what dllm needs. Quick, and silent but for one line, when all of it is there.
# usage: scripts/install_deps.sh [build|all]
#   build   only what compiling needs; without it also what the tests use
#   all     also what the comparisons with llama.cpp, the tests in a terminal and those of completion use,
#           which are skipped without it
set -eu

# A tool counts as present when it runs, wherever it came from; a library when its package is there.
tools_build="gcc:gcc make:make ld:binutils"
packages_build="libc6-dev libpcre2-dev libjansson-dev libedit-dev"
tools_test="g++:g++ python3:python3 timeout:coreutils curl:curl pkg-config:pkg-config parallel:parallel"
packages_test="libcmocka-dev"
tools_peers="npm:npm node:nodejs zsh:zsh fish:fish groff:groff-base"
packages_peers="python3-numpy ca-certificates python3-pyte chromium"

tools=$tools_build packages=$packages_build
case "${1:-test}" in
build | test | all) ;;
*)
    echo "usage: scripts/install_deps.sh [build|all]" >&2
    exit 2
    ;;
esac
[ "${1:-}" = build ] || tools="$tools $tools_test" packages="$packages $packages_test"
[ "${1:-}" != all ] || tools="$tools $tools_peers" packages="$packages $packages_peers"

missing=""
for pair in $tools; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if command -v dpkg-query >/dev/null 2>&1; then
    for package in $packages; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || missing="$missing $package"
    done
elif [ -n "$missing" ]; then
    echo "error: no apt-get here; install these by hand:$missing $packages" >&2
    exit 1
else
    echo "not a Debian system: make sure that these are installed: $packages"
    exit 0
fi

if [ -z "$missing" ]; then
    echo "dependencies: all there"
    exit 0
fi

as_root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "error: missing:$missing; run this as root, or install sudo" >&2
        exit 1
    }
    as_root="sudo"
fi
echo "dependencies: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq || echo "warning: the package lists could not all be refreshed" >&2
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "dependencies: installed"
