#!/usr/bin/env bash
# What make install puts down must work where it lies, and after being moved: program, manual page,
# completions, and the library through pkg-config, from C and from Python. make uninstall must take all of
# it away again, and the Debian package must hold the same.
# environment: BUILD (build)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
root=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
model=$root/tests/data/models/llada-Q4_K_M.gguf
question="Hello there"
skipped=0
. "tests/support/expect.sh"

# The same for what is not installed everywhere: "TOOL NAME COMMAND...".
expect_with() {
    local tool=$1
    shift
    if command -v "$tool" >/dev/null 2>&1; then
        expect "$@"
    else
        skipped=$((skipped + 1))
    fi
}

install_into() (
    umask 077
    make --no-print-directory BUILD="$build" "$1" DESTDIR="$tree/first tree" PREFIX=/opt/dllm
)
holds() { grep -qxF -- "$2" <<<"$1" || { echo "no line '$2' in: $1"; return 1; }; }
lacks_path() { ! grep -rlF -- "$1" "$2"; }

expect "install" install_into install
expect "everybody may read what was installed" \
    test -z "$(find "$tree/first tree/opt/dllm" ! -type l ! -perm -o=r)"
mkdir "$tree/moved"
mv "$tree/first tree/opt/dllm" "$tree/moved/prefix"
prefix=$tree/moved/prefix
expect "the program runs where it was moved to" test "$("$prefix/bin/dllm" --version)" = "dllm $(cat VERSION)"
expect "no file but objects with debug lines knows the folder it was built in" \
    lacks_path "$root" "$prefix/share"
answer=$("$prefix/bin/dllm" run -m "$model" -n 32 "$question")

# The manual page names every command and every option.
page=$prefix/share/man/man1/dllm.1
expect_with groff "the manual page is sound" \
    test -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)"
for command in $("$prefix/bin/dllm" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help); do
    for option in $("$prefix/bin/dllm" help "$command" | grep -oE '^  .{4}--[a-z-]+' | grep -oE '[a-z][a-z-]+$'); do
        grep -qF -- "\\-\\-${option//-/\\-}" "$page" || missing="${missing:-} $command --$option"
    done
done
expect "the manual page has every option" test -z "${missing:-}"
for variable in $(grep -rhoE 'getenv\("[A-Z_]+' src | sed 's/.*"//' | grep -vxE 'HOME|PATH'); do
    grep -qw "$variable" "$page" || unnamed="${unnamed:-} $variable"
done
expect "the manual page has every variable of the environment" test -z "${unnamed:-}"

# Completions, as the shells offer them.
bash_offers() { bash tests/scripts/complete.bash "$prefix/share/bash-completion/completions/dllm" "$@"; }
expect "bash: commands" holds "$(bash_offers dllm to)" tokenize
expect "bash: options" holds "$(bash_offers dllm run --rem)" --remasking
expect "bash: values" holds "$(bash_offers dllm run --remasking en)" entropy
expect "bash: values after =" holds "$(bash_offers dllm run --remasking = topk)" topk_margin
expect "bash: models" holds "$(bash_offers dllm tokenize -m dr)" dream
expect "bash: files" holds "$(bash_offers dllm run -m READ)" README.md
expect "bash: an option of another command is not offered" test -z "$(bash_offers dllm inspect --remas)"
fish_offers() {
    fish --no-config -c "source '$prefix/share/fish/vendor_completions.d/dllm.fish'; complete -C '$1'" | cut -f1
}
if command -v fish >/dev/null; then
    expect "fish: commands" holds "$(fish_offers "dllm tok")" tokenize
    expect "fish: options" holds "$(fish_offers "dllm run --rem")" --remasking
    expect "fish: values" holds "$(fish_offers "dllm run --remasking en")" entropy
else
    skipped=$((skipped + 3))
fi
zsh_completes() { # line, what it must become
    local shown
    shown=$(timeout 600 zsh -f tests/scripts/complete.zsh "$prefix/share/zsh/site-functions" "$1")
    [[ $shown == *"$2"* ]] || {
        echo "$shown"
        return 1
    }
}
expect_with zsh "zsh: commands" zsh_completes "dllm tok" "dllm tokenize"
expect_with zsh "zsh: options" zsh_completes "dllm run --remask" "--remasking"
expect_with zsh "zsh: values" zsh_completes "dllm run --remasking topk" "topk_margin"

# A program against the library, shared and static, as pkg-config says.
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags() { pkg-config --define-variable=prefix="$prefix" "$@"; }
# shellcheck disable=SC2046
{
    expect_with pkg-config "a shared build" \
        cc docs/example.c $(flags --cflags --libs dllm 2>/dev/null) -o "$tree/shared"
    expect_with pkg-config "a static build" \
        cc docs/example.c $(flags --cflags dllm 2>/dev/null) "$prefix/lib/libdllm.a" \
        $(pkg-config --static --libs-only-l dllm 2>/dev/null | sed 's/-ldllm//') -o "$tree/static"
}
example_says() { # program
    local said
    said=$(LD_LIBRARY_PATH=$prefix/lib "$1" "$model" "$question")
    [ "$said" = "$answer" ] || {
        echo "$said, not $answer"
        return 1
    }
}
expect_with pkg-config "the shared program answers as dllm run does" example_says "$tree/shared"
expect_with pkg-config "the static program answers as dllm run does" example_says "$tree/static"
expect "docs/example.c is short" test "$(wc -l <docs/example.c)" -lt 70

# The shared library shows what the archive shows.
symbols() { nm "$@" | awk 'NF == 3 { print $3 }' | sort -u; }
expect "the shared library has the public symbols" \
    test "$(symbols -D --defined-only "$prefix/lib/libdllm.so")" = "$(symbols -g --defined-only "$prefix/lib/libdllm.a")"
expect "every public function is in the header" test -z "$(
    for name in $(symbols -g --defined-only "$prefix/lib/libdllm.a"); do
        grep -q "\\b$name(" include/dllm.h || echo "$name"
    done)"

# Python: ids, answer and logits are those of the program.
python_says() {
    local said best
    said=$(/usr/bin/python3 docs/example.py "$prefix/lib/libdllm.so" "$model" "$question") || return 1
    ids=$("$prefix/bin/dllm" tokenize -m "$model" "$question")
    "$prefix/bin/dllm" logits -m "$model" --tokens "$ids" -o "$tree/logits.npy" || return 1
    best=$(/usr/bin/python3 -c "import numpy, sys; a = numpy.load(sys.argv[1]); print(a.shape, 'best of the last row:', a[-1].argmax())" "$tree/logits.npy")
    [ "$said" = "ids: $ids"$'\n'"answer: $answer"$'\n'"logits: $best" ] || {
        echo "$said"
        return 1
    }
}
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    expect "docs/example.py says what dllm says" python_says
else
    skipped=$((skipped + 1))
fi

# Uninstall leaves no file.
mv "$prefix" "$tree/first tree/opt/dllm"
expect "uninstall" install_into uninstall
expect "nothing is left" test -z "$(find "$tree/first tree" ! -type d)"

expect_with dpkg-deb "the Debian package is built" scripts/make_deb.sh
package=$build/dllm_$(cat VERSION)_$(dpkg --print-architecture 2>/dev/null).deb
package_runs() {
    dpkg-deb -x "$package" "$tree/deb" && test "$("$tree/deb/usr/bin/dllm" --version)" = "dllm $(cat VERSION)"
}
expect_with dpkg-deb "what it holds runs" package_runs

# dpkg puts it down in a root of its own, finds every file as it was packed, and takes all away again.
own_root() { dpkg --root="$tree/root" --log=/dev/null "$@"; }
package_installs() {
    mkdir -p "$tree/root/var/lib/dpkg/info" "$tree/root/var/lib/dpkg/updates"
    touch "$tree/root/var/lib/dpkg/status"
    own_root --force-depends -i "$package" && test -z "$(own_root --verify dllm)" &&
        test "$("$tree/root/usr/bin/dllm" --version)" = "dllm $(cat VERSION)" &&
        test -f "$tree/root/usr/share/zsh/vendor-completions/_dllm" &&
        own_root --purge dllm && test -z "$(find "$tree/root/usr" ! -type d 2>/dev/null)"
}
if [ "$(id -u)" = 0 ]; then
    expect_with dpkg "the package is installed and taken away" package_installs
else
    skipped=$((skipped + 1))
fi

# The container cannot be built here: its recipe must at least copy what is there.
expect "the container's recipe copies what make install makes" \
    test "$(sed -nE 's/^COPY --from=build \/out\/usr\/local\/([^ ]*) .*/\1/p' Containerfile)" = bin/dllm
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
