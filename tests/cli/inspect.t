Any GGUF file, runnable or not.

$ dllm inspect "$models/llada-Q4_K_M.gguf" | sed -n '2,7p'
| format:       GGUF version 3
| size:         1420896 bytes (1.36 MiB)
| architecture: llada
| name:         llada
| contents:     25 keys, 21 tensors
|~ memory:       the file, mapped, and * MiB for a canvas of 148 positions
$ dllm inspect "$models/llada-Q4_K_M.gguf" | grep -e block_count -e 'ggml.tokens' -e 'Q6_K  ' -e ' output.weight'
|   llada.block_count (u32) = 2
|   tokenizer.ggml.tokens (string x 1024) = ["!", "\"", "#", "$", "%", "&", ...]
|   Q6_K         3 tensors  420.00 KiB
|   output.weight Q6_K [256, 1024] at 27232, 215040 bytes

# --full shows arrays whole.
$ dllm inspect --full "$models/llada-Q4_K_M.gguf" | grep ggml.tokens | tr ',' '\n' | wc -l
|~ 10[0-9][0-9]

# --json, shortened and whole.
$ for full in "" --full; do dllm inspect $full --json "$models/dream-Q4_K_M.gguf" | python3 -c '
> import json, sys
> f = json.load(sys.stdin)
> tokens = [k for k in f["keys"] if k["name"] == "tokenizer.ggml.tokens"][0]
> print(f["architecture"], f["tensor_count"] == len(f["tensors"]), f["run"]["possible"],
>       sum(t["tensors"] for t in f["types"]) == len(f["tensors"]), tokens["count"], len(tokens["value"]))'; done
% python3
| dream True True True 1024 6
| dream True True True 1024 1024

# A file that this build cannot run is shown all the same, with the reason.
$ LC_ALL=C sed '0,/llada/s/llada/llama/' "$models/llada-Q4_K_M.gguf" > llama.gguf
> dllm inspect llama.gguf | sed -n '4p;7p'
| architecture: llama
| not runnable: model architecture 'llama' is not supported; supported: llada, dream, llada-moe, rnd1

# What is no GGUF file is an error.
$ echo hello > x; dllm inspect x
!~ error: x: header at byte 0: not a GGUF file: *
= 1

# A model in several files is one model, whichever part is named.
$ "$tests/split_model.py" "$models/llada-Q4_K_M.gguf" m 3; dllm inspect m-00002-of-00003.gguf |
> grep -e '^parts' -e '^  [1-3]: ' -e contents -e ' token_embd.weight' -e ' output.weight'
% python3
| parts:        3 files
|~   1: m-00001-of-00003.gguf, * KiB
|~   2: m-00002-of-00003.gguf, * KiB
|~   3: m-00003-of-00003.gguf, * KiB
| contents:     28 keys, 21 tensors
|~   output.weight Q6_K ?256, 1024? at *, 215040 bytes in part 2
|~   token_embd.weight Q4_K ?256, 1024? at *, 147456 bytes in part 2
$ "$tests/split_model.py" "$models/llada-Q4_K_M.gguf" m 3; dllm inspect --json m-00001-of-00003.gguf | python3 -c '
> import json, sys
> f = json.load(sys.stdin)
> print([p["file"] for p in f["parts"]], sorted({t["part"] for t in f["tensors"]}), f["run"]["possible"])'
% python3
| ['m-00001-of-00003.gguf', 'm-00002-of-00003.gguf', 'm-00003-of-00003.gguf'] [2, 3] True
$ "$tests/split_model.py" "$models/llada-Q4_K_M.gguf" m 3; for m in m-00003-of-00003.gguf "$models/llada-Q4_K_M.gguf"; do
> dllm logits -m $m --tokens 3,5,17,961 -o x; sha256sum < x; done | uniq -c | sed 's/ *//; s/ .*//'
% python3
| 2

# A part that is not there is named.
$ "$tests/split_model.py" "$models/llada-Q4_K_M.gguf" m 3; rm m-00002-of-00003.gguf; dllm inspect m-00003-of-00003.gguf
% python3
! error: m-00002-of-00003.gguf, part 2 of a model split into 3 files, is missing; all parts were expected in one folder: download it
= 1
