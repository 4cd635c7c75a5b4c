Runs that fail: exit code 1, or 2 where an option does not fit the model.

# A text far too long is one for the context length, not for more memory.
$ head -c 4000000 /dev/zero | tr '\0' a > big; dllm run --prompt-file big -n 4; dllm score --prompt-tokens "$(seq -s, 600)" --answer a
! error: the canvas (prompt, generated positions and suffix) has 4000014 positions, but the model's context length is 512; shorten it, or permit it with --allow-long
! error: the canvas (prompt, generated positions and suffix) has 601 positions, but the model's context length is 512; shorten it, or permit it with --allow-long
= 2

# What is no model.
$ dllm run -m none.gguf hi
! error: there is no file "none.gguf"; the model must be the path of a GGUF file, OWNER/NAME[:QUANT] at the hub, llada, dream, or demo, the built-in one
= 1
$ dllm run -m . hi
! error: "." is a directory; the model must be the path of a GGUF file
= 1
$ echo hello > text.gguf; dllm run -m text.gguf hi
!~ error: text.gguf: header at byte 0: not a GGUF file: *
= 1
$ : > text.gguf; dllm run text.gguf
! error: "text.gguf" is a model's file where the prompt belongs; give the file with -m, and a prompt (or such a prompt with --prompt)
= 2
$ : > empty.gguf; dllm run -m empty.gguf hi
!~ error: *empty.gguf*
= 1
$ head -c 100000 "$models/llada-Q4_K_M.gguf" > cut.gguf; dllm run -m cut.gguf hi
!~ error: cut.gguf: tensor *
= 1

# Names in a broken file cannot send commands to the terminal.
$ LC_ALL=C sed 's/llada.block_count/llada.block\x1b[31m/' "$models/llada-Q4_K_M.gguf" > bad.gguf
> dllm run -m bad.gguf hi 2>&1 | LC_ALL=C grep -c "$(printf '\033')"; true
| 0

# A file with an architecture that is not built in.
$ LC_ALL=C sed '0,/llada/s/llada/llama/' "$models/llada-Q4_K_M.gguf" > llama.gguf; dllm run -m llama.gguf hi
! error: model architecture 'llama' is not supported; supported: llada, dream, llada-moe, rnd1
= 1

# Options without effect on the model at hand.
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi --top-p 0.9
! error: --top-p has no effect with this model (architecture llada): LLaDA's sampler has no top-p; use --temperature
= 2
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi --eps 0.001
! error: --eps has no effect with this model (architecture llada): LLaDA's schedule shares masks out evenly
= 2
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi --remasking entropy
! error: --remasking entropy is a rule of Dream's sampler; with this model (architecture llada) use low_confidence or random, or give --entropy-bound too
= 2
$ dllm run -m "$models/dream-Q4_K_M.gguf" hi --cfg-scale 0.5
! error: --cfg-scale has no effect with this model (architecture dream): guidance is defined for LLaDA's sampler only
= 2
$ dllm run -m "$models/dream-Q4_K_M.gguf" hi --eos-policy defer
! error: --eos-policy has no effect with this model (architecture dream): end-token policies belong to LLaDA's sampler
= 2

# Lengths: fewer steps than blocks, a canvas beyond the context, ids beyond the vocabulary.
$ dllm run -m "$models/llada-Q4_K_M.gguf" hi -n 64 --block-length 16 --steps 3
!~ error: *steps*3*expected*4*
= 2
$ dllm run -m "$models/llada-Q4_K_M.gguf" --prompt-tokens 1 -n 2048
! error: the canvas (prompt, generated positions and suffix) has 2049 positions, but the model's context length is 2048; shorten it, or permit it with --allow-long
= 2
$ dllm run -m "$models/llada-Q4_K_M.gguf" --prompt-tokens 1,1024 -n 4
! error: id 1024 at position 1 of the prompt is outside the vocabulary; ids from 0 to 1023 were expected
= 2

# Prompts that cannot be read.
$ dllm run -m "$models/llada-Q4_K_M.gguf" --prompt-file none.txt
! error: "none.txt" could not be read: No such file or directory
= 1
$ dllm run -m "$models/llada-Q4_K_M.gguf" - <&-
! error: standard input could not be read: Bad file descriptor
= 1
$ echo '[{"role": "user"}]' > m.json; dllm run -m "$models/llada-Q4_K_M.gguf" --messages m.json
! error: message 1 of "m.json" is not of the form {"role": "system", "user" or "assistant", "content": TEXT}
= 1
$ echo '[{"role": "user\u0000", "content": "x"}]' > m.json; dllm run -m "$models/llada-Q4_K_M.gguf" --messages m.json
! error: message 1 of "m.json" is not of the form {"role": "system", "user" or "assistant", "content": TEXT}
= 1
$ echo '[{"role": "user", ' > m.json; dllm run -m "$models/llada-Q4_K_M.gguf" --messages m.json
!~ error: "m.json" is not valid JSON: line *
= 1
$ echo '{}' > m.json; dllm run -m "$models/llada-Q4_K_M.gguf" --messages m.json
! error: "m.json" must hold a JSON array of messages, such as [{"role": "user", "content": "Hello"}]
= 1
