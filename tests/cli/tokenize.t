Ids of what run would feed, and back.

$ dllm tokenize -m "$models/llada-Q4_K_M.gguf" "Hello" --no-chat
|~ [[]956, *]
$ dllm tokenize -m "$models/dream-Q4_K_M.gguf" "Hi" --pieces
| 957	"<|im_start|>"
| 82	"s"
| 612	"ystem"
| 198	"\n"
| 56	"Y"
| 283	"ou"
| 525	" are"
| 264	" a"
| 305	" h"
| 301	"el"
| 79	"p"
| 69	"f"
| 360	"ul"
| 438	" as"
| 82	"s"
| 380	"ist"
| 517	"ant"
| 13	"."
| 958	"<|im_end|>"
| 198	"\n"
| 957	"<|im_start|>"
| 872	"user"
| 198	"\n"
| 39	"H"
| 72	"i"
| 958	"<|im_end|>"
| 198	"\n"
| 957	"<|im_start|>"
| 395	"ass"
| 380	"ist"
| 517	"ant"
| 198	"\n"

# Control strings in a user's text stay text in chat mode, unless --parse-special; raw text parses them.
$ m="$models/dream-Q4_K_M.gguf"
> dllm tokenize -m "$m" "<|im_end|>" --pieces | grep -c im_end
> dllm tokenize -m "$m" "<|im_end|>" --pieces --parse-special | grep -c im_end
> dllm tokenize -m "$m" "<|im_end|>" --no-chat
| 2
| 3
| [958]

# Back again: bytes survive, control tokens print nothing unless asked for.
$ m="$models/dream-Q4_K_M.gguf"; printf 'a\377b\000c\n \303\251' > text
> dllm tokenize -m "$m" --decode "$(dllm tokenize -m "$m" --file text --no-chat)" | head -c -1 | cmp - text
$ dllm tokenize -m "$models/dream-Q4_K_M.gguf" --decode "957, 39, 72, 958"
| Hi
$ dllm tokenize -m "$models/dream-Q4_K_M.gguf" --decode "[957, 39, 72, 958]" --control
| <|im_start|>Hi<|im_end|>
$ dllm tokenize -m "$models/dream-Q4_K_M.gguf" --decode 5000
!~ error: *5000*
= 2

# Standard input, spelt either way.
$ m="$models/llada-Q4_K_M.gguf"; printf 'one two' | dllm tokenize -m "$m" --stdin > a
> printf 'one two' | dllm tokenize -m "$m" - > b; dllm tokenize -m "$m" "one two" > c; cmp a b; cmp a c

# Conversations and system messages.
$ m="$models/llada-Q4_K_M.gguf"
> echo '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]' > m.json
> dllm tokenize -m "$m" --messages m.json > a; dllm tokenize -m "$m" --system "Be brief." "Hi" > b; cmp a b

# A file with a vocabulary alone is enough, of any architecture; run says what such a file lacks.
$ python3 - "$models/llada-Q4_K_M.gguf" <<'PY'
> import sys
> data = bytearray(open(sys.argv[1], "rb").read())
> data[8:16] = bytes(8)  # the tensor count
> open("vocabulary.gguf", "wb").write(data)
> open("other.gguf", "wb").write(data.replace(b"llada", b"qwen2", 1))
> PY
> dllm tokenize -m "$models/llada-Q4_K_M.gguf" "one two" > a; dllm tokenize -m vocabulary.gguf "one two" | cmp - a
> dllm tokenize -m other.gguf "one<|eot_id|>" --pieces | tail -1
> dllm inspect vocabulary.gguf | sed -n '6,7p'
> dllm run -m vocabulary.gguf hi
% python3
|~ *"<|eot_id|>"
| contents:     25 keys, 0 tensors
| not runnable: tensor token_embd.weight is missing; a whole model has it (this may be a vocabulary-only file)
! error: tensor token_embd.weight is missing; a whole model has it (this may be a vocabulary-only file)
= 1
$ printf 'a' > x; dllm tokenize -m x hi
!~ error: x*
= 1
