What happens at the ends of the streams: interruption, closed pipes, full disks, other locales.

# Ctrl-c: the answer so far is printed and the exit code is 130, at the first moment too and in the middle.
$ "$tests/interrupt.sh" dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1900 --block-length 1900 --json > out
> echo $?; python3 -c 'import json; print(json.load(open("out"))["finish_reason"])'
% python3
| 130
| interrupted
$ "$tests/interrupt.sh" -u '[ "$(wc -l < log)" -ge 3 ]' dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1900 --block-length 1 --dump-step-stats > out 2> log
> echo $?; wc -l < out
| 130
| 1

# A reader that goes away ends the program quietly, by the usual signal.
$ exec 3> >(:); wait $!; dllm inspect --full "$models/llada-Q4_K_M.gguf" >&3; echo $? >&2
! 141
$ exec 3> >(:); wait $!; dllm tokenize -m "$models/llada-Q4_K_M.gguf" hi >&3; echo $? >&2
! 141

# A full disk is an error, for results on stdout ...
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 4 > /dev/full
! error: the output could not be written: No space left on device
= 1
$ dllm help run > /dev/full
! error: the output could not be written: No space left on device
= 1
$ dllm inspect --json "$models/llada-Q4_K_M.gguf" > /dev/full
! error: the output could not be written: No space left on device
= 1

# ... and in a file, of which nothing stays behind.
$ mkdir full; (ulimit -f 1; dllm logits -m "$models/llada-Q4_K_M.gguf" --tokens 1,2,3,4 -o full/x.npy)
> echo $?; ls full
!~ error: "full/x.npy" could not be written: File too large
| 1

# A model that is cut short while it runs: an error that names it, and no half file.
$ cp "$models/llada-Q4_K_M.gguf" m.gguf; dllm run -m m.gguf hi -n 1900 --block-length 1 --trace t.jsonl & pid=$!
> until ls t.jsonl.* > /dev/null 2>&1 || ! kill -0 $pid; do sleep 0.01; done; truncate -s 4096 m.gguf; wait $pid; echo $?; ls
| 1
| m.gguf
! error: "m.gguf" lost bytes while it was in use: it was cut short, or its disk failed; get the file whole again and leave it alone meanwhile

# A signal that ends the program leaves no half file.
$ for signal in TERM HUP BUS; do
>   dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1900 --block-length 1 --trace t.jsonl 2> /dev/null & pid=$!
>   until ls t.jsonl.* > /dev/null 2>&1 || ! kill -0 $pid; do sleep 0.01; done; kill -$signal $pid; wait $pid; echo $?
> done 2> /dev/null; ls
| 143
| 129
| 135

# Closed standard streams: files that are opened do not take their place.
$ dllm --version >&-
! error: the output could not be written: Bad file descriptor
= 1
$ dllm logits -m "$models/llada-Q4_K_M.gguf" --tokens 1 -o x.bin <&- >&- 2>&-; wc -c < x.bin
| 4096

# With a prompt given, nothing is read from standard input: here it never ends.
$ mkfifo never; exec 3<> never; dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1 < never > /dev/null; echo $?
| 0

# Numbers have a decimal point under a locale with a decimal comma.
$ mkdir -p locale && localedef -i de_DE -f UTF-8 "$PWD/locale/de_DE.UTF-8" > /dev/null 2>&1
> LOCPATH=$PWD/locale LC_ALL=de_DE.UTF-8 dllm run -m "$models/dream-Q4_K_M.gguf" hi -n 4 --temperature 0.5 --json |
>   LC_ALL=C grep -o '"temperature": [0-9.,]*'
% localedef
| "temperature": 0.5,

# A progress bar on stderr when that is a terminal, none in a pipe.
$ TERM=xterm script -qec "dllm run -m $models/llada-Q4_K_M.gguf hi -n 4 --steps 4 > answer" /dev/null < /dev/null |
>   tr '\r' '\n' | sed 's/^\x1b\[K//' | grep -c '^\[##*\.*\] step [1-4] of 4, [0-9.]* s'
> dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 4 --steps 4 2>&1 | cmp - answer
% script
| 4
