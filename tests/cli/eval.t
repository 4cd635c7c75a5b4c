Counting right answers. What the demo model says here stands in demo.t too.

# Arms side by side; the file of results keeps every answer.
$ cat >q.jsonl <<'END'
> {"question": "What is the capital of France?", "answer": "Paris", "kind": "capital"}
> {"question": "What is 7 times 8?", "answer": "It is 7 * 8.\n#### 56", "kind": "times"}
> END
> dllm eval q.jsonl --match number -r r.jsonl --json o.json --common "-n 8 -t 1" -a "slow: --steps 8" -a "fast: --steps 2"; wc -l <r.jsonl; python3 -c '
> import json
> x = json.load(open("o.json"))
> print(x["kind"], x["match"], x["asked"], [a["name"] for a in x["arms"]], x["arms"][1]["options"])
> print([(a["right"], a["answers"], a["forwards_per_answer"]) for a in x["arms"]])
> print(x["arms"][0]["kinds"], sorted(x["arms"][1]["against_first"]))'
% python3
| arm            right          forwards      rows    seconds  against the first, in points (95 %)
|~ slow      1 of 2      50.0 %       *.?       ???      *.???
|~ fast      1 of 2      50.0 %       2.0        ??      *.???    +0.0 (-57.3 to +57.3)  +0 -0, p = 1
|
| kind          asked       slow       fast
| capital           1      0.0 %      0.0 %
| times             1    100.0 %    100.0 %
| 4
| eval number 2 ['slow', 'fast'] -n 8 -t 1 --steps 2
|~ *1, '01', *1, '01', 2.0*
| {'capital': {'right': 0, 'asked': 1}, 'times': {'right': 1, 'asked': 1}} ['better', 'difference', 'high', 'low', 'mcnemar_p', 'worse']

# Broken off in the middle of a line: the torn line is asked again, the others are not, and the rule may change.
$ printf '%s\n' '{"question": "What is the capital of France?", "answer": "Paris"}' '' '{"question": "What is 7 times 8?", "answer": "56"}' >q.jsonl
> dllm eval q.jsonl -r r.jsonl --common "-n 8 --steps 2 -t 1" >first; sed '1s/"output":"[^"]*"/"output":"kept"/; 2s/"output.*//' r.jsonl | head -c -1 >torn; mv torn r.jsonl
> dllm eval q.jsonl -r r.jsonl --common "-n 8 --steps 2 -t 1"; cut -d, -f1,3,5 r.jsonl
|~ arm * right *
|~ defaults      1 of 2 *
| {"arm":"defaults","number":0,"output":"kept"
| {"arm":"defaults","number":1,"output":"56"

# Arms from a file, of two models; some of the questions.
$ printf '%s\n' '{"question": "1?", "answer": "x"}' '{"question": "2?", "answer": "x"}' '{"question": "3?", "answer": "x"}' >q.jsonl
> echo '{"demo": "--temperature 0", "other": "-m '"$models"'/dream-Q4_K_M.gguf --top-k 3 --stop x"}' >arms.json
> dllm eval q.jsonl --arms arms.json --common "-n 4 --steps 1 -t 1" --every 2; dllm eval q.jsonl --arms arms.json --common "-n 4 --steps 1 -t 1" --limit 1
|~ arm *
|~ demo       0 of 2 *
|~ other      0 of 2 *
|~ arm *
|~ demo       0 of 1 *
|~ other      0 of 1 *

# What is wrong with the arms is said before anything is asked.
$ dllm eval - --arms none.json
! error: "none.json" could not be read: No such file or directory
= 1
$ echo '{"a": -n}' > arms.json; dllm eval - --arms arms.json
! error: "arms.json" is not valid JSON: line 1, column 7: invalid token near '-'
= 1

# A byte order mark and carriage returns are no part of the files.
$ printf '\357\273\277{"question": "What is 27 + 58?", "answer": "85"}\r\n' > q; printf '\357\273\277{"a": "-n 4"}\r\n' > arms
> dllm eval q --arms arms | sed 's/  *[0-9.]*$//'; printf '\357\273\277[{"role": "user", "content": "What is 27 + 58?"}]\r\n' > m; dllm run --messages m -n 4
| arm           right          forwards      rows    seconds
| a        1 of 1     100.0 %       4.0        96
| 85

# So is a model that is not there, or not whole, behind one that is.
$ echo '{"question": "1?", "answer": "x"}' > q; head -c 5000 "$models/llada-Q4_K_M.gguf" > cut.gguf
> for m in none.gguf cut.gguf; do dllm eval q -r r -a "a: -n 2" -a "b: -n 2 -m $m"; echo $?; wc -l < r; done
| 1
| 0
| 1
| 0
! error: there is no file "none.gguf"; the model must be the path of a GGUF file, OWNER/NAME[:QUANT] at the hub, llada, dream, or demo, the built-in one
!~ error: cut.gguf: *the file is cut *

# So is a file for the numbers that cannot be written, which would be found after hours of answers.
$ mkdir d; echo '{"question": "1?", "answer": "x"}' > q; dllm eval q --json d -r r --arm "a: -n 2"; echo $?; wc -l < r
> dllm eval q --json none/x -r r --arm "a: -n 2"; echo $?; wc -l < r; dllm eval q --json n -r r --arm "a: -n 2" | wc -l; ls
| 1
| 0
| 1
| 0
| 2
| d
| n
| q
| r
! error: "d" exists and is not a regular file; choose another name
! error: "none/x" could not be opened for writing: No such file or directory
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: --stepz 3"
! error: arm "a": unknown option --stepz; did you mean --steps?
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: --json"
! error: arm "a": --json has no place in an arm, which gets the questions as prompts and keeps the answers
= 2
$ for o in "--input x" "--template [[3]]" "--num-samples 2"; do dllm eval q.jsonl -a "a: $o" 2>&1 | cut -c1-45; done
| error: arm "a": --input has no place in an ar
| error: arm "a": --template has no place in an
| error: arm "a": --num-samples has no place in
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: --steps 2" -a a
! error: two arms are called "a"
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "--steps 2"
! error: --arm needs "NAME: OPTIONS", not "--steps 2"
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "two-step --steps 2"
! error: --arm needs "NAME: OPTIONS", not "two-step --steps 2"
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "two-step" -a "a - b: -n 8" | cut -c1-8 | sed 's/ *$//'
| arm
| two-step
| a - b
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: --stop 'x"
! error: a quote in the options is not closed
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: -n 4 --top-p 0.5"
! error: --top-p has no effect with this model (architecture llada): LLaDA's sampler has no top-p; use --temperature
! the arm is "a": -n 4 --top-p 0.5
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -a "a: -m nowhere.gguf"
!~ error: there is no file "nowhere.gguf"; the model must be *
= 1
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; echo '["-n 4"]' >arms.json; dllm eval q.jsonl --arms arms.json
! error: "arms.json" must hold one object, {"NAME": "OPTIONS", ...}
= 1
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; echo '{"a": 4}' >arms.json; dllm eval q.jsonl --arms arms.json
! error: "arms.json": the options of "a" must be text
= 1

# And with the questions.
$ dllm eval q.jsonl
! error: "q.jsonl" could not be read: No such file or directory
= 1
$ echo >q.jsonl; dllm eval q.jsonl
! error: "q.jsonl" holds no questions; it needs lines such as {"question": "1 + 1?", "answer": "2"}
= 1
$ echo '{"question": "1?", "answer": 2}' >q.jsonl; dllm eval q.jsonl
! error: question 1 of the file needs "question" and "answer", both text
= 1
$ printf '%s\n' '{"question": "1?", "answer": "x"}' '{"question": "2?", "ans' >q.jsonl; dllm eval q.jsonl
!~ error: question 2 of the file is no JSON object: *
= 1

# A file of results is not mixed with another evaluation's.
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -r r.jsonl -a "a: -n 4 -t 1 --steps 1" >x; dllm eval q.jsonl -r r.jsonl -a "a: -n 4 -t 1 --steps 2"
! error: the results file has answers of arm "a" with the options "-n 4 -t 1 --steps 1", not "-n 4 -t 1 --steps 2"; give the arm another name or the results another file
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -r r.jsonl --common "-n 4 -t 1" >x; sed -i s/1?/3?/ q.jsonl; dllm eval q.jsonl -r r.jsonl --common "-n 4 -t 1"
! error: the results file is of other questions: number 1 there is "1?"; give the results another file
= 2
$ echo '{"question": "1?", "answer": "x"}' >q.jsonl; dllm eval q.jsonl -r q.jsonl --common "-n 4 -t 1"
! error: line 1 of "q.jsonl" is no answer of an evaluation; --results goes on only with a file of answers: name another one
= 1

# Nor is what is none of ours taken for a torn line of it, and removed: a file of one line without its end.
$ printf '{"question": "1?", "answer": "x"}' > q; printf '{"arm":"a","opt' > torn; printf '{"' > torn2
> for f in q torn torn2; do dllm eval q -r $f -a "a: -n 4 -t 1 --steps 1" > x; echo $? $(wc -l < $f); done; cat q; echo
| 1 0
| 0 1
| 0 1
| {"question": "1?", "answer": "x"}
! error: line 1 of "q" is no answer of an evaluation; --results goes on only with a file of answers: name another one

# Two evaluations do not share a file of results: the second would ask everything again, and cut off what the first one writes.
$ echo '{"question": "1?", "answer": "x"}' > q.jsonl; printf '{"arm":"a","opt' > r.jsonl
> flock r.jsonl dllm eval q.jsonl -r r.jsonl -a "a: -n 4 -t 1 --steps 1"; echo $? $(wc -c < r.jsonl)
| 1 15
! error: another dllm is writing "r.jsonl"; wait for it, or name another file

# Valid JSON that cannot be used is told from what is no JSON.
$ printf '{"question": "a\\u0000b", "answer": "x"}\n' > q.jsonl; dllm eval q.jsonl --arm a:
! error: question 1 of the file is no JSON object: a text holds \u0000, which no option can take; leave it out
= 1
