Where it computes. No GPU is to be seen here (run.sh), whatever the machine has.

# A GPU that is not there is an error before a model is looked for; the CPU is one option away.
$ dllm run -m none.gguf hi --device gpu
!~ error: no GPU: *--device cpu?
= 1
$ dllm logits -m none.gguf --tokens 1 --out x.npy --device gpu:3
!~ error: no GPU: *--device cpu?
= 1
$ dllm chat --device gpu < /dev/null
!~ error: no GPU: *--device cpu?
= 1
$ echo '{"prompt": "hi"}' | dllm run --input - --device gpu
!~ error: no GPU: *--device cpu?
= 1

# auto takes the CPU and says why when it is asked.
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1 --device auto --verbose 2>&1 >/dev/null | grep ^device
|~ device: cpu (auto: no GPU: *), level *, *
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1 --cpu-level ref --verbose 2>&1 >/dev/null | grep ^device
|~ device: cpu (auto: a CPU level was asked for), level ref, *
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 1 --device cpu --verbose 2>&1 >/dev/null | grep ^device
|~ device: cpu, level *, *

# doctor says the same; it is no fault.
$ dllm doctor | grep ^GPU
|~ GPU         ok     no GPU: *
