#!/usr/bin/env bash
# Packs the installed tree into $BUILD/dllm_VERSION_ARCH.deb. Needs dpkg-deb and no rights of root.
# usage: scripts/make_deb.sh
# environment: BUILD (build)
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
version=$(cat VERSION)
arch=$(dpkg --print-architecture)
tree=$build/deb
rm -rf "$tree"
make --no-print-directory install BUILD="$build" DESTDIR="$tree" PREFIX=/usr >/dev/null
strip --strip-unneeded "$tree/usr/bin/dllm" "$tree/usr/lib/libdllm.so.$version"
strip --strip-debug "$tree/usr/lib/libdllm.a"
# Debian's zsh looks elsewhere for what packages bring.
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
gzip -9n "$tree/usr/share/man/man1/dllm.1"
install -D -m 644 LICENSE "$tree/usr/share/doc/dllm/copyright"
# The newest version of libc that a symbol of the program or the library asks for.
glibc=$(objdump -T "$tree/usr/bin/dllm" "$tree/usr/lib/libdllm.so" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -V | tail -1)
install -d "$tree/DEBIAN"
echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
sed "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@GLIBC@/$glibc/" packaging/control.in >"$tree/DEBIAN/control"
dpkg-deb --root-owner-group -z2 --build "$tree" "$build/dllm_${version}_$arch.deb" >/dev/null
echo "$build/dllm_${version}_$arch.deb"
