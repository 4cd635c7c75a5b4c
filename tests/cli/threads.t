Threads: any number gives the same answer, beside other processes too, and none of them works when there is nothing to do.

$ m="$models/llada-Q4_K_M.gguf"; dllm run -m "$m" hi -n 16 --no-early-stop -t 1 > one
> for t in 2 3 5 7 13 64; do dllm run -m "$m" hi -n 16 --no-early-stop -t $t | cmp - one && echo $t; done
| 2
| 3
| 5
| 7
| 13
| 64
$ m="$models/llada-Q4_K_M.gguf"; dllm run -m "$m" hi -n 16 --no-early-stop -t 1 > one
> for i in 1 2 3 4; do dllm run -m "$m" hi -n 16 --no-early-stop -t 4 > $i & done; wait; for i in 1 2 3 4; do cmp $i one; done
$ m="$models/llada-Q4_K_M.gguf"; dllm run -m "$m" hi -n 16 --no-early-stop -t 1 > one; dllm run -m "$m" hi -n 16 --no-early-stop -t 3 > stopped & pid=$!
> for i in 1 2 3 4 5; do kill -STOP $pid 2> /dev/null; sleep 0.02; kill -CONT $pid 2> /dev/null; sleep 0.005; done; wait; cmp stopped one

# Processor time while a chat or a batch waits for input, after a first answer: sooner or later below a tenth of a
# second in a second, which threads that went on spinning would never reach.
$ used() { awk '{ print $14 + $15 }' /proc/$1/stat; }
> mkfifo pipe; for with in "chat -n 8 -t 4" "run --input - -n 8 -t 4"; do
>   dllm $with < pipe > out 2> /dev/null & pid=$!; exec 9> pipe
>   case $with in chat*) echo hi >&9 ;; *) echo '{"prompt": "hi"}' >&9 ;; esac
>   until [ -s out ]; do sleep 0.01; done
>   for try in $(seq 20); do before=$(used $pid); sleep 1; after=$(used $pid); [ $((after - before)) -ge 10 ] || break; done
>   [ $((after - before)) -lt 10 ] && echo idle
>   exec 9>&-; wait $pid; done
| idle
| idle
