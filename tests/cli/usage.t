Usage errors: exit code 2, one line on stderr, nothing on stdout, and no model is opened: the model
named here does not exist, which would otherwise be the error.

# No command, or one that does not exist.
$ dllm
! error: a command is missing; "dllm help" lists the commands
= 2
$ dllm runn
! error: unknown command "runn"; did you mean "dllm run"?
= 2
$ dllm serve
! error: unknown command "serve"; "dllm help" lists the commands
= 2
$ dllm --versoin
! error: unknown command "--versoin"; did you mean "dllm --version"?
= 2
$ dllm -m demo run hi
! error: "-m" stands where a command must; options follow it: dllm COMMAND [options], and "dllm help" lists the commands
= 2
$ dllm "What is 27 + 58?"
! error: unknown command "What is 27 + 58?"; a prompt follows "dllm run"
= 2
$ dllm --version now
! error: unexpected argument "now" after --version
= 2
$ dllm help runn
! error: unknown command "runn"; did you mean "dllm run"?
= 2

# Unknown options, with the nearest name where one is near.
$ dllm run -m none.gguf --n 3 hi
! error: unknown option --n; did you mean -n?
= 2
$ dllm run -m none.gguf --temprature 0 hi
! error: unknown option --temprature; did you mean --temperature?
= 2
$ dllm run -m none.gguf --block=8 hi
! error: unknown option --block; did you mean --block-length?
= 2
$ dllm run -m none.gguf --frobnicate hi
! error: unknown option --frobnicate; "dllm help run" lists the options
= 2
$ dllm run -m none.gguf -steps 4 hi
! error: unknown option -steps; did you mean --steps?
= 2
$ dllm run -m none.gguf -x hi
! error: unknown option -x; "dllm help run" lists the options
= 2
$ dllm inspect --jsn none.gguf
! error: unknown option --jsn; did you mean --json?
= 2

# Options of other programs, each with its name here; only where the command has that one.
$ dllm run -m none.gguf --gen-length 64 hi
! error: unknown option --gen-length; here it is --max-tokens
= 2
$ dllm run -m none.gguf --max_new_tokens=64 hi
! error: unknown option --max_new_tokens; here it is --max-tokens
= 2
$ dllm chat -m none.gguf --dual_cache
! error: unknown option --dual_cache; here it is --cache dual
= 2
$ dllm run -m none.gguf --alg entropy hi
! error: unknown option --alg; here it is --remasking
= 2
$ dllm run -m none.gguf -p hi
! error: unknown option -p; here it is --prompt
= 2
$ dllm run -m none.gguf -s=16 hi
! error: unknown option -s; here it is --steps or --seed
= 2
$ dllm run -m none.gguf -ngl 99 hi
! error: unknown option -ngl; here it is --gpu-layers
= 2
$ dllm tokenize -m none.gguf -f in.txt
! error: unknown option -f; here it is --file
= 2
$ dllm score -m none.gguf --mc_num 8
! error: unknown option --mc_num; here it is --samples
= 2
$ dllm logits -m none.gguf --gen-length 64
! error: unknown option --gen-length; "dllm help logits" lists the options
= 2

# A long name behind one dash is no short option with its value.
$ dllm run -m none.gguf -temperature 1 hi
! error: unknown option -temperature; did you mean --temperature?
= 2
$ dllm run -model=none.gguf hi
! error: unknown option -model; did you mean --model?
= 2
$ dllm run -nvalue hi
! error: --max-tokens needs a whole number from 1 to 1000000, not "value"
= 2

# What stands without an option is no reason to look for one; nor are options of run that chat has not.
$ dllm inspect -m none.gguf
! error: unknown option -m; MODEL is given without one: dllm inspect MODEL [options]
= 2
$ dllm pull --model llada
! error: unknown option --model; MODEL is given without one: dllm pull MODEL [options]
= 2
$ dllm quantize none.gguf out.gguf --type=Q4_K_M
! error: unknown option --type; TYPE is given without one: dllm quantize IN OUT TYPE [options]
= 2
$ dllm chat --prompt hi
! error: unknown option --prompt; "dllm help chat" lists the options
= 2
$ dllm tokenize -x hi
! error: unknown option -x; "dllm help tokenize" lists the options
= 2

# Given twice, under the same or another spelling.
$ dllm run -m none.gguf --steps 4 --steps=4 hi
! error: --steps is given more than once; give it once
= 2
$ dllm run -m none.gguf -n4 --max-tokens 4 hi
! error: --max-tokens is given more than once; give it once
= 2
$ dllm run -m none.gguf --json --json hi
! error: --json is given more than once; give it once
= 2

# Missing: the prompt, a value.
$ dllm run -m none.gguf
! error: a prompt is missing: give PROMPT, - for standard input, --prompt, --prompt-file, --prompt-tokens or --messages, or text with gaps: --template or --infill
= 2
$ dllm run -m none.gguf hi --steps
! error: --steps needs a value N: denoising steps
= 2
$ dllm tokenize -m none.gguf
! error: a text is missing: give TEXT, --stdin, --file, --messages or --decode
= 2
$ dllm inspect
! error: MODEL is missing: the GGUF file to look into, or a name as run -m takes it
= 2
$ dllm logits -m none.gguf --tokens 1
! error: --out is missing: the file to write; NAME.npy gets a NumPy header, others hold bare f32 values
= 2

# Options that only mean something beside another.
$ dllm run -m none.gguf hi --color-by step
! error: --color-by has no effect without --visual
= 2
$ dllm run -m none.gguf hi --pause 10
! error: --pause has no effect without --visual
= 2
$ dllm run -m none.gguf hi --visual --dump-step-stats
! error: --visual and --dump-step-stats exclude each other: both write to the terminal after each step
= 2

# Whole numbers: out of range, not whole, not a number, empty, too large for any integer.
$ dllm run -m none.gguf hi --steps 0
! error: --steps needs a whole number from 1 to 1000000, not "0"
= 2
$ dllm run -m none.gguf hi --steps 12abc
! error: --steps needs a whole number from 1 to 1000000, not "12abc"
= 2
$ dllm run -m none.gguf hi -n 1.5
! error: --max-tokens needs a whole number from 1 to 1000000, not "1.5"
= 2
$ dllm run -m none.gguf hi -n 1e3
! error: --max-tokens needs a whole number from 1 to 1000000, not "1e3"
= 2
$ dllm run -m none.gguf hi -n ""
! error: --max-tokens needs a whole number from 1 to 1000000, not ""
= 2
$ dllm run -m none.gguf hi -n " 5"
! error: --max-tokens needs a whole number from 1 to 1000000, not " 5"
= 2
$ dllm run -m none.gguf hi --block-length -3
! error: --block-length needs a whole number from 1 to 1000000, not "-3"
= 2
$ dllm run -m none.gguf hi --seed 99999999999999999999
! error: --seed needs a whole number from 0 to 9223372036854775807, not "99999999999999999999"
= 2
$ dllm run -m none.gguf hi -t 0
! error: --threads needs a whole number from 1 to 1024, not "0"
= 2
$ dllm run -m none.gguf hi --top-k -1
! error: --top-k needs a whole number from 0 to 2147483647, not "-1"
= 2

# Numbers: out of range, NaN, infinite, hexadecimal, with a decimal comma, empty, with blanks.
$ dllm run -m none.gguf hi --temperature -1
! error: --temperature needs a number from 0 to 100, not "-1"
= 2
$ dllm run -m none.gguf hi --temperature nan
! error: --temperature needs a number from 0 to 100, not "nan"
= 2
$ dllm run -m none.gguf hi --temperature inf
! error: --temperature needs a number from 0 to 100, not "inf"
= 2
$ dllm run -m none.gguf hi --temperature 1e30
! error: --temperature needs a number from 0 to 100, not "1e30"
= 2
$ dllm run -m none.gguf hi --temperature 1e999
! error: --temperature needs a number from 0 to 100, not "1e999", which overflows a double
= 2
# Read as 0, it would turn off what was asked for.
$ dllm run -m none.gguf hi --threshold 1e-999
! error: --threshold needs a number from 0 to 1, not "1e-999", which underflows a double
= 2
$ dllm run -m none.gguf hi --temperature 0x1
! error: --temperature needs a number from 0 to 100, not "0x1"
= 2
$ dllm run -m none.gguf hi --temperature 0,5
! error: --temperature needs a number from 0 to 100, not "0,5"
= 2
$ dllm run -m none.gguf hi --temperature=
! error: --temperature needs a number from 0 to 100, not ""
= 2
$ dllm run -m none.gguf hi --temperature "1 "
! error: --temperature needs a number from 0 to 100, not "1 "
= 2
$ dllm run -m none.gguf hi --top-p 1.01
! error: --top-p needs a number from 0 to 1, not "1.01"
= 2
$ dllm run -m none.gguf hi --eps 0
! error: --eps needs a number from 1e-09 to 0.999, not "0"
= 2
$ dllm run -m none.gguf hi --eps 1e-10
! error: --eps needs a number from 1e-09 to 0.999, not "1e-10"
= 2
$ dllm run -m none.gguf hi --threshold -0.1
! error: --threshold needs a number from 0 to 1, not "-0.1"
= 2

# Choices, ids, flags, texts.
$ dllm run -m none.gguf hi --remasking entropie
! error: --remasking needs one of low_confidence, random, topk_margin, entropy, origin, maskgit_plus, not "entropie"; did you mean entropy?
= 2
$ dllm run -m none.gguf hi --eos-policy never
! error: --eos-policy needs one of none, forbid, defer, not "never"
= 2
$ dllm run -m none.gguf hi --cpu-level avx9
! error: --cpu-level needs one of ref, avx2, avxvnni, avx512vnni, not "avx9"; did you mean avx2?
= 2
$ dllm run -m none.gguf hi --device tpu
! error: --device needs cpu, gpu, gpu:N (the number of a GPU, from 0) or auto, not "tpu"
= 2
$ dllm logits -m none.gguf --tokens 1 --out x.npy --device gpu:
! error: --device needs cpu, gpu, gpu:N (the number of a GPU, from 0) or auto, not "gpu:"
= 2
$ dllm score -m none.gguf --prompt a --answer b --device gpu:1a
! error: --device needs cpu, gpu, gpu:N (the number of a GPU, from 0) or auto, not "gpu:1a"
= 2
$ dllm bench --matmul Q4_K:256x256x1 --gpu-layers 1
! error: --matmul and --gpu-layers exclude each other: without a model there are no layers
= 2
$ dllm run -m none.gguf --prompt-tokens 3,x
! error: --prompt-tokens needs token ids separated by commas, such as 3,5,17, not "3,x"
= 2
$ dllm run -m none.gguf --prompt-tokens 3,,5
! error: --prompt-tokens needs token ids separated by commas, such as 3,5,17, not "3,,5"
= 2
$ dllm run -m none.gguf --prompt-tokens -1
! error: --prompt-tokens needs token ids separated by commas, such as 3,5,17, not "-1"
= 2
$ dllm run -m none.gguf --prompt-tokens 99999999999
! error: --prompt-tokens needs token ids separated by commas, such as 3,5,17, not "99999999999"
= 2
$ dllm run -m none.gguf hi --json=yes
! error: --json takes no value, but got "yes"
= 2
$ dllm run -m "" hi
! error: --model needs a value MODEL, not an empty one
= 2
$ dllm run -m none.gguf hi --stop ""
! error: --stop needs a value TEXT, not an empty one
= 2
$ dllm run -m none.gguf ""
! error: the prompt is empty; give at least one character
= 2
$ dllm run -m none.gguf -
! error: the prompt is empty; give at least one character
= 2

# Operands: too many, and one that looks like a negative number.
$ dllm run -m none.gguf tell me
! error: unexpected argument "me"; text with spaces needs quotes around it, a model's name -m before it
= 2
$ dllm inspect none.gguf me
! error: unexpected argument "me"; text with spaces needs quotes around it
= 2
$ dllm run -m none.gguf hi -5
! error: unexpected argument "-5"; text with spaces needs quotes around it, a model's name -m before it
= 2

$ dllm run -m none.gguf -- -x -n 2
! error: unexpected argument "-n"; options stand before --, what comes behind it is no option
= 2

# Contradictions.
$ dllm run -m none.gguf hi --prompt hi
! error: PROMPT and --prompt exclude each other: the prompt comes from one place
= 2
$ dllm run -m none.gguf --prompt-file a --prompt-tokens 1
! error: --prompt-file and --prompt-tokens exclude each other: the prompt comes from one place
= 2
$ dllm run -m none.gguf hi --system x --no-chat
! error: --system and --no-chat exclude each other: raw text has no system message
= 2
$ dllm run -m none.gguf --messages m.json --system x
! error: --system and --messages exclude each other: the conversation brings its own system message
= 2
$ dllm run -m none.gguf hi --no-chat --parse-special
! error: --parse-special and --no-chat exclude each other: control strings in raw text are always parsed
= 2
$ dllm run -m none.gguf --prompt-tokens 1 --no-chat
! error: --no-chat and --prompt-tokens exclude each other: ids are fed as they are
= 2
$ dllm run -m none.gguf hi --threshold 0.9 --factor 1
! error: --threshold and --factor exclude each other: both decide how many positions a step commits
= 2
$ dllm run -m none.gguf hi --threshold 0.9 --steps 8
! error: --threshold and --steps exclude each other: steps are not counted out then, a block runs until it is full
= 2
$ dllm run -m none.gguf hi --entropy-bound 0.1 --factor 1
! error: --factor and --entropy-bound exclude each other: both decide how many positions a step commits
= 2
$ dllm run -m none.gguf hi --entropy-bound 0.1 --remasking low_confidence
! error: --entropy-bound and --remasking exclude each other: the bound orders positions by entropy itself, as --remasking entropy does; leave --remasking out
= 2
$ dllm run -m none.gguf hi --early-commit --threshold 0.9
! error: --threshold and --early-commit exclude each other: the limit falls with the steps of a schedule, and there is none
= 2
$ dllm run -m none.gguf hi --early-commit --remasking random
! error: --early-commit has no effect with --remasking random, which scores the chosen positions alone
= 2
$ dllm run -m none.gguf hi --quality fast --early-commit
! error: --early-commit contradicts --quality fast, which commits by probability; give --steps too, or leave one of them out
= 2
$ dllm run -m none.gguf hi --quality balanced --remasking random
! error: --remasking contradicts --quality balanced, which commits by probability; give --steps too, or leave one of them out
= 2
$ dllm run -m none.gguf hi --quality fast --cache none --cache-refresh 4
! error: --cache-refresh has no effect without --cache prefix or --cache dual
= 2
$ dllm run -m none.gguf hi --cache-refresh 4
! error: --cache-refresh has no effect without --cache prefix or --cache dual
= 2
$ dllm run -m none.gguf hi --cache none --prompt-refresh 4
! error: --prompt-refresh has no effect without --cache prefix or --cache dual
= 2
$ dllm run -m none.gguf hi --factor 1 --alg-temp 1
! error: --factor and --alg-temp exclude each other: positions are then committed by their confidence alone
= 2
$ dllm run -m none.gguf hi --alg-temp 1 --remasking origin
! error: --alg-temp has no effect with --remasking origin, which chooses positions without looking at confidence
= 2
$ dllm run -m none.gguf hi --threshold 0.9 --remasking entropy
! error: --threshold compares confidences from 0 to 1, which --remasking entropy does not give; use low_confidence (or topk_margin with a dream model)
= 2
$ dllm tokenize -m none.gguf hi --stdin
! error: TEXT and --stdin exclude each other: the input comes from one place
= 2
$ dllm tokenize -m none.gguf hi --control
! error: --control has no effect without --decode
= 2
$ dllm tokenize -m none.gguf --decode 1 --no-chat
! error: --decode and --no-chat exclude each other: decoding goes from ids to text
= 2

# Rows of logits.
$ dllm logits -m none.gguf --tokens 1,2,3 -o x --rows 3
! error: --rows needs "all" or an ascending list of rows from 0 to 2 (--tokens gives 3 ids), such as 0,4-7, not "3"
= 2
$ dllm logits -m none.gguf --tokens 1,2,3 -o x --rows 2-1
! error: --rows needs "all" or an ascending list of rows from 0 to 2 (--tokens gives 3 ids), such as 0,4-7, not "2-1"
= 2
$ dllm logits -m none.gguf --tokens 1,2,3 -o x --rows 0,0
! error: --rows needs "all" or an ascending list of rows from 0 to 2 (--tokens gives 3 ids), such as 0,4-7, not "0,0"
= 2
$ dllm logits -m none.gguf --tokens 1,2,3 -o x --rows 1,
! error: --rows needs "all" or an ascending list of rows from 0 to 2 (--tokens gives 3 ids), such as 0,4-7, not "1,"
= 2
$ ls
