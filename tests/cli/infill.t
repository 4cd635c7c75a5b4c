Text with gaps: --template and --infill. What would break: marks that are not found or that take more
than themselves, text around the gaps that changes, gaps filled in the wrong places.

# Gaps in an answer: what the demo model puts there depends on both sides.
$ dllm run "Tell a story about Tom and a fox." --template "Once upon a time[[1]] had a[[1]]. Every day[[1]] and the fox walked to the river."
| Once upon a time Tom had a fox. Every day Tom and the fox walked to the river.
$ dllm run "Sort the words lion, bear, fox." --template "bear,[[1]], lion"
| bear, fox, lion

# A file is printed as it is, with its gaps filled: no byte more, escapes resolved.
$ printf 'int a[[i]];\t\\[[2]] [[x]] [[3 \\\\[[2]]\nend [[ ]] \\n\r\n[[5]]' > in.txt
> dllm run -m "$models/llada-Q4_K_M.gguf" --infill in.txt --eos-policy forbid --json > r.json
> dllm run -m "$models/llada-Q4_K_M.gguf" --infill in.txt --eos-policy forbid > out.txt
> dllm run -m "$models/llada-Q4_K_M.gguf" --infill - --eos-policy forbid < in.txt | cmp - out.txt
> python3 - <<'PY'
> import json
> r = json.load(open("r.json"))
> first, second = (g["text"] for g in r["gaps"])
> out = open("out.txt", "rb").read().decode(errors="replace")
> print(out == "int a[[i]];\t[[2]] [[x]] [[3 \\" + first + "\nend [[ ]] \\n\r\n" + second, r["text"] == out)
> print([g["positions"] for g in r["gaps"]], len(r["generated_ids"]), r["settings"]["max_tokens"], r["forward_passes"])
> PY
% python3
| True True
| [2, 5] 7 7 7

# Marks without text between them are one gap; settings of a run hold for it.
$ dllm run -m "$models/llada-Q4_K_M.gguf" --template "a[[2]][[3]]b" --steps 2 --block-length 4 --json |
>   python3 -c 'import json, sys; r = json.load(sys.stdin); print(len(r["gaps"]), r["gaps"][0]["positions"], r["forward_passes"], r["settings"]["chat"])'
% python3
| 1 5 2 False

# The same positions by --suffix and by a template: the same ids.
$ m="$models/dream-Q4_K_M.gguf"
> dllm run -m "$m" --no-chat "It begins" -n 6 --suffix " the end" --json | grep -o '"generated_ids": [^]]*]' > a
> dllm run -m "$m" --no-chat "It begins" --template "[[6]] the end" --json | grep -o '"generated_ids": [^]]*]' > b
> dllm run -m "$m" --template "It begins[[6]] the end" --json | grep -o '"generated_ids": [^]]*]' > c
> cmp a b && cmp a c && cut -d, -f6 a | grep -c ]
| 1

# A stop string ends each gap by itself.
$ dllm run "Tell a story about Tom and a fox." --template "Once upon a time[[4]]. Tom and the fox[[3]]." --eos-policy forbid --stop " had" --json |
>   python3 -c 'import json, sys; r = json.load(sys.stdin); print([g["finish_reason"] for g in r["gaps"]], repr(r["gaps"][0]["text"]))'
% python3
| ['stop', 'length'] ' Tom'

# What cannot be meant.
$ dllm run --template "no gap"
! error: the template has no gap; write [[N]] where N positions are to be filled
= 2
$ dllm run --template "a[[0]]"
! error: the gap [[0]] of the template needs 1 to 1000000 positions; write \[[0]] where it is meant as text
= 2
$ dllm run --template "a[[99999999999999999999]]"
! error: the gap [[99999999999999999999]] of the template needs 1 to 1000000 positions; write \[[99999999999999999999]] where it is meant as text
= 2
$ dllm run --template "[[1000000]]a[[1]]"
! error: the gaps of the template have more than 1000000 positions
= 2
$ dllm run --template "a[[1]]" -n 4
! error: --max-tokens and --template exclude each other: the gaps say how many positions to generate
= 2
$ dllm run --template "a[[1]]" --suffix b
! error: --suffix and --template exclude each other: what follows the prompt comes from one place
= 2
$ dllm run --template "a[[1]]" --system b
! error: --system has no effect without a prompt: a template alone is raw text, control strings in it become control tokens
= 2
$ dllm run - --infill -
! error: prompt and --infill cannot both be standard input
= 2
$ dllm run --infill none.txt
! error: "none.txt" could not be read: No such file or directory
= 1
$ dllm run --template "a [[1]] <|mdm_mask|>"
! error: the template's text holds the model's mask; mark gaps as [[N]]
= 2
$ dllm run --no-chat "<|mdm_mask|>" --template "a[[1]]"
! error: the prompt holds the model's mask, beside a template; mark gaps as [[N]] in the template
= 2
$ dllm run --template "a[[600]]"
! error: the canvas (prompt, generated positions and suffix) has 601 positions, but the model's context length is 512; shorten it, or permit it with --allow-long
= 2
