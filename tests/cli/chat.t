Conversations on a pipe: a line in, an answer out, and what the commands say. With a terminal: tests/tty.

# Answers on stdout, everything else on stderr; empty lines are nothing; a saved conversation goes on.
$ printf 'What is 27 + 58?\n\n/tokens\n/save s.json\n' | dllm chat -n 16; cat s.json | tr -d '\n '; echo
> echo "/save t.json" | dllm chat --messages s.json && cmp s.json t.json
| 85
| [{"role":"user","content":"Whatis27+58?"},{"role":"assistant","content":"85"}]
! context: 22 of 512 tokens

# The same prompts as run makes of the same messages; a question at the end of --messages is answered first.
$ echo '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Spell river."}]' > m.json
> dllm run --messages m.json -n 16 > a; dllm chat --messages m.json -n 16 < /dev/null > b; cmp a b
> echo "Spell river." | dllm chat --system "Be brief." -n 16 | cmp - a
> printf '//reset\n' | dllm chat -n 8 | cmp - <(dllm run -n 8 /reset)

# A line from a pipe is taken whole, zeros too.
$ printf 'Spell river.\0Now.\n/save s.json\n' | dllm chat -n 4 > a; printf 'Spell river.\0Now.' | dllm run - -n 4 | cmp - a
> grep -o 'river.*Now' s.json
| river.\u0000Now

# Commands: what they need, what there is, and what is left after /reset.
$ printf '/nope\n/save\n/quit\nhi\n' | dllm chat
! error: "/nope" is no command; /help lists them, // sends a slash
! error: /save needs the name of a file
= 1
$ printf '/help\n' | dllm chat
! /reset      forget the conversation, but for the system message
! /save FILE  write the conversation, for --messages
! /tokens     how much of the model's context is used
! /quit       end; so does ctrl-d
! //TEXT      a message that starts with a slash
! ctrl-c stops the answer at hand, or gives up the line
$ printf 'Spell river.\n/reset\n/save r.json\n/tokens\n' | dllm chat --system hm -n 16 > /dev/null; tr -d '\n ' < r.json; echo
| [{"role":"system","content":"hm"}]
! context: 0 of 512 tokens

# A full context: the oldest turns go, the system message stays; a message that cannot fit is refused and forgotten.
$ (for i in 1 2 3; do seq -s ' ' 1 50; done; echo '/save s.json') | dllm chat --system short -n 330 > /dev/null
> python3 -c 'import json; print([m["role"] for m in json.load(open("s.json"))])'
% python3
! note: the context is full; the oldest 2 messages were dropped
! note: the context is full; the oldest 2 messages were dropped
| ['system', 'user', 'assistant']
$ (seq -s ' ' 1 300; echo 'Spell river.') | dllm chat -n 16
!~ error: this message makes a prompt of * tokens, but the model's context of 512 leaves 496 beside an answer of 16; shorten it or lower --max-tokens
| r-i-v-e-r
= 1

# What is about a single prompt is not there, and the model must have a template.
$ dllm chat --json
! error: unknown option --json; "dllm help chat" lists the options
= 2
$ dllm chat hi
! error: unexpected argument "hi"; chat takes options alone, "dllm help chat" lists them
= 2
$ echo hi | dllm chat --color-by step
! error: --color-by has no effect without --visual
= 2
$ dllm run hi --history h
! error: unknown option --history; "dllm help run" lists the options
= 2
$ echo hi | dllm chat -n 4 > /dev/full
! error: the output could not be written: No space left on device
= 1
