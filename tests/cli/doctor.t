What this machine offers, and models that do not fit.

# A line per check; what is in order is ok.
$ HF_HUB_CACHE=$PWD dllm doctor -m "$models/llada-Q4_K_M.gguf" | sed -E 's/(^.{11} [^ ]+) .*/\1/'
% curl
| processor   ok
| cores       ok
| memory      ok
| huge pages  ok
| GPU         ok
| programs    ok
| cache       ok
| model       ok

# What is not in order names the command that mends it, and the exit code says so.
$ HF_HUB_CACHE=none dllm doctor -m llada:Q8_0 | tail -2
| model       NOT OK llada:Q8_0 is not on this machine
|                    -> dllm pull llada:Q8_0
$ echo hello > x.gguf; HF_HUB_CACHE=none dllm doctor -m x.gguf >out; echo $?; tail -2 out
| 1
|~ model       NOT OK x.gguf: header at byte 0: not a GGUF file: *
|                    -> dllm inspect x.gguf
$ HF_HUB_CACHE=none dllm doctor -m none.gguf >out; echo $?; tail -2 out
| 1
| model       NOT OK cannot open 'none.gguf': No such file or directory; check the path
|                    -> give the path of a GGUF file, or a name of the hub (dllm help pull)
$ PATH=${PATH%%:*} HF_HUB_CACHE=$PWD dllm doctor > out; echo $?; while read -r line; do case $line in programs* | "-> apt"*) echo "$line" ;; esac; done < out
| 1
| programs    NOT OK curl is missing, which pull needs, sha256sum is missing, which pull needs
| -> apt-get install curl coreutils
$ env -u HOME -u HF_HOME -u XDG_CACHE_HOME -u HF_HUB_CACHE PATH="$PATH" dllm doctor | grep -A1 ^cache
| cache       NOT OK there is no place for models: neither HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME nor HOME is set; set one of them to a folder
|                    -> export HF_HUB_CACHE=FOLDER

# The same for programs.
$ HF_HUB_CACHE=none dllm doctor -m dream --json | python3 -c '
> import json, sys
> r = json.load(sys.stdin)
> print(r["ok"], [c["name"] for c in r["checks"]], r["checks"][-1])'
% python3
| False ['processor', 'cores', 'memory', 'huge pages', 'GPU', 'programs', 'cache', 'model'] {'name': 'model', 'ok': False, 'text': 'dream is not on this machine', 'fix': 'dllm pull dream'}

# A model that cannot fit (a file with a hole of 4 TiB behind its tensors) is refused before it is run.
$ cp "$models/llada-Q4_K_M.gguf" big.gguf; truncate -s 4T big.gguf; dllm run -m big.gguf -n 4 hi
!~ error: the model does not fit: it takes 4.00 TiB, * of them for a canvas of * positions, and * of memory are available; every step would read it from the disk. Take a smaller quantization or a shorter canvas, or insist with --force
= 1
$ cp "$models/llada-Q4_K_M.gguf" big.gguf; truncate -s 4T big.gguf
> dllm logits -m big.gguf --tokens 3,5 -o x; dllm bench -m big.gguf --reps 1; dllm doctor -m big.gguf | grep -o 'does not fit.*'
> dllm run -m big.gguf -n 4 hi --force | wc -l
| does not fit into memory
| 1
!~ error: the model does not fit: *
!~ error: the model does not fit: *

# What several sessions would take together counts, guidance and cache with it.
$ echo '{"prompt": "hi"}' | dllm run --input - --parallel 128 -n 1000000 --allow-long --cfg-scale 1 --cache dual 2> /dev/null
|~ *the model does not fit: it takes * of them for 256 canvases of 1000* positions, and * Take a smaller quantization or a shorter canvas, fewer at once (--parallel), no cache (--cache none), no guidance (--cfg-scale 0), or insist with --force"}
= 1
