The built-in model: no file is opened, from whatever folder the program runs. What would break: a
binary without the model's bytes, a default that does not reach them, another tokenizer.

# The README's first command.
$ dllm run "What is 27 + 58?"
| 85

# -m demo is the same, and so is the small file it was made from.
$ dllm run -m demo "What is the capital of France?"
| Paris
$ dllm run -m "$root/models/demo.gguf" "What is the capital of France?"
| Paris
$ dllm inspect demo | sed -n '1p;4p'
| file:         demo
| architecture: llada
$ dllm tokenize --no-chat "Spell river." > a && dllm tokenize -m demo --no-chat "Spell river." | cmp - a

# A file of that name is asked for with its folder.
$ echo x > demo; dllm inspect ./demo
!~ error: ./demo: header at byte 0: not a GGUF file: *
= 1
