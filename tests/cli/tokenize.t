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
