Measurements: what is printed, not how fast it was.

# Steps of a model: each line, and the times of parts below the time of the step.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --reps 3 -t 2 --cpu-level avx2
|~ model "*", llada, Q4_K + Q6_K, 1.36 MiB
| level avx2, 2 threads, canvas 148, 3 repetitions
|~ loaded in *.* s; first step began after * s, was finished after * s
|~ peak memory * MiB, workspace *iB
|
|~ step, logits of 32 rows: *.* ms (*.* to *.*)
|~   matmul * ms * %
|~   attention * ms * %
|~   head * ms * %
|~   rest * ms * %
|~   canvas tokens *.* a second
|~   weights read *.* GB/s
|~   matrix products   *.* Gop/s of *.* (*.* %)
|~   processor use *.* of 2 threads
$ dllm bench -m "$models/dream-Q4_K_M.gguf" --canvas 40 --rows 7 --all-rows --reps 2 | grep ^step
|~ step, logits of 7 rows: *
|~ step, logits of 40 rows: *

# The reference has no ceiling: none is made up.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --reps 1 --canvas 9 --cpu-level ref | grep products
|~   matrix products   *.* Gop/s (this level has no ceiling)

# The same as JSON: the medians are those of the times, the parts stay below the whole.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --reps 3 --canvas 33 --all-rows --json -t 1 > x.json; wc -l < x.json; python3 -c '
> import json, statistics
> x = json.load(open("x.json"))
> print(x["arch"], x["threads"], x["canvas"], x["reps"], x["step"]["rows"], x["all_rows"]["rows"])
> print(x["load_s"] < x["first_step_began_s"] < x["first_step_finished_s"], x["peak_rss_bytes"] > 1 << 20)
> for s in x["step"], x["all_rows"]:
>     print(len(s["ms_each"]), s["ms"] == statistics.median(s["ms_each"]),
>           s["ms_min"] == min(s["ms_each"]), s["ms_max"] == max(s["ms_each"]),
>           all(0 < s[part + "_ms"] < s["ms_max"] for part in ("matmul", "attention", "head", "rest")),
>           s["gop_per_s"] > 0, s["weight_gb_per_s"] > 0, 0 < s["processor_use"] < 1.5,
>           abs(s["canvas_tokens_per_s"] / (33000 / s["ms"]) - 1) < 1e-6)'
% python3
| 1
| llada 1 33 3 32 33
| True True
| 3 True True True True True True True True
| 3 True True True True True True True True

# Products of random matrices, types in either case.
$ dllm bench --matmul q4_K:64x256x3 --matmul F32:16x5x1 --reps 2 -t 1 --cpu-level avx2
| level avx2, 1 thread, 2 repetitions
|
| type   rows x width x tokens         ms        min        max     GB/s  int8 or f32 operations, ceiling
|~ Q4_K   64x256x3 *.* *.* *.* *.*  *.* Gop/s of *.* (*.* %)
|~ F32    16x5x1 *.* *.* *.* *.*  *.* Gop/s of *.* (*.* %)

# Rates follow from time, shape and type: 2 operations a weight and token, 144 bytes a block of 256.
$ dllm bench --matmul Q4_K:512x1024x7 --reps 1 -t 1 --json | python3 -c '
> import json, sys
> x = json.load(sys.stdin)["products"]
> p = x[0]
> print(len(x), p["type"], p["rows"], p["width"], p["tokens"], p["threads"])
> s = p["ms"] / 1000
> print(round(p["gop_per_s"] * s * 1e9), round(p["weight_gb_per_s"] * s * 1e9), 512 * 1024 // 256 * 144)'
% python3
| 1 Q4_K 512 1024 7 1
| 7340032 294912 294912

# Shapes that are none are found before the first is measured.
$ dllm bench --matmul Q4_K:4096x4096
! error: --matmul needs TYPE:ROWSxWIDTHxTOKENS, such as Q4_K:4096x4096x148, not "Q4_K:4096x4096"
= 2
$ dllm bench --matmul Q4_K:64x256x1 --matmul Q4_K:0x256x1
! error: --matmul needs TYPE:ROWSxWIDTHxTOKENS, such as Q4_K:4096x4096x148, not "Q4_K:0x256x1"
= 2
$ dllm bench --matmul Q4_Z:64x256x1
! error: --matmul Q4_Z:64x256x1: there is no type "Q4_Z"; Q4_K and Q6_K are two
= 2
$ dllm bench --matmul Q4_K:64x256x1 --matmul Q4_K:64x100x1
! error: --matmul Q4_K:64x100x1: a product's width is 100; a multiple of 256 was expected, since Q4_K has blocks of that many weights
= 2
$ dllm bench --matmul Q8_K:64x256x1
! error: --matmul Q8_K:64x256x1: type Q8_K cannot be multiplied; expected one of F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, IQ3_S, IQ3_XXS, IQ2_S, IQ2_XS, IQ2_XXS, IQ1_M, IQ1_S, MXFP4, TQ1_0, TQ2_0
= 2
$ dllm bench --matmul Q4_K:64x256x9000000
! error: --matmul Q4_K:64x256x9000000: a product's tokens is 9000000; a number from 1 to 4194304 was expected
= 2

# Options that would be ignored, and what is missing.
$ dllm bench
! error: there is nothing to measure: give --model or --matmul
= 2
$ dllm bench -m none.gguf --matmul Q4_K:64x256x1
! error: --model and --matmul exclude each other: one run measures one or the other
= 2
$ dllm bench --matmul Q4_K:64x256x1 --canvas 9
! error: --matmul and --canvas exclude each other: a shape says its tokens
= 2
$ dllm bench --matmul Q4_K:64x256x1 --all-rows
! error: --matmul and --all-rows exclude each other: without a model there are no logits
= 2
$ dllm bench -m none.gguf --rows 149
! error: --rows is 149, but the canvas has 148 positions; give at most as many rows, or a longer --canvas
= 2
$ dllm bench -m none.gguf --reps 0
! error: --reps needs a whole number from 1 to 100000, not "0"
= 2
$ dllm bench -m none.gguf
!~ error: there is no file "none.gguf"*
= 1

$ dllm bench --matmul Q4_K:64x256x1 --prompts 2
! error: --matmul and --prompts exclude each other: without a model there are no prompts
= 2
$ dllm bench -m none.gguf --prompts 33
! error: --prompts needs a whole number from 1 to 32, not "33"
= 2

# On the CPU prompts share no pass; one alone is what it does anyway.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --device cpu --prompts 2
! error: --prompts 2 has no effect on the CPU, where prompts share no pass; leave it out, or compute on a GPU (--device gpu)
= 2
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 9 --reps 1 --prompts 1 --json | grep -c '"prompts": 1, '
| 1

# Ctrl-c ends a measurement with nothing on stdout.
$ "$tests/interrupt.sh" dllm bench -m "$models/llada-Q4_K_M.gguf" --reps 100000
= 130
