Batches: a request a line. What would break: results out of order, lost, doubled or dependent on what else
is in the batch; a bad line that stops the rest; a seed that depends on threads or shards.

# What a line gives is what run gives for the same options, whatever is beside it.
$ cat > in.jsonl <<'J'
> {"id": "a", "prompt": "What is 27 + 58?", "max_tokens": 16}
> {"prompt": "Sort the words lion, bear, fox.", "template": "bear,[[1]], lion"}
> {"id": "m", "messages": [{"role": "user", "content": "Reverse c-a-t."}], "steps": 8, "max-tokens": 8, "stop": ["-a"]}
> {"id": 7, "tokens": [3, 5, 7], "no_early_stop": true, "temperature": 0.5, "seed": 3, "cache": "prefix"}
> J
> dllm run --input in.jsonl -n 12 2> /dev/null > out.jsonl
> python3 - <<'PY'
> import json, subprocess
> rows = [json.loads(line) for line in open("out.jsonl")]
> print([(r["id"], r["line"], r["sample"]) for r in rows])
> print([r["text"] for r in rows[:3]], [r["finish_reason"] for r in rows[:3]])
> alone = json.loads(subprocess.run(["dllm", "run", "--prompt-tokens", "3,5,7", "--no-early-stop", "--temperature",
>     "0.5", "--seed", "3", "--cache", "prefix", "-n", "12", "--json"], stdout=subprocess.PIPE).stdout)
> print(alone["generated_ids"] == rows[3]["generated_ids"], alone["settings"] == rows[3]["settings"])
> PY
% python3
| [('a', 1, 0), (2, 2, 0), ('m', 3, 0), (7, 4, 0)]
| ['85', 'bear, fox, lion', 't'] ['eos', 'length', 'stop']
| True True

# Bad lines become error objects with their line number; the rest is answered.
$ cat > in.jsonl <<'J'
> {"id": "a", "prompt": "What is 27 + 58?"}
> not json
> [1]
> {"id": "a", "prompt": "again"}
> {"id": {}, "prompt": "x"}
> {"prompt": "x", "thresold": 1}
> {"prompt": "x", "steps": "8"}
> {"prompt": "x", "threshold": 2}
> {"prompt": "x", "top_p": 0.5}
> {"prompt": "x", "threads": 2}
> {"prompt": "x", "tokens": [1]}
> {"prompt": "x", "num_samples": 2}
> {}
> {"prompt": "x", "gen_length": 8}
> {"prompt": "x", "dual_cache": true}
> {"prompt": "x", "hf": "x"}
> {"prompt": "x", "max_token": 8}
> {"prompt": "x", "cache": "--steps"}
> {"messages": [{"role": "user"}]}
> {"prompt": "x", "max_tokens": 5000}
> {"id": "b", "prompt": "What is 27 + 58?"}
> J
> dllm run --input in.jsonl -n 12 2> err > out.jsonl; echo $?; sed -n 1p err | sed 's/;.*//'; tail -1 err
> python3 -c 'import json
> for line in open("out.jsonl"):
>     r = json.loads(line); print(r["line"], json.dumps(r["id"]), r.get("error") or r["text"])'
% python3
| 1
| 2 answered, 20 failed
| error: 20 of 22 results are errors; the output says for each line why
| 1 "a" 85
| 2 null the line is not valid JSON: column 3: '[' or '{' expected near 'not'
| 3 null the line is not a JSON object such as {"id": 1, "prompt": "Hello"}
| 4 null the id is that of an earlier line; each needs its own (without one, a line's number counts)
| 5 null the id must be a text or a whole number
| 6 6 unknown field "thresold"; did you mean "threshold"?
| 7 7 the field "steps" must be a number
| 8 8 "threshold" needs a number from 0 to 1, not "2"
| 9 9 "top_p" has no effect with this model (architecture llada): LLaDA's sampler has no top-p; use "temperature"
| 10 10 the field "threads" holds for a whole batch: it belongs on the command line
| 11 11 "prompt" and "tokens" exclude each other: the prompt comes from one place
| 12 12 "num_samples" 2 has no effect at temperature 0: all samples would be the same
| 12 12 "num_samples" 2 has no effect at temperature 0: all samples would be the same
| 13 13 a prompt is missing: give "prompt", "messages", "tokens" or, as text with gaps, "template"
| 14 14 unknown field "gen_length"; here it is "max_tokens"
| 15 15 unknown field "dual_cache"; here it is "cache": "dual"
| 16 16 unknown field "hf"; fields are id and the names of run's options
| 17 17 unknown field "max_token"; did you mean "max_tokens"?
| 18 18 "cache" needs one of none, prefix, dual, not "--steps"
| 19 19 message 1 of "messages" is not of the form {"role": "system", "user" or "assistant", "content": TEXT}
| 20 20 the canvas (prompt, generated positions and suffix) has 5011 positions, but the model's context length is 512; shorten it, or permit it with "allow_long"
| 21 "b" 85

# A number that a double cannot hold is an error, not a 0 that switches something off; in a text it is none.
$ printf '{"prompt": "\\"1e-999", "threshold": %s}\n' 1e-999 1e999 0 > in.jsonl
> dllm run --input in.jsonl -n 4 2> /dev/null | grep -o '"error": .*\|"threshold": [^,]*'
| "error": "the number 1e-999 underflows a double; write 0 if that is meant"}
| "error": "the line is not valid JSON: column 41: real number overflow near '1e999'"}
| "threshold": 0.0

# A field that is null is left out, the id too, as tables are written by other programs.
$ printf '%s\n' '{"id": null, "prompt": "What is 27 + 58?", "steps": null}' '{"id": "b", "prompt": "What is 27 + 58?"}' > in.jsonl
> dllm run --input in.jsonl -n 8 -o o.jsonl 2> /dev/null; grep -o '^{"id": [^,]*\|"text": [^,]*' o.jsonl; dllm run --input in.jsonl -n 8 -o o.jsonl --resume 2>&1 | sed 's/;.*//'
| {"id": 1
| "text": "85"
| {"id": "b"
| "text": "85"
| 0 answered, 0 failed, 2 there already

# A message names the line's fields, and what comes from the command line as it stands there.
$ printf '%s\n' '{"prompt": "x", "alg_temp": 1}' '{"prompt": "x", "alg_temp": 1, "remasking": "random"}' > in.jsonl
> dllm run --input in.jsonl --remasking random 2> /dev/null | sed 's/.*"error": //'
| "\"alg_temp\" has no effect with --remasking random, which chooses positions without looking at confidence"}
| "\"alg_temp\" has no effect with \"remasking\" random, which chooses positions without looking at confidence"}

# A field that is off takes the place of the command line's option of that name and drops no other; one that
# is not off drops what contradicts it, also where the command line says off.
$ cat > in.jsonl <<'J'
> {"prompt": "x", "top_p": 1, "alg_temp": 0, "cfg_scale": 0, "eos_policy": "none", "cache_refresh": 0}
> {"prompt": "x", "threshold": 0}
> {"prompt": "x", "threshold": 0, "factor": 0, "entropy_bound": 0.0, "steps": 2}
> {"prompt": "x", "factor": 0.5}
> {"prompt": "x", "entropy_bound": 2, "remasking": "entropy"}
> J
> go() { dllm run --input in.jsonl -n 4 "$@" 2> /dev/null | python3 -c 'import json, sys
> for line in sys.stdin:
>     r = json.loads(line); s = r.get("settings")
>     print(*(s[k] for k in ("remasking", "threshold", "factor", "entropy_bound", "top_p", "steps")) if s else [r["error"]])'; }
> go -m "$models/dream-Q4_K_M.gguf" --threshold 0.5 --top-p 0.5 --factor 0
> echo '{"prompt": "x", "remasking": "entropy"}' >> in.jsonl; go --entropy-bound 1 --cfg-scale 1 --threshold 0 --alg-temp 0
% python3
| low_confidence 0.5 0.0 0.0 1.0 None
| entropy 0.0 0.0 0.0 0.5 4
| entropy 0.0 0.0 0.0 0.5 2
| low_confidence 0.0 0.5 0.0 0.5 None
| entropy 0.0 0.0 2.0 0.5 None
| entropy 0.0 0.0 1.0 1.0 None
| entropy 0.0 0.0 1.0 1.0 None
| low_confidence 0.0 0.0 0.0 1.0 2
| low_confidence 0.0 0.5 0.0 1.0 None
| entropy 0.0 0.0 2.0 1.0 None
| entropy 0.0 0.0 1.0 1.0 None

# A value that does not fit the command line's option drops nothing, unless the line says off.
$ printf '{"prompt": "x", "remasking": "random"%s}\n' '' ', "threshold": 0' ', "steps": 2' > in.jsonl
> dllm run --input in.jsonl -n 4 --threshold 0.5 2> /dev/null | grep -o '"error": .*\|"remasking": [^,]*'
| "error": "--threshold compares confidences from 0 to 1, which \"remasking\" random does not give; use low_confidence (or topk_margin with a dream model)"}
| "remasking": "random"
| "remasking": "random"

# A false flag and an empty list hold against the command line's. A byte order mark and carriage returns are
# no part of the requests. Files are not read for a line.
$ printf '\357\273\277{"prompt": "x", "no_early_stop": false}\r\n{"prompt": "x", "stop": []}\n{"prompt": "x", "infill": "-"}\n' > in.jsonl
> echo '{"prompt": "x", "prompt_file": "f"}' >> in.jsonl; echo '{"prompt": "x", "history": "f"}' >> in.jsonl
> dllm run --input in.jsonl -n 4 --no-early-stop --stop q 2> /dev/null | python3 -c 'import json, sys
> for line in sys.stdin:
>     r = json.loads(line); print(r["line"], r.get("error") or (r["settings"]["early_stop"], r["settings"]["stop"]))'
% python3
| 1 (True, ['q'])
| 2 (False, [])
| 3 the field "infill" names a file; give its text as "template"
| 4 the field "prompt_file" names a file; give its text as "prompt"
| 5 unknown field "history"; fields are id and the names of run's options

# Samples have seeds of their own that depend on nothing but the request's seed and their number; threads,
# shards and requests under way change nothing.
$ for i in 1 2 3 4 5; do echo "{\"id\": $i, \"prompt\": \"Spell river.\", \"temperature\": 30, \"seed\": $i}"; done > in.jsonl
> go() { dllm run --input in.jsonl -n 8 --num-samples 3 "$@" 2> /dev/null; }
> plain() { sed 's/"generate_s.*//' "$@"; }
> go -t 1 | plain > a; go -t 3 --parallel 3 | plain > b; go --parallel 1 | plain > c; cmp a b && cmp a c
> { go --shard 1/2; go --shard 2/2; } | plain | sort > s; sort a | cmp - s; wc -l < a
> grep -o '"seed": [0-9]*' a | sed -n '1,3p'; grep -o '"generated_ids": [^]]*' a | sort -u | wc -l
| 15
| "seed": 1
| "seed": 5225608189600411232
| "seed": 6878622605533214259
| 15

# Nothing is lost or doubled by kills at any moment.
$ . "$tests/batch_kill.sh" 150
% python3
| 150 lines, 150 ids, in order: True, killed: True

# A torn last line is dropped and done again; a file that is something else is left alone.
$ for i in 1 2 3; do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> dllm run --input in.jsonl -n 8 -o all.jsonl 2> /dev/null; head -c 500 all.jsonl > torn.jsonl; wc -l < torn.jsonl
> dllm run --input in.jsonl -n 8 -o torn.jsonl --resume 2>&1 | sed 's/;.*//'; grep -o '"text": [^,]*' torn.jsonl
> dllm run --input in.jsonl -n 8 -o torn.jsonl; echo $?
> echo hello > other; dllm run --input in.jsonl -o other --resume; cat other
> printf hello > other; dllm run --input in.jsonl -o other --resume; cat other; echo
> printf '{"id": 1, "prompt": "q"}' > other; dllm run --input in.jsonl -o other --resume; cat other; echo
| 0
| 3 answered, 0 failed
| "text": "59"
| "text": "60"
| "text": "61"
| 2
| hello
| hello
| {"id": 1, "prompt": "q"}
! error: "torn.jsonl" has something in it already; go on with it by --resume, or name another file
! error: line 1 of "other" is no result of a batch; --resume goes on only with a file of results
! error: line 1 of "other" is no result of a batch; --resume goes on only with a file of results
! error: line 1 of "other" is no result of a batch; --resume goes on only with a file of results
= 0

# What a run before could not answer is still an error of the whole: a batch that was begun anew does not pass for done.
$ printf '%s\n' '{"prompt": ""}' '{"prompt": "What is 27 + 58?"}' > in.jsonl; dllm run --input in.jsonl -n 8 -o all.jsonl 2> /dev/null
> head -n 1 all.jsonl > o.jsonl; for i in 1 2; do dllm run --input in.jsonl -n 8 -o o.jsonl --resume 2>&1 | sed 's/;.*//'; echo ${PIPESTATUS[0]}; done
> tail -n 1 o.jsonl > done.jsonl; dllm run --input in.jsonl -n 8 --shard 2/2 -o done.jsonl --resume 2> /dev/null; echo $?
| 1 answered, 0 failed, 1 there already
| error: 1 of 2 results are errors
| 1
| 0 answered, 0 failed, 2 there already
| error: 1 of 2 results are errors
| 1
| 0

# Results that were made with other settings are not gone on with: nothing is answered, also where the requests of those
# results come late, and the file stays as it is.
$ for i in 1 2 3; do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> dllm run --input in.jsonl -n 8 -o all.jsonl 2> /dev/null; sed -n 2p all.jsonl > o.jsonl; cp o.jsonl before
> again() { dllm run --input in.jsonl -o o.jsonl --resume "$@" 2>&1 | sed 's/;.*//'; echo "${PIPESTATUS[0]}"; cmp o.jsonl before; }
> again -n 12; again -n 8 --steps 4; again -n 8 --temperature 0.5; again -n 8 --seed 1; again -n 8 --threshold 0.9
> again -n 8 --quality fast; again -n 8 --entropy-bound 1; again -n 8 --stop q; again -n 8 --no-chat; again -n 8 --system Hi
> again -n 8 -m "$models/llada-Q4_K_M.gguf"
> sed -n 1p in.jsonl > head; sed -n 2p in.jsonl | sed 's/}$/, "remasking": "random"}/' | cat head - > other
> mv other in.jsonl; again -n 8
| error: the result of request 2 in "o.jsonl" was made with max_tokens 8, not 12
| 2
| error: the result of request 2 in "o.jsonl" was made with steps 8, not 4
| 2
| error: the result of request 2 in "o.jsonl" was made with temperature 0, not 0.5
| 2
| error: the result of request 2 in "o.jsonl" was made with seed 42, not 1
| 2
| error: the result of request 2 in "o.jsonl" was made with threshold 0, not 0.9
| 2
| error: the result of request 2 in "o.jsonl" was made with threshold 0, not 0.8
| 2
| error: the result of request 2 in "o.jsonl" was made with entropy_bound 0, not 1
| 2
| error: the result of request 2 in "o.jsonl" was made with stop [], not ["q"]
| 2
| error: the result of request 2 in "o.jsonl" was made with chat true, not false
| 2
| error: the result of request 2 in "o.jsonl" was made with prompt_tokens 19, not 30
| 2
| error: the result of request 2 in "o.jsonl" was made with model "dllm demo", not "llada"
| 2
| error: the result of request 2 in "o.jsonl" was made with remasking "low_confidence", not "random"
| 2
$ printf '%s\n' '{"id": "a", "prompt": "What is 27 + 58?"}' '{"prompt": "Spell river."}' > in.jsonl
> dllm run --input in.jsonl -n 8 -o all.jsonl 2> /dev/null; head -n 1 all.jsonl > o.jsonl
> cat in.jsonl | dllm run --input - -n 12 -o o.jsonl --resume; echo $?; head -n 1 all.jsonl | cmp - o.jsonl
| 2
! error: the result of request "a" in "o.jsonl" was made with max_tokens 8, not 12; give the same settings, name another output, or remove the results there that are to be made anew
!~ 0 answered, 0 failed; *

# What a request says itself is not the command line's to change; a preset is what it stands for; what changes no answer may
# change: more samples, a longer canvas permitted. A result holds what it holds, numbers may have lost their ".0".
$ printf '{"id": %s, "prompt": "Spell river.", "max_tokens": 8, "temperature": 3}\n' 1 2 > in.jsonl
> dllm run --input in.jsonl --quality fast -o all.jsonl --num-samples 2 2> /dev/null
> again() { dllm run --input in.jsonl -o o.jsonl --resume "$@" 2>&1 | sed 's/;.*//'; cut -d, -f1-3 o.jsonl; }
> head -n 2 all.jsonl > o.jsonl; again --threshold 0.8 --cache dual --num-samples 3 -n 99 -t 1 --parallel 2 --allow-long
> sed 's/"model".*"seed"/"seed"/; s/\.0\([,}]\)/\1/g' all.jsonl | head -n 3 > o.jsonl; again --quality fast --num-samples 2
| 4 answered, 0 failed, 2 there already
| {"id": 1, "line": 1, "sample": 0
| {"id": 1, "line": 1, "sample": 1
| {"id": 1, "line": 1, "sample": 2
| {"id": 2, "line": 2, "sample": 0
| {"id": 2, "line": 2, "sample": 1
| {"id": 2, "line": 2, "sample": 2
| 1 answered, 0 failed, 3 there already
| {"id": 1, "line": 1, "sample": 0
| {"id": 1, "line": 1, "sample": 1
| {"id": 2, "line": 2, "sample": 0
| {"id": 2, "line": 2, "sample": 1

# Nor do two write one file: both would answer everything.
$ printf '%s\n' '{"prompt": "What is 27 + 58?"}' > in.jsonl; flock o.jsonl dllm run --input in.jsonl -n 8 -o o.jsonl; echo $? $(wc -c < o.jsonl)
| 1 0
! error: another dllm is writing "o.jsonl"; wait for it, or name another file

# The file of requests is never the output: a request without its newline would be taken for a torn result.
$ printf '{"id": 1, "prompt": "What is 27 + 58?"}' > in.jsonl; ln in.jsonl same.jsonl
> dllm run --input in.jsonl -n 4 -o same.jsonl --resume; echo $?; dllm run --input - -n 4 -o in.jsonl < in.jsonl
> echo $?; dllm run --input in.jsonl -n 4 >> in.jsonl; echo $?; dllm score --input in.jsonl -o in.jsonl --resume
> echo $?; cat in.jsonl
| 2
| 2
| 2
| 2
| {"id": 1, "prompt": "What is 27 + 58?"}
! error: input and output are the same file, "in.jsonl"; name another output
! error: input and output are the same file, "-"; name another output
! error: input and output are the same file, "in.jsonl"; name another output
! error: input and output are the same file, "in.jsonl"; name another output

# Ctrl-c: what is under way is finished and written; then 130. A later --resume does the rest. There are more
# requests than any machine answers before it is interrupted.
$ python3 -c 'print("\n".join("{\"prompt\": \"What is %d + 5?\", \"max_tokens\": 64, \"no_early_stop\": true}" % i for i in range(40000)))' > in.jsonl
> "$tests/interrupt.sh" -u '[ -s o.jsonl ]' dllm run --input in.jsonl -o o.jsonl --block-length 64 2> /dev/null; echo $?
> python3 -c 'rows = [__import__("json").loads(l) for l in open("o.jsonl")]; print(0 < len(rows) < 40000, set(r["finish_reason"] for r in rows) <= {"eos", "length"}, [r["line"] for r in rows] == list(range(1, len(rows) + 1)))'
% python3
| 130
| True True True

# A full disk and a closed pipe are reported with what was written.
$ for i in 1 2 3; do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> dllm run --input in.jsonl -n 8 > /dev/full
!~ 0 answered, 0 failed; *
! error: standard output could not be written: No space left on device; 0 results were written before
= 1
$ for i in $(seq 40); do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> (dllm run --input in.jsonl -n 8 2> err; echo $? > code) | head -1 | cut -c1-8; cat code; sed 's/; [0-9]*/; N/' err | tail -1
| {"id": 1
| 1
| error: standard output could not be written: Broken pipe; N results were written before

# From a pipe a result comes as soon as it is there: the next request may depend on it.
$ coproc dllm run --input - -n 8 2> /dev/null
> echo '{"prompt": "What is 1 + 1?"}' >&"${COPROC[1]}"; read -r one <&"${COPROC[0]}"
> echo '{"prompt": "What is 2 + 2?"}' >&"${COPROC[1]}"; read -r two <&"${COPROC[0]}"
> echo "${one%%, *} ${two%%, *}"
| {"id": 1 {"id": 2

# GNU parallel, a shard each; xargs.
$ for i in 1 2 3 4 5; do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> parallel -j 2 dllm run --input in.jsonl -n 8 -t 1 --shard {}/3 --output part-{}.jsonl --resume ::: 1 2 3 2> /dev/null
> cat part-*.jsonl | sort -n -k4 -t' ' | grep -o '"text": [^,]*' | tr '\n' ' '
% parallel
| "text": "59" "text": "60" "text": "61" "text": "62" "text": "63" 
$ for i in 1 2 3 4 5; do echo "{\"prompt\": \"What is $i + 58?\"}"; done > in.jsonl
> seq 3 | xargs -P 2 -I{} dllm run --input in.jsonl -n 8 -t 1 --shard {}/3 -o part-{}.jsonl --resume 2> /dev/null; cat part-*.jsonl | wc -l
| 5

# What cannot be meant.
$ dllm run hi --input x
! error: PROMPT and --input exclude each other: the requests are the lines of the input, the results those of the output
= 2
$ dllm run hi --num-samples 2
! error: --num-samples has no effect without --input
= 2
$ dllm run --input x --resume
! error: --resume needs --output FILE: what is answered already is read from there
= 2
$ dllm run --input x --shard 3/2
! error: --shard needs I/N, part I (1 to N) of N, such as 1/4, not "3/2"
= 2
$ dllm run --input none.jsonl
! error: the input "none.jsonl" could not be read: No such file or directory
= 1
