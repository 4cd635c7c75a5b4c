Where it computes, on a machine with one GPU that tests/cuda_emu plays. EMU_... make it another machine.

# doctor names what there is, whether the demo model says there what it says on the CPU, and why nothing can be used.
$ dllm doctor | grep ^GPU
|~ GPU         ok     0: Emulated GPU, compute capability 8.0, 16.00 GiB free of 16.00 GiB, the demo model's logits are the CPU's (cosine 0.9999??); the driver has CUDA 13.0, this build 13.0
$ EMU_COMPUTE=75 dllm doctor | grep -A1 ^GPU
| GPU         NOT OK 0: Emulated GPU, compute capability 7.5, 16.00 GiB free of 16.00 GiB, the demo model does not run there: gpu:0 (Emulated GPU) has compute capability 7.5; the driver has CUDA 13.0, this build 13.0
|                    -> 8.0 or newer is needed: compute on the CPU (--device cpu)
$ EMU_DRIVER=0 dllm doctor | grep ^GPU
| GPU         ok     no GPU: no driver
$ EMU_DRIVER=12040 dllm doctor | grep ^GPU
| GPU         ok     no GPU: the driver is too old: it has CUDA 12.4, this build needs 13.0
$ EMU_DEVICES=0 dllm doctor | grep ^GPU
| GPU         ok     no GPU: no CUDA-capable device is detected

# The same as errors, with what to do.
$ EMU_DRIVER=0 dllm run --device gpu hi
! error: no GPU: no driver; install NVIDIA's driver for CUDA 13.0 or newer, or compute on the CPU (--device cpu)
= 1
$ EMU_DRIVER=12040 dllm run --device gpu hi
! error: no GPU: the driver is too old: it has CUDA 12.4, this build needs 13.0; update NVIDIA's driver, or compute on the CPU (--device cpu)
= 1
$ EMU_DEVICES=0 dllm run --device gpu hi
! error: no GPU: no CUDA-capable device is detected; compute on the CPU (--device cpu)
= 1
$ dllm run --device gpu:1 hi
! error: no such GPU: gpu:1; there is 1, from gpu:0 on (dllm doctor lists them)
= 1
$ EMU_COMPUTE=75 dllm run --device gpu hi
! error: gpu:0 (Emulated GPU) has compute capability 7.5; 8.0 or newer is needed: compute on the CPU (--device cpu)
= 1
$ dllm run --device gpu --cpu-level avx2 hi
! error: a CPU level (avx2) has no effect on a GPU; leave it out, or compute on the CPU (--device cpu)
= 2

# auto takes the GPU; where it cannot, the CPU, and says why when it is asked.
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 2 --verbose 2>&1 >/dev/null | grep ^device
|~ device: gpu:0, level sm_80, *
$ EMU_DEVICES=2 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 2 --device gpu:1 --verbose 2>&1 >/dev/null | grep ^device
|~ device: gpu:1, level sm_80, *
$ EMU_COMPUTE=75 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 2 --verbose 2>&1 >/dev/null | grep ^device
|~ device: cpu (auto: gpu:0 (Emulated GPU) has compute capability 7.5), level *
$ EMU_MEMORY=2000000 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 2 --verbose 2>&1 >/dev/null | grep ^device
|~ device: cpu (auto: the model does not fit on gpu:0: its weights take 1.4 MB and a canvas * MB, and 2.0 of 2.0 MB are free), level *

# A model that does not fit is refused with the numbers, and so is a canvas.
$ EMU_MEMORY=1000000 dllm run -m "$models/llada-Q4_K_M.gguf" hi --device gpu
!~ error: the model does not fit on gpu:0: its weights take 1.4 MB and a canvas * MB, and 1.0 of 1.0 MB are free; take a smaller quantization, or compute on the CPU (--device cpu)
= 1
$ EMU_MEMORY=27500000 dllm run -m "$models/llada-Q4_K_M.gguf" hi --device gpu
!~ error: the model does not fit on gpu:0: *; take a smaller quantization, or compute on the CPU (--device cpu); 1 of 2 layers would fit (--gpu-layers 1)
= 1
$ EMU_MEMORY=30000000 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1900 --device gpu
!~ error: the GPU's memory is too small: * MB are needed now, * of 30.0 MB are free; take a shorter canvas or a smaller quantization, leave more layers to the CPU (--gpu-layers), or compute there (--device cpu)
= 1

# Recordings take memory of the card: without it for one more the others go, without any there are none.
$ for bytes in 30000000 60000000 200000000; do EMU_MEMORY=$bytes EMU_GRAPH_NODE=3000000 dllm run -m "$models/llada-Q4_K_M.gguf" --device gpu --cache dual --block-length 4 -n 16 hi; done | sort -u | wc -l
| 1

# Where a model fits, a canvas of 512 positions does.
$ EMU_MEMORY=27950000 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 490 --block-length 490 --steps 1 --device gpu >/dev/null

# The built-in model knows the answer there too.
$ dllm run --device gpu -n 8 "What is the capital of France?"
| Paris
$ printf '%s\n' '{"prompt": "What is the capital of France?", "max_tokens": 8}' '{"prompt": "What is the capital of Italy?", "max_tokens": 8}' | dllm run --input - --device gpu 2>/dev/null | python3 -c '
> import json, sys
> for line in sys.stdin: print(json.loads(line)["text"])'
% python3
| Paris
| Rome

# Layers that the CPU keeps: a number, or as many as fit; the answer does not depend on it.
$ EMU_MEMORY=27500000 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 2 --gpu-layers auto --verbose 2>&1 >/dev/null | grep ^device
|~ device: gpu:0 (1 of 2 layers), level sm_80 + *, * threads
$ EMU_MEMORY=27500000 dllm doctor -m "$models/llada-Q4_K_M.gguf" | grep ^model
|~ model       ok     *: fits into memory; 1 of 2 layers fit on GPU 0 (--device gpu:0 --gpu-layers 1)
$ EMU_MEMORY=100000 dllm doctor -m "$models/llada-Q4_K_M.gguf" | grep ^model
|~ model       ok     *: fits into memory; nothing of it fits on GPU 0
$ dllm doctor -m "$models/llada-Q4_K_M.gguf" | grep ^model
|~ model       ok     *: fits into memory; all 2 layers fit on GPU 0
$ for n in 0 1 2 3 all; do dllm run --gpu-layers $n -n 8 "What is the capital of France?"; done
| Paris
| Paris
| Paris
| Paris
| Paris
$ dllm score --gpu-layers 0 --prompt "What is the capital of France?" --answer Paris --samples 4 --batch 2 --json | grep -c log_likelihood
| 1
$ dllm bench --gpu-layers 1 -m "$models/llada-Q4_K_M.gguf" --canvas 24 --reps 1 | grep -c "gpu:0 (1 of 2 layers), level sm_80 + "
| 1
$ dllm run --gpu-layers 1 --cpu-level ref --verbose -n 2 hi 2>&1 >/dev/null | grep ^device
|~ device: gpu:0 (1 of * layers), level sm_80 + ref, *

# What cannot be.
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi --gpu-layers 3
! error: the layers for the GPU are "3"; a number from 0 to 2 (as many as the model has), all or auto was expected
= 2
$ dllm run hi --gpu-layers some
! error: --gpu-layers needs a number of layers, all or auto, not "some"
= 2
$ dllm run hi --gpu-layers 1 --device cpu
! error: layers for a GPU (1) have no effect on the CPU; leave that out, or compute on a GPU (--device gpu)
= 2
$ dllm run hi --gpu-layers all --cpu-level avx2
! error: a CPU level (avx2) has no effect on a GPU; leave it out, or compute on the CPU (--device cpu)
= 2
$ EMU_DEVICES=0 dllm run hi --gpu-layers 1
! error: no GPU: no CUDA-capable device is detected; compute on the CPU (--device cpu)
= 1
$ echo '{"prompt": "hi"}' | dllm run --input - --gpu-layers 1 --parallel 128 -n 1000000 --allow-long 2> /dev/null
|~ *what the CPU has of the model does not fit: it takes * of them for 128 canvases of 1000* positions, and *
= 1

# Steps beside what the card reaches: the floor is the larger of weights over bandwidth and operations over their ceiling.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 20 --rows 3 --reps 1 --device gpu
|~ model "*", llada, Q4_K + Q6_K, 1.36 MiB
|~ gpu:0, level sm_80, * threads, canvas 20, 1 repetitions
|~ loaded in *
|~ peak memory *
|
|~ step, logits of 3 rows: *.* ms (*.* to *.*)
|~   head * ms * %
|~   layers * ms * %
|~   canvas tokens *.* a second
|~   weights read      *.* GB/s of *.* (*.* %)
|~   matrix products   *.* Gop/s of *.* (*.* %)
|~   floor * ms, the step takes *.* times as long
|~   processor use * threads
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 20 --rows 3 --reps 1 --device gpu --json > x.json; python3 -c '
> import json
> x = json.load(open("x.json"))["step"]
> seconds = (x["layers_ms"] + x["head_ms"]) / 1e3
> reading = x["weight_gb_per_s"] * seconds / x["bandwidth_ceiling_gb_per_s"]
> computing = x["gop_per_s"] * seconds / x["ceiling_gop_per_s"]
> def same(a, b): return abs(a / b - 1) < 1e-6
> print(same(x["floor_ms"], 1e3 * max(reading, computing)), same(x["times_floor"], x["ms"] / x["floor_ms"]))
> print(same(x["share_of_ceiling"], computing / seconds), same(x["share_of_bandwidth"], reading / seconds))'
% python3
| True True
| True True

# Where the CPU has a part there is no floor, and without memory for it no bandwidth.
$ dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 20 --rows 3 --reps 1 --gpu-layers 1 | grep -e floor -e "weights read" -e products
|~   weights read      *.?? GB/s
|~   matrix products   *.* Gop/s (this level has no ceiling)
$ EMU_MEMORY=268700000 dllm bench --matmul Q4_K:256x512x9 --device gpu --reps 1 --json > x.json; python3 -c '
> import json
> x = json.load(open("x.json"))["products"][0]
> print(x["ceiling_gop_per_s"] > 0, [x[key] for key in ("bandwidth_ceiling_gb_per_s", "share_of_bandwidth", "floor_ms", "times_floor")])'
% python3
| True [None, None, None, None]

# Several prompts in a pass: all are in it, so that it reads the weights once, for as many times the products.
$ for n in 1 3; do dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 20 --rows 3 --reps 1 --prompts $n --json; done > x.json; python3 -c '
> import json
> one, three = (json.loads(line) for line in open("x.json"))
> print(one["prompts"], three["prompts"])
> def totals(bench):
>     step = bench["step"]
>     ms = step["layers_ms"] + step["head_ms"]
>     return round(step["weight_gb_per_s"] * ms * 1e6), round(step["gop_per_s"] * ms * 1e6)
> (bytes1, products1), (bytes3, products3) = totals(one), totals(three)
> print(bytes1 == bytes3, products3 == 3 * products1 > 0)
> step = three["step"]
> print(abs(3 * step["ms_per_prompt"] / step["ms"] - 1) < 1e-6, abs(step["canvas_tokens_per_s"] * step["ms"] / 60e3 - 1) < 1e-6)'
% python3
| 1 3
| True True
| True True
$ dllm bench -m "$models/dream-Q4_K_M.gguf" --canvas 20 --rows 3 --all-rows --reps 1 --prompts 2 --gpu-layers 1 | grep -A 1 -e "a pass" -e ^step
|~ gpu:0 (1 of 2 layers), level sm_80 + *, canvas 20, 2 prompts a pass, 1 repetitions
|~ loaded in *
| --
|~ step of 2 prompts, logits of 3 rows each: * ms (* to *)
|~   each prompt * ms
| --
|~ step of 2 prompts, logits of 20 rows each: * ms (* to *)
|~   each prompt * ms
$ EMU_MEMORY=30000000 dllm bench -m "$models/llada-Q4_K_M.gguf" --reps 1 --device gpu --prompts 32
!~ error: the GPU's memory is too small: * MB are needed now, *
= 1

# A kernel that does what none may: whatever is computed then fails, and nothing is measured. Of two requests the second one
# has its memory before or after the fault.
$ EMU_FAULT=20 dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 4 --device gpu
! error: gpu:0 failed (computation: an illegal memory access was encountered, cudaErrorIllegalAddress); run again, and if it fails again compute on the CPU (--device cpu)
= 1
$ printf '%s\n' '{"prompt": "a", "max_tokens": 8}' '{"prompt": "b", "max_tokens": 8}' | EMU_FAULT=40 dllm run -m "$models/llada-Q4_K_M.gguf" --input - --device gpu 2>/dev/null | grep -cE '"error": "(gpu:0 failed \(|the GPU gives no memory: an illegal memory access)'
| 2
$ printf '%s\n' '{"prompt": "a", "max_tokens": 8}' '{"prompt": "b b", "max_tokens": 640}' | EMU_FAULT=40 dllm run -m "$models/llada-Q4_K_M.gguf" --parallel 1 --input - --device gpu 2>/dev/null | grep -c "the GPU gives no memory: an illegal memory access was encountered, cudaErrorIllegalAddress; "
| 1
$ EMU_FAULT=120 dllm bench -m "$models/llada-Q4_K_M.gguf" --canvas 20 --rows 3 --reps 3 --device gpu --prompts 3
!~ error: gpu:0 failed (*: an illegal memory access was encountered, cudaErrorIllegalAddress); *
= 1
$ for launch in 2 6 30; do EMU_FAULT=$launch dllm bench --matmul Q4_K:256x512x9 --device gpu --reps 3; done
!~ error: gpu:0 failed (*: an illegal memory access was encountered, cudaErrorIllegalAddress); *
!~ error: gpu:0 failed (*: an illegal memory access was encountered, cudaErrorIllegalAddress); *
!~ error: gpu:0 failed (*: an illegal memory access was encountered, cudaErrorIllegalAddress); *
= 1

# Products without a model.
$ dllm bench --matmul Q4_K:256x512x9 --matmul F16:64x64x3 --matmul F32:64x64x3 --device gpu --reps 1
|~ gpu:0, level sm_80, * threads, 1 repetitions
|
| type   rows x width x tokens         ms        min        max  int8 or float operations, weights read, ceilings
|~ Q4_K   256x512x9 *.* *.* *.* Gop/s of *.* (*.* %), *.* GB/s of *.* (*.* %)
|~ F16    64x64x3 *.* *.* *.* Gop/s of *.* (*.* %), *.* GB/s of *.* (*.* %)
|~ F32    64x64x3 *.* *.* *.* Gop/s (this level has no ceiling), *.* GB/s of *.* (*.* %)
$ dllm bench --matmul Q4_K:256x512x9 --reps 1 --json | grep -o '"device": "gpu:0", "cpu_level": "sm_80"'
| "device": "gpu:0", "cpu_level": "sm_80"
$ EMU_MEMORY=1000000 dllm bench --matmul Q4_K:256x512x9 --device gpu --reps 1
!~ error: the product does not fit on gpu:0: 268.* MB of matrices, * 0.0 MB of inputs and 0.0 MB of results are *
= 1
$ for bytes in 268500000 268700000 270000000; do EMU_MEMORY=$bytes dllm bench --matmul Q4_K:256x512x900 --device gpu --reps 1; done
!~ error: the product does not fit on gpu:0: 268.* MB of matrices, * 1.8 MB of inputs and 0.9 MB of results are *
!~ error: the product does not fit on gpu:0: 268.* MB of matrices, * 1.8 MB of inputs and 0.9 MB of results are *
!~ error: the product does not fit on gpu:0: 268.* MB of matrices, * 1.8 MB of inputs and 0.9 MB of results are *
= 1
$ dllm bench --matmul Q4_K:256x512x9 --device gpu --cpu-level avx2
! error: a CPU level (avx2) has no effect on a GPU; leave it out, or compute on the CPU (--device cpu)
= 2
