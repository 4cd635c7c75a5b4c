Generation with the small models (random weights: the text means nothing, but it is always the same).

# Greedy ids of another implementation (the decoder's own tests have more of them).
$ dllm run -m "$models/llada-Q4_K_M.gguf" --prompt-tokens 3,5,17,300,99 -n 8 --steps 8 --block-length 8 --json |
>   python3 -c 'import json, sys; r = json.load(sys.stdin); print(len(r["generated_ids"]), r["prompt_tokens"])'
% python3
| 8 5

# Text goes to stdout with a final newline, nothing to stderr.
$ dllm run -m "$models/llada-Q4_K_M.gguf" "Hello" -n 16 > out && tail -c 1 out | od -An -tx1
|  0a

# The same answer whatever the spelling, the source of the prompt, the threads and the level.
$ m="$models/llada-Q4_K_M.gguf"
> dllm run -m "$m" "Hello there" -n 12 --steps 6 > a
> dllm run --model="$m" --prompt "Hello there" --max-tokens=12 --steps=6 > b
> printf 'Hello there' > p && dllm run -m"$m" --prompt-file p -n12 --steps 6 > c
> printf 'Hello there' | dllm run -m "$m" - -n 12 --steps 6 > d
> echo '[{"role": "user", "content": "Hello there"}]' > j && dllm run -m "$m" --messages j -n 12 --steps 6 > e
> dllm run -m "$m" -n 12 --steps 6 -t 3 --cpu-level ref --device cpu -- "Hello there" > f
> ids=$(dllm tokenize -m "$m" "Hello there" | tr -d '[] ')
> dllm run -m "$m" --prompt-tokens "$ids" -n 12 --steps 6 > g
> for other in b c d e f g; do cmp a $other; done

# As an operand - is standard input, as the value of --prompt it is text.
$ echo "What is 27 + 58?" | dllm run - -n 8; echo x > x; dllm run --prompt - -n 8 --json < x | grep -o '"prompt_tokens": [0-9]*'; dllm tokenize --pieces --no-chat -- - < x
| 85
| "prompt_tokens": 11
| 120	"x"
| 10	"\n"

# A seed repeats a run; another seed gives another one.
$ m="$models/dream-Q4_K_M.gguf"
> dllm run -m "$m" "Hello" -n 16 --temperature 1 --seed 7 > a
> dllm run -m "$m" "Hello" -n 16 --temperature 1 --seed 7 -t 1 > b
> dllm run -m "$m" "Hello" -n 16 --temperature 1 --seed 8 > c
> cmp a b; cmp -s a c || echo differs
| differs

# Every option that the model listens to does something or is at least accepted.
$ m="$models/dream-Q4_K_M.gguf"
> dllm run -m "$m" hi -n 8 --top-p 0.5 --top-k 5 --alg-temp 0.5 --eps 0.01 --temperature 0.7 > /dev/null &&
> dllm run -m "$m" hi -n 8 --threshold 0.5 > /dev/null &&
> dllm run -m "$m" hi -n 8 --factor 1 --remasking topk_margin > /dev/null &&
> dllm run -m "$m" hi -n 8 --remasking origin --no-early-stop --block-length 3 > /dev/null && echo dream
> m="$models/llada-Q4_K_M.gguf"
> dllm run -m "$m" hi -n 8 --cfg-scale 1.5 --eos-policy defer > /dev/null &&
> dllm run -m "$m" hi -n 8 --threshold 0.5 --eos-policy forbid > /dev/null &&
> dllm run -m "$m" hi -n 8 --remasking random --temperature 1 --seed 1 --system "" --parse-special > /dev/null &&
> dllm run -m "$m" hi -n 8 --no-chat --suffix " there" > /dev/null && echo llada
| dream
| llada

# A stop string ends the answer before it.
$ m="$models/llada-Q4_K_M.gguf"
> dllm run -m "$m" "Hello" -n 24 --block-length 8 --json | python3 -c '
> import json, sys; print(json.load(sys.stdin)["text"][5:8], end="")' > stop
> dllm run -m "$m" "Hello" -n 24 --block-length 8 --stop zzzzzz --stop "$(cat stop)" --json | python3 -c '
> import json, sys; r = json.load(sys.stdin); print(r["finish_reason"], open("stop").read() in r["text"])'
% python3
| stop False

# --json: one line, all fields; no other line.
$ dllm run -m "$models/dream-Q4_K_M.gguf" "Hello" -n 8 --json > out; wc -l < out
> python3 - out <<'PY'
> import json, sys
> r = json.load(open(sys.argv[1]))
> print(" ".join(sorted(r)))
> print(r["arch"], r["seed"], r["prompt_tokens"], r["finish_reason"], r["settings"]["temperature"],
>       r["settings"]["top_p"], r["settings"]["steps"], len(r["step_ms"]) == r["forward_passes"])
> PY
% python3
| 1
| answer_tokens arch cpu_level device finish_reason forward_passes generate_s generated_ids load_s model ms_per_step peak_rss_bytes prompt_tokens quantization rows_computed seed settings step_ms stopped_early text threads version workspace_bytes
| dream 42 33 length 0.2 0.95 8 True

# --verbose and --dump-step-stats write to stderr alone.
$ dllm run -m "$models/llada-Q4_K_M.gguf" "Hello there" -n 4 --steps 2 --verbose --dump-step-stats -t 2 > /dev/null
!~ dllm *: dllm run -m */llada-Q4_K_M.gguf 'Hello there' -n 4 --steps 2 --verbose --dump-step-stats -t 2
!~ model: "llada", llada, Q4_K + Q6_K, 1.36 MiB, loaded in *
!~ device: cpu (auto: no GPU: *), level *, 2 threads
!~ prompt: * tokens with chat template, canvas * (context length 2048)
! schedule: 2 steps, blocks of 4, remasking low_confidence, temperature 0, seed 42
!~ step 1 of 2: * s, 2 committed, confidence lowest * mean *
!~ step 2 of 2: * s, 2 committed, confidence lowest * mean *
!~ generated in * s: 2 steps of 2 computed, 2 forward passes, finish *
!~ per step: * ms = matmul * + attention * + head * + rest *
!~ answer: * tokens, * tokens per second
!~ computed: 42 rows, workspace *iB
!~ peak memory: * MiB

# What is not counted or not known is not made up.
$ LC_ALL=C sed 's/llada.context_length/llada.context_other_/' "$models/llada-Q4_K_M.gguf" > m.gguf
> dllm run -m m.gguf hi -n 4 --threshold 0.5 --verbose 2>&1 > /dev/null | grep -e ^prompt -e ^schedule
|~ prompt: * tokens with chat template, canvas * (the model states no context length)
| schedule: as many steps as it takes, blocks of 4, remasking low_confidence, temperature 0, seed 42, threshold 0.5
$ for m in llada dream; do
>   dllm run -m "$models/$m-Q4_K_M.gguf" hi -n 4 --entropy-bound 7 --temperature 0 --verbose 2>&1 > /dev/null |
>     grep -e ^schedule -e ^generated; done
| schedule: as many steps as it takes, blocks of 4, remasking entropy, temperature 0, seed 42, entropy-bound 7
|~ generated in * s: 2 steps of 2 computed, 2 forward passes, finish length
| schedule: as many steps as it takes, blocks of 4, remasking entropy, temperature 0, seed 42, entropy-bound 7
|~ generated in * s: 2 steps of 2 computed, 2 forward passes, finish length

# An option that is off is as good as left out, with every sampler and beside what it would contradict; only
# defaults and presets give way to it.
$ off="--top-k 0 --alg-temp 0. --threshold 0 --factor 0.0 --entropy-bound 0 --cfg-scale 0 --eos-policy none"
> off="$off --cache-refresh 0 --prompt-refresh 0"
> for m in llada dream; do for o in "--temperature 1" "--steps 3 --remasking random" "--early-commit" "--quality fast --steps 4" "--factor 0.5" "--entropy-bound 2"; do
>   settings() { dllm run -m "$models/$m-Q4_K_M.gguf" hi -n 8 --no-chat --json "$@" | grep -o '"settings.*"text"[^,]*'; }
>   more=$off; case $o in --factor*) more=${off/--factor 0.0/};; --entropy*) more=${off/--entropy-bound 0/};; esac
>   settings $o > a; settings $o $more --top-p 1 > b; cmp a b && cat a; done; done | wc -l
| 12
$ for o in "" "--threshold 0" "--factor 0" "--cache none --entropy-bound 0 --threshold 0"; do
>   dllm run -m "$models/dream-Q4_K_M.gguf" hi -n 64 --quality fast --temperature 0 $o --verbose 2>&1 > /dev/null | sed -n 's/, temperature 0, seed 42//; s/^schedule: //p'; done
> dllm run -m "$models/dream-Q4_K_M.gguf" hi -n 4 --top-p 1 --verbose 2>&1 > /dev/null | grep ^schedule
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.8, cache dual
| 64 steps, blocks of 32, remasking entropy, cache dual
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.8, cache dual
| 64 steps, blocks of 32, remasking entropy
| schedule: 4 steps, blocks of 4, remasking entropy, temperature 0.2, seed 42

# The rule that an entropy bound implies may be named.
$ for m in llada dream; do
>   dllm run -m "$models/$m-Q4_K_M.gguf" hi -n 4 --entropy-bound 7 --remasking entropy --verbose 2>&1 > /dev/null | grep ^schedule; done
| schedule: as many steps as it takes, blocks of 4, remasking entropy, temperature 0, seed 42, entropy-bound 7
| schedule: as many steps as it takes, blocks of 4, remasking entropy, temperature 0.2, seed 42, top-p 0.95, entropy-bound 7

# Presets, and options that take their place in parts.
$ for m in llada dream; do for q in exact balanced fast "fast --steps 4 --cache prefix" "fast --threshold 0.7 --cache none"; do
>   dllm run -m "$models/$m-Q4_K_M.gguf" hi -n 64 --temperature 0 --quality $q --verbose 2>&1 > /dev/null |
>     sed -n 's/, temperature 0, seed 42//; s/^schedule: //p'; done; done
| 64 steps, blocks of 32, remasking low_confidence
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.9
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.8, cache dual
| 4 steps, blocks of 32, remasking low_confidence, cache prefix
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.7
| 64 steps, blocks of 64, remasking entropy
| as many steps as it takes, blocks of 64, remasking low_confidence, threshold 0.9
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.8, cache dual
| 4 steps, blocks of 32, remasking entropy, cache prefix
| as many steps as it takes, blocks of 32, remasking low_confidence, threshold 0.7

# What a cache computes, and what it takes; refreshed at every step it is none.
$ m="$models/llada-Q4_K_M.gguf"; dllm run -m "$m" hi -n 8 --block-length 4 > none
> dllm run -m "$m" hi -n 8 --block-length 4 --cache dual --cache-refresh 1 | cmp - none
> dllm run -m "$m" hi -n 8 --block-length 4 --cache dual --suffix-window 2 --prompt-refresh 6 --verbose 2>&1 > /dev/null |
>   grep -e ^schedule -e ^computed
| schedule: 8 steps, blocks of 4, remasking low_confidence, temperature 0, seed 42, cache dual, prompt-refresh 6, suffix-window 2
|~ computed: 52 rows, workspace *iB
$ dllm run -m "$models/llada-Q4_K_M.gguf" --prompt-tokens 1,2,3 -n 8 --block-length 4 --cache prefix --json |
>   python3 -c 'import json, sys; r = json.load(sys.stdin)
> print(r["settings"]["cache"], r["rows_computed"], r["workspace_bytes"] > 0)'
% python3
| prefix 58 True
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 8 --suffix-window 4
! error: --suffix-window has no effect in one block (give a --block-length below --max-tokens): leave it out
= 2
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 4 --threshold 0.5 --stop zz --stop ä --suffix hi --no-chat --json |
>   python3 -c 'import json, sys; s = json.load(sys.stdin)["settings"]
> print(s["steps"], s["stop"] == ["zz", "\u00e4"], s["suffix_tokens"], s["chat"])'
% python3
| None True 2 False

# A chat with a Dream model samples unless told otherwise, and says so; --temperature 0 is greedy.
$ m="$models/dream-Q4_K_M.gguf"; for t in "" "--temperature 0" "--no-chat"; do
>   dllm run -m "$m" hi -n 2 $t --verbose 2>&1 > /dev/null | grep -e schedule -e note; done
| schedule: 2 steps, blocks of 2, remasking entropy, temperature 0.2, seed 42, top-p 0.95
| note: a chat with a Dream model samples by default; --temperature 0 is greedy
| schedule: 2 steps, blocks of 2, remasking entropy, temperature 0, seed 42
| schedule: 2 steps, blocks of 2, remasking entropy, temperature 0, seed 42
