Traces: what run --trace writes, and what dllm trace makes of files that are none. The page itself is
tested in a browser (tests/tty).

# A header, a step each, an end; every position once, with its runner-up.
$ dllm run "What is 27 + 58?" -n 8 --steps 4 --no-early-stop --trace t.jsonl && python3 - <<'PY'
> import json
> header, *steps, end = [json.loads(line) for line in open("t.jsonl")]
> tokens = [token for step in steps for token in step["tokens"]]
> first, behind = header["region"]
> print(len(steps), sorted(token["position"] for token in tokens) == list(range(first, behind)))
> print([step["masks_left"] for step in steps], end["text"], end["finish_reason"])
> print(all(0 <= token["runner_up"]["probability"] <= token["probability"] for token in tokens))
> print(header["pieces"].count(None), header["canvas"].count(header["mask_id"]))
> PY
% python3
| 85
| 4 True
| [6, 4, 2, 0] 85 eos
| True
| 8 8

# The runner-up is null where filters left no other token.
$ for o in "--top-k 1" "--temperature 1 --top-p 0" "--top-k 2"; do
>   dllm run -m "$models/dream-Q4_K_M.gguf" --prompt-tokens 5,17,300,99 -n 3 $o --trace t > /dev/null
>   grep -o '"runner_up":null' t | wc -l
> done
| 3
| 3
| 0

# End tokens that are deferred have confidence 0, but are as probable as the softmax says, and the likeliest
# other token may be one.
$ dllm run "What is 27 + 58?" -n 4 --eos-policy defer --no-early-stop --trace t > /dev/null
> grep -o '"text":"<.*' t | grep -o -e '"text":"[^"]*"' -e '"confidence":0.0,' -e '"probability":[^,}]*'
| "text":"<|eot_id|>"
| "confidence":0.0,
|~ "probability":0.99999*
| "text":"<|endoftext|>"
|~ "probability":*e-6
| "text":"<|endoftext|>"
| "confidence":0.0,
|~ "probability":0.99999*
| "text":"<|eot_id|>"
|~ "probability":*e-6

# The trace changes nothing, and is the same for any number of threads but for the times.
$ dllm run "Spell river." -n 16 --temperature 1 > a; dllm run "Spell river." -n 16 --temperature 1 --trace t > b
> dllm run "Spell river." -n 16 --temperature 1 --trace u -t 1 > /dev/null; cmp a b
> for f in t u; do sed -E 's/"(seconds|generate_s|threads)":[-0-9.e]+//' $f > $f.plain; done; cmp t.plain u.plain

# An interrupted run has a trace with an end, at whatever moment; a failing one leaves no file.
$ "$tests/interrupt.sh" dllm run hi -n 480 --no-early-stop --visual --trace t.jsonl > /dev/null 2>&1
> echo $?; tail -n 1 t.jsonl | grep -o interrupted; ls
| 130
| interrupted
| t.jsonl
$ "$tests/interrupt.sh" -u 'grep -q "^step 2 " log' dllm run hi -n 480 --no-early-stop --visual --trace t.jsonl > /dev/null 2> log
> echo $?; tail -n 1 t.jsonl | grep -o interrupted; ls; [ "$(wc -l < t.jsonl)" -ge 4 ] && echo steps
| 130
| interrupted
| log
| t.jsonl
| steps
$ mkdir d; dllm run hi -n 600 --trace d/t.jsonl 2> /dev/null; echo $?; ls d
| 2
$ mkdir d; (ulimit -f 1; dllm run "Spell river." -n 200 --no-early-stop --trace d/t.jsonl > /dev/null)
> echo $?; ls d
! error: "d/t.jsonl" could not be written: File too large
| 1

# Files that are no traces.
$ dllm trace none.jsonl -o t.html
! error: "none.jsonl" could not be read: No such file or directory
= 1
$ echo '{"a": 1}' > t; dllm trace t -o t.html; ls
! error: "t" line 1: this is not the header of a trace; expected what dllm run --trace writes: a header, steps, an end
| t
$ printf '' > t; dllm trace t -o t.html
! error: "t" line 1: there is no header; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; sed 's/"dllm_trace":1/"dllm_trace":2/' t > u; dllm trace u -o u.html
! error: "u" line 1: this trace has another format, of another version of dllm; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; sed -E 's/"region":\[([0-9]+),([0-9]+)\]/"region":[\2,\1]/' t > u; cmp -s t u || dllm trace u -o u.html
! error: "u" line 1: the header's canvas, pieces, region, end_ids or settings are damaged; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; sed '2s/"probability":[0-9.e-]*/"probability":2/' t > u
> dllm trace u -o u.html
! error: "u" line 2: a token of this step is damaged; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; sed '2s/"position":[0-9]*/"position":1/' t > u
> dllm trace u -o u.html
! error: "u" line 2: a token of this step is damaged; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; tail -n 1 t >> t; dllm trace t -o u.html
!~ error: "t" line *: there is something behind the end; expected what dllm run --trace writes: a header, steps, an end
= 1
$ dllm run hi -n 2 --trace t > /dev/null; echo oops >> t; dllm trace t -o u.html
!~ error: "t" line *: this is not a line of JSON; expected what dllm run --trace writes: a header, steps, an end
= 1

# A trace that was cut off makes a page all the same, with what is whole.
$ dllm run hi -n 4 --no-early-stop --trace t > /dev/null; head -c -30 t | dllm trace - -o t.html; wc -l < t.html | grep -c .
! warning: the trace has no end, the run was cut off; the page says so
| 1
$ dllm run hi -n 2 --trace t > /dev/null; (ulimit -f 1; dllm trace t -o t.html); ls
! error: "t.html" could not be written: File too large
| t
