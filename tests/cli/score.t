Likelihoods of answers. What would break: an answer that is scored at the wrong rows or against the wrong
tokens, an estimate that depends on threads, CPU level or what else is in the file; options that do nothing.

# The right answer is likelier than a wrong one, guided as well.
$ for a in 85 86 58; do dllm score --prompt "What is 27 + 58?" --answer $a; done > a
> for a in 85 86; do dllm score --prompt "What is 27 + 58?" --answer $a --cfg-scale 1; done > g
> sort -gr a | cmp - a && sort -gr g | cmp - g; sort -u a g | wc -l
| 5

# A single token's likelihood is its softmax in the model's scores, of row p - 1 in Dream's.
$ for m in llada-Q4_K_M dream-Q4_K_M; do
>   dllm score -m "$models/$m.gguf" --prompt-tokens 3,5,7,4 --answer-tokens 6 --samples 5 --json > s
>   mask=$(dllm inspect "$models/$m.gguf" | sed -n 's/.*mask_token_id (u32) = //p')
>   dllm logits -m "$models/$m.gguf" --tokens 3,5,7,4,$mask --rows 3-4 --out l
>   python3 - $m <<'PY'
> import array, json, math, sys
> l = array.array("f", open("l", "rb").read())
> row = l[:len(l) // 2] if sys.argv[1].startswith("dream") else l[len(l) // 2:]
> wanted = row[6] - math.log(sum(math.exp(x) for x in row))
> r = json.load(open("s"))
> print(abs(r["log_likelihood"] - wanted) < 1e-6, r["tokens"], r["samples"], r["forwards"], r["standard_error"])
> PY
> done
% python3
| True 1 5 1 None
| True 1 5 1 None

# Without a prompt: every set of masks by hand, from the scores of a canvas that is the answer alone; a single sample is
# one of them, a million by odd batches their mean, by even ones as far from it as their spread is from even
# (docs/scoring.md). Where the file asks for the token that begins a text, that is the prompt.
$ none() { dllm score --no-chat --prompt "" "$@"; }
> for seed in $(seq 12); do none --answer 85 --samples 1 --seed $seed; done > a
> for canvas in 1146,53 56,1146 1146,1146; do dllm logits --tokens $canvas --out l; cat l; done > l3
> none --answer-tokens 56,53 --json > s
> for batch in 16 15 1; do none --answer 85 --samples 1000000 --batch $batch --json; done > m
> python3 - <<'PY'
> import array, json, math
> l = array.array("f", open("l3", "rb").read())
> n = len(l) // 6
> def loss(row, id): return math.log(sum(math.exp(x) for x in l[row * n:][:n])) - l[row * n + id]
> sets = [-2 * loss(0, 56), -2 * loss(3, 53), -loss(4, 56) - loss(5, 53)]
> found = [min(range(3), key=lambda i: abs(sets[i] - float(line))) for line in open("a")]
> print(all(abs(sets[i] - float(line)) < 2e-5 for i, line in zip(found, open("a"))), sorted(set(found)))
> whole, r = (sets[0] + sets[1]) / 4 + sets[2] / 2, json.load(open("s"))
> print(abs(r["log_likelihood"] - whole) < 4 * r["standard_error"] < 4, r["forwards"])
> even, *odd = [json.loads(line) for line in open("m")]
> near = lambda r, value: abs(r["log_likelihood"] - value) < 4 * r["standard_error"] < 0.03
> print(near(even, (sets[0] + sets[1]) / 2 * 7 / 16 + sets[2] * 9 / 16), near(even, whole), [near(r, whole) for r in odd])
> print("%.3f" % whole, ["%.3f %.3f" % (r["log_likelihood"], r["standard_error"]) for r in [even] + odd])
> PY
> none --answer 85; none --answer-tokens 56,53
> none -m "$models/llada-Q4_K_M.gguf" --answer 85 | cmp - <(dllm score -m "$models/llada-Q4_K_M.gguf" --prompt-tokens 956 --answer 85)
> printf '%s\n' '{"prompt": "", "no_chat": true, "answer": "85"}' '{"prompt": "", "answer": "85"}' > in.jsonl
> dllm score --input in.jsonl 2> /dev/null | grep -o '"log_likelihood": [^,]*'
> dllm score --prompt "" --answer 85; dllm score --answer 85 --prompt-tokens \
>     "$(echo '[{"role": "user", "content": ""}]' | dllm tokenize --messages -)"
% python3
| True [0, 1, 2]
| True 3
| True False [True, True]
| -25.320 ['-25.101 0.006', '-25.312 0.007', '-25.305 0.007']
| -25.101730
| -25.101730
| "log_likelihood": -25.10173
| "log_likelihood": -31.9128361
| -31.912836
| -31.912836

# Dream scores a token by the row before it: its first one needs something there. Nor can guidance leave out nothing.
$ dllm score -m "$models/dream-Q4_K_M.gguf" --no-chat --prompt "" --answer x
! error: the prompt is empty, but this model scores a token by the row of the one before it, and the answer's first has none; a prompt of at least one token was expected, such as the one that begins a text
= 2
$ echo '{"prompt": "", "no_chat": true, "answer": "x", "cfg_scale": 1}' | dllm score --input - 2> /dev/null | sed 's/.*"error": //'
| "\"cfg_scale\" is 1, but the prompt is empty: guidance compares with a pass that does not see the prompt; 0 was expected"}

# Threads, CPU level and samples that share a pass change no bit; seed, samples and batch do.
$ go() { dllm score --prompt "Sort the words lion, bear, fox." --answer "bear, fox, lion" --json "$@" | cut -d, -f1-4; }
> go -t 1 > a; go -t 3 --cpu-level ref | cmp - a; go | cmp - a; go --seed 42 --batch 16 | cmp - a
> { cat a; go --seed 1; go --samples 41; go --batch 8; go --cfg-scale 0.5; } | sort -u | wc -l
| 5

# A file of requests: what is said on the command line holds for lines that do not say otherwise.
$ cat > in.jsonl <<'J'
> {"id": "right", "prompt": "What is 27 + 58?", "answer": "85"}
> {"id": "wrong", "prompt": "What is 27 + 58?", "answer": "86", "samples": 16}
> {"tokens": [3, 5, 7], "answer_tokens": [6, 8], "seed": 1}
> {"id": "talk", "messages": [{"role": "user", "content": "Reverse c-a-t."}], "answer": "t-a-c", "cfg_scale": 1}
> J
> dllm score --input in.jsonl --samples 32 2> /dev/null > out.jsonl
> python3 - <<'PY'
> import json, subprocess
> rows = [json.loads(line) for line in open("out.jsonl")]
> print([(r["id"], r["line"], r["tokens"], r["samples"], r["forwards"]) for r in rows])
> print(rows[0]["log_likelihood"] > rows[1]["log_likelihood"], [k for k in rows[0]])
> alone = subprocess.run(["dllm", "score", "--prompt", "What is 27 + 58?", "--answer", "86", "--samples", "16",
>     "--json"], stdout=subprocess.PIPE).stdout
> print(json.loads(alone)["log_likelihood"] == rows[1]["log_likelihood"])
> PY
% python3
| [('right', 1, 2, 32, 3), ('wrong', 2, 2, 16, 3), (3, 3, 2, 32, 3), ('talk', 4, 3, 32, 14)]
| True ['id', 'line', 'log_likelihood', 'standard_error', 'tokens', 'samples', 'batch', 'cfg_scale', 'seed', 'prompt_tokens', 'model', 'quantization', 'forwards', 'seconds']
| True

# Bad lines become error objects; the rest is scored.
$ cat > in.jsonl <<'J'
> {"id": "a", "prompt": "What is 27 + 58?", "answer": "85"}
> not json
> {"id": "a", "prompt": "again", "answer": "x"}
> {"prompt": "x"}
> {"answer": "x"}
> {"prompt": "x", "answer": ""}
> {"prompt": "x", "answer": "x", "sample": 3}
> {"prompt": "x", "answer": "x", "temperature": 1}
> {"prompt": "x", "answer": "x", "threads": 2}
> {"tokens": [1], "answer_tokens": [99999]}
> J
> dllm score --input in.jsonl --samples 2 2> err > out.jsonl; echo $?; tail -1 err
> python3 -c 'import json
> for line in open("out.jsonl"):
>     r = json.loads(line); print(r["line"], json.dumps(r["id"]), r.get("error") or r["tokens"])'
% python3
| 1
| error: 9 of 10 results are errors; the output says for each line why
| 1 "a" 2
| 2 null the line is not valid JSON: column 3: '[' or '{' expected near 'not'
| 3 null the id is that of an earlier line; each needs its own (without one, a line's number counts)
| 4 4 an answer is missing: give "answer" or "answer_tokens"
| 5 5 a prompt is missing: give "prompt", "tokens" or "messages"
| 6 6 "answer" needs a value TEXT, not an empty one
| 7 7 unknown field "sample"; did you mean "samples"?
| 8 8 unknown field "temperature"; fields are id and the names of score's options
| 9 9 the field "threads" holds for a whole batch: it belongs on the command line
| 10 10 id 99999 at position 0 of the answer is outside the vocabulary; ids from 0 to 1146 were expected

# What is there already is not done again; a torn last line is.
$ for i in 1 2 3; do echo "{\"prompt\": \"What is $i + 58?\", \"answer\": \"$((i + 58))\"}"; done > in.jsonl
> dllm score --input in.jsonl --samples 8 2> /dev/null > all.jsonl; head -n 1 all.jsonl > o.jsonl; printf '{"id": 2, "li' >> o.jsonl
> dllm score --input in.jsonl --samples 8 -o o.jsonl --resume 2>&1 | sed 's/;.*//'
> cut -d, -f1-6 all.jsonl > a; cut -d, -f1-6 o.jsonl | cmp - a
| 2 answered, 0 failed, 1 there already

# But what is there must have been scored with the same settings; a line's own are its own.
$ for i in 1 2; do echo "{\"prompt\": \"What is $i + 58?\", \"answer\": \"$((i + 58))\", \"samples\": $((i * 4))}"; done > in.jsonl
> dllm score --input in.jsonl 2> /dev/null | tail -n 1 > o.jsonl; cp o.jsonl before
> again() { dllm score --input in.jsonl -o o.jsonl --resume "$@" 2>&1 | sed 's/;.*//'; echo "${PIPESTATUS[0]}"; }
> again --seed 1; again --batch 2; again --cfg-scale 1; again --no-chat; again -m "$models/llada-Q4_K_M.gguf"
> cmp o.jsonl before; again --samples 3 -t 1 --allow-long
| error: the result of request 2 in "o.jsonl" was made with seed 42, not 1
| 2
| error: the result of request 2 in "o.jsonl" was made with batch 16, not 2
| 2
| error: the result of request 2 in "o.jsonl" was made with cfg_scale 0, not 1
| 2
| error: the result of request 2 in "o.jsonl" was made with prompt_tokens 19, not 9
| 2
| error: the result of request 2 in "o.jsonl" was made with model "dllm demo", not "llada"
| 2
| 1 answered, 0 failed, 1 there already
| 0

# Usage errors.
$ dllm score --prompt x
! error: an answer is missing: give --answer or --answer-tokens
= 2
$ dllm score --answer x
!~ error: a prompt is missing: give --prompt, --prompt-tokens or --messages, or a file of requests: --input*
= 2
$ dllm score --prompt x --answer x --resume
! error: --resume has no effect without --input
= 2
$ dllm score --prompt x --answer x --samples 0
!~ error: --samples needs a whole number from 1 *
= 2
$ dllm score --prompt x --answer-tokens 1,99999
!~ error: id 99999 at position 1 of the answer is outside the vocabulary; ids from 0 to * were expected
= 2

# Ctrl-c ends an estimate.
$ "$tests/interrupt.sh" dllm score --prompt x --answer "$(printf 'a %.0s' $(seq 200))" --samples 1000000 --allow-long
= 130
