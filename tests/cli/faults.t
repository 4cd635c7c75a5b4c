What goes wrong around the program: full disks, streams that are closed, broken, slow or without an end.

# A full disk is an error for whatever a command prints.
$ echo '{"question": "1?", "answer": "2"}' > q.jsonl; m=$root/tests/fuzz/corpus/model/llada
> while read -r line; do echo hi | dllm $line > /dev/full 2> err; echo "$? $(tail -n 1 err | cut -d: -f1,2) ${line%% *}"; done <<END
> run hi -n 2
> run --template x[[1]] --json
> chat -n 2
> tokenize hi
> inspect $m
> inspect --json $m
> bench -m $m --canvas 8 --reps 1
> doctor
> doctor --json
> score --prompt a --answer b --samples 1
> score --prompt a --answer b --samples 1 --json
> completion zsh
> eval q.jsonl --arm a:
> help
> --version
> END
| 1 error: the output could not be written run
| 1 error: the output could not be written run
| 1 error: the output could not be written chat
| 1 error: the output could not be written tokenize
| 1 error: the output could not be written inspect
| 1 error: the output could not be written inspect
| 1 error: the output could not be written bench
| 1 error: the output could not be written doctor
| 1 error: the output could not be written doctor
| 1 error: the output could not be written score
| 1 error: the output could not be written score
| 1 error: the output could not be written completion
| 1 error: the output could not be written eval
| 1 error: the output could not be written help
| 1 error: the output could not be written --version

# A file that cannot be written whole (the limit stands for a full disk) leaves nothing behind.
$ m=$root/tests/fuzz/corpus/model/llada; mkdir f; echo '{"question": "1?", "answer": "2"}' > q.jsonl; dllm run hi -n 8 --trace t.jsonl > /dev/null
> (ulimit -f 1
>   dllm run hi -n 60 --steps 30 --trace f/t > /dev/null; echo $?
>   dllm logits -m "$m" --tokens 1,2,3,4,5,6,7,8,9,10 -o f/x.npy; echo $?
>   dllm quantize "$m" f/q.gguf Q8_0; echo $?
>   dllm trace t.jsonl -o f/t.html; echo $?
> ) 2>&1 | cut -d: -f1,2; ls f
| error: "f/t" could not be written
| 1
| error: "f/x.npy" could not be written
| 1
| error: "f/q.gguf" could not be written
| 1
| error: "f/t.html" could not be written
| 1

# A file that is read is not written over: a model, questions, a trace.
$ cp $root/tests/fuzz/corpus/model/llada m; cp $root/tests/fuzz/corpus/trace/short t; echo '{"question": "1?", "answer": "2"}' > q
> ln m m2; cp m m.old; cp t t.old; cp q q.old; echo '[{"role": "user", "content": "a"}]' > c.json
> dllm run -m m --no-chat a -n 2 --trace m2; echo $?; dllm logits -m m --tokens 1 -o x --layers .; mv layer-00.npy layer-01.npy
> ln -s m layer-00.npy; dllm logits -m m --tokens 1 -o x --layers .; echo /save m2 | dllm chat -m m; dllm trace t -o ./t
> for name in q r; do dllm eval q --arm a: -r r --json $name >out; done; dllm run --prompt-file q -n 2 --trace q
> dllm quantize m m2 Q8_0; for f in m t q; do cmp $f $f.old; done; ls *.??????
> touch demo; dllm run hi -n 1 --trace demo | wc -l; wc -l <demo
| 2
| 1
| 3
! error: "m2" is a file that this command reads; writing would replace it: choose another name
! error: "./layer-00.npy" is a file that this command reads; writing would replace it: choose another name
! error: "m2" is a file that this command reads; writing would replace it: choose another name
! error: "./t" is a file that this command reads; writing would replace it: choose another name
! error: "q" is a file that this command reads; writing would replace it: choose another name
! error: "r" is a file that this command reads; writing would replace it: choose another name
! error: "q" is a file that this command reads; writing would replace it: choose another name
! error: "m2" is a file that this command reads; writing would replace it: choose another name
! ls: cannot access '*.??????': No such file or directory
# Where a file is needed "-" makes none of that name, and is no standard output either.
$ echo '{"question": "q", "answer": "a"}' > q; dllm run hi -n 2 --trace good > out; for c in "run hi -n 2 --trace -" "logits --tokens 1 -o -" "logits --tokens 1 -o x --layers -" \
>     "trace good -o -" "quantize q - Q8_0" "eval q --json - --arm a:-n2" "eval q -r - --arm a:-n2"; do dllm $c > out; echo $?; done; ls
| 2
| 2
| 2
| 2
| 2
| 2
| 2
| good
| out
| q
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
! error: "-" stands for no stream here, a file is needed; give its name, ./- for one that is called so
$ dllm quantize $root/tests/fuzz/corpus/model/llada "" Q8_0
! error: "" could not be opened for writing: No such file or directory
= 1

# One that grows keeps its whole lines.
$ for i in 1 2 3 4 5 6; do echo '{"prompt": "hi"}'; done > in.jsonl; (ulimit -f 1; dllm run --input in.jsonl -o out.jsonl -n 2 --steps 1 2> err; echo $?)
> tail -n 1 err; wc -l < out.jsonl; tail -c 1 out.jsonl | od -An -c
| 1
|~ error: "out.jsonl" could not be written: File too large; 1 results were written before
| 1
|   \n

# Standard input that is closed, or breaks.
$ for line in "run -" "run --prompt-file -" "run --messages -" "run --infill -" "run --input -" "tokenize -" "trace - -o x" "chat" "score --input -"; do
>   dllm $line <&- 2>&1 | head -n 1; done | sort | uniq -c | sed 's/^ *//'; ls
| 7 error: standard input could not be read: Bad file descriptor
| 2 error: the input "-" could not be read: Bad file descriptor
$ for line in "run --prompt-file" "run --messages" "run --infill" "trace -o x" "eval --arm a:"; do dllm $line /proc/self/mem 2>&1; done | sort | uniq -c | sed 's/^ *//'
> for command in run score; do dllm $command --input /proc/self/mem 2>&1 | head -n 1; done
| 5 error: "/proc/self/mem" could not be read: Input/output error
| error: the input "/proc/self/mem" could not be read: Input/output error
| error: the input "/proc/self/mem" could not be read: Input/output error

# A line without an end is not read for ever.
$ for command in run score; do dllm $command --input /dev/zero 2>&1 | head -n 1; done
| error: line 1 of "/dev/zero" has more than 64 MiB
| error: line 1 of "/dev/zero" has more than 64 MiB
$ dllm chat < /dev/zero
! error: standard input could not be read: File too large
= 1
$ echo '{"question": "1?", "answer": "2"}' > q.jsonl; dllm eval q.jsonl --arm a: -r /dev/full
! error: "/dev/full" exists and is not a regular file; choose another name
= 1

# A byte at a time, and stopped and continued meanwhile (which interrupts calls to the system): the same answers.
$ drip() { python3 -c 'import os, sys, time
> for byte in sys.argv[1].encode(): os.write(1, bytes([byte])); time.sleep(0.001)' "$1"; }
> prompt='What is 12 + 7?' messages='[{"role": "user", "content": "What is 12 + 7?"}]'
> lines='{"prompt": "What is 1 + 2?"}
> {"prompt": "What is 3 + 4?", "id": "b"}
> '
> for with in "run - -n 8" "run --messages - -n 8" "chat -n 8" "run --input - -n 8"; do
>   case $with in *messages*) text=$messages ;; *input*) text=$lines ;; *) text=$prompt ;; esac
>   printf %s "$text" | dllm $with 2> /dev/null > whole;
>   mkfifo pipe; dllm $with < pipe 2> /dev/null > slow & victim=$!; drip "$text" > pipe &
>   while kill -STOP $victim 2> /dev/null; do sleep 0.01; kill -CONT $victim 2> /dev/null; sleep 0.01; done; wait
>   cmp <(sed 's/"[a-z_]*_s": [^,]*,//; s/"ms_per_step": [^,}]*//' whole) <(sed 's/"[a-z_]*_s": [^,]*,//; s/"ms_per_step": [^,}]*//' slow) && echo same; rm pipe
> done
% python3
| same
| same
| same
| same
