Help and version: on stdout, exit code 0.

$ dllm --version
|~ dllm [0-9]*.[0-9]*.[0-9]*
$ dllm help | grep -c "^  [a-z]"
| 14

$ dllm help > a; for how in "help help" "help --help" --help -h; do dllm $how | cmp - a; done

# --help wins over every other problem ...
$ dllm run --bogus --steps 0 --steps 0 --help | head -1
| usage: dllm run [-m MODEL] [PROMPT] [options]
$ dllm frobnicate -h | tail -1
| dllm --version prints the version.
$ dllm logits -h | head -1
| usage: dllm logits [-m MODEL] --tokens IDS --out FILE [options]

# ... unless it is an option's value, or stands after "--".
$ dllm run -m none.gguf --prompt --help
!~ error: there is no file "none.gguf"*
= 1
$ dllm run -m none.gguf -- --help
!~ error: there is no file "none.gguf"*
= 1

# No line of a help text is wider than a terminal.
$ for c in $(dllm help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help); do dllm help $c; done | awk 'length > 80'

# docs/cli.md shows the help texts as they are. If this fails, run scripts/make_cli_docs.sh.
$ for c in $(dllm help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help); do
>   dllm help $c | diff - <(sed -n "/^<!-- help $c -->/,/^\`\`\`\$/p" "$root/docs/cli.md" | sed '1,2d;$d')
> done
