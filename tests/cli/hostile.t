Inputs that mean harm: each ends in an error that says what is wrong, at once, and what is sound beside it is
answered all the same.

# A model that is no regular file: a pipe without a writer is not waited for, a device without an end not read.
$ mkfifo pipe; for file in pipe /dev/zero /dev/null /proc/self/mem /proc/cpuinfo; do
>   for command in "run hi -m" "tokenize hi -m" "score --prompt a --answer b -m" "logits --tokens 1 -o x.npy -m" inspect; do
>     timeout 60 dllm $command $file </dev/null 2>&1; done; timeout 60 dllm quantize $file q.gguf Q8_0 2>&1; done | sort | uniq -c | sed 's/^ *//'; ls
| 6 error: '/dev/null' is a pipe, socket or device, expected a regular file; save its contents to a file first
| 6 error: '/dev/zero' is a pipe, socket or device, expected a regular file; save its contents to a file first
| 6 error: '/proc/cpuinfo' is empty (0 bytes); copy or download it again
| 6 error: '/proc/self/mem' is empty (0 bytes); copy or download it again
| 6 error: 'pipe' is a pipe, socket or device, expected a regular file; save its contents to a file first
| pipe

# Sparse files of a tebibyte: what they claim is compared with their size before anything is allocated.
$ python3 -c 'import struct
> def write(name, data):
>     with open(name, "wb") as file:
>         file.write(b"GGUF" + data)
>         file.truncate(1 << 40)
> write("counts", struct.pack("<IQQ", 3, 1 << 63, 1 << 63))
> write("tensors", struct.pack("<IQQ", 3, 1 << 31, 0))
> write("keys", struct.pack("<IQQ", 3, 0, 1 << 31))
> write("strings", struct.pack("<IQQQcIIQ", 3, 0, 1, 1, b"k", 9, 8, 1 << 36))
> write("bools", struct.pack("<IQQQcIIQ", 3, 0, 1, 1, b"k", 9, 7, 1 << 39))
> write("bytes", struct.pack("<IQQQcIIQ", 3, 0, 1, 1, b"k", 9, 0, 1 << 50))'; truncate -s 1T zeros
> for file in counts tensors keys strings bools bytes zeros; do timeout 60 dllm inspect $file 2>&1; done
% python3
| error: counts: header at byte 8: 9223372036854775808 tensors and 9223372036854775808 keys do not fit in the 1099511627752 bytes that follow: the file is cut or damaged; download or convert it again
| error: tensors: tensor 0 at byte 24: the name is empty, expected 1 to 65535 bytes; convert the model again
| error: keys: key 0 at byte 24: the name is empty, expected 1 to 65535 bytes; convert the model again
|~ error: strings: key 0 'k' at byte 49: an array of 68719476736 x string is too long, expected at most 268435456
|~ error: bools: key 0 'k' at byte 49: an array of 549755813888 x bool is too long, expected at most 268435456
|~ error: bytes: key 0 'k' at byte 49: an array of 1125899906842624 x u8 does not fit in the * bytes that remain: *
| error: zeros: header at byte 0: not a GGUF file: it starts with bytes 00 00 00 00, expected 47 47 55 46 ("GGUF"); give a GGUF model
= 1

# A batch: nesting beyond every limit, surrogates alone, numbers beyond every range, zeros, bytes that are no UTF-8,
# keys and ids that come twice. Each is one result of one line, and the sound line behind them is answered.
$ python3 -c 'import sys
> lines = [b"{\"prompt\": " + b"[" * 100000 + b"]" * 100000 + b"}", b"{\"a\":" * 3000 + b"1" + b"}" * 3000,
>          b"{\"prompt\": \"\\ud800\"}", b"{\"prompt\": \"\\udc00\"}", b"{\"prompt\": \"a\", \"temperature\": 1e999}",
>          b"{\"prompt\": \"a\", \"temperature\": NaN}", b"{\"prompt\": \"a\", \"seed\": 99999999999999999999999}",
>          b"{\"prompt\": \"a\", \"max_tokens\": 2147483648}", b"{\"prompt\": \"a\", \"max_tokens\": -1}",
>          b"{\"prompt\": \"a\\u0000b\"}", b"{\"prompt\": \"a\0b\"}", b"{\"prompt\": \"a\xff\"}",
>          b"{\"prompt\": \"a\", \"prompt\": \"b\"}", b"{\"prompt\": \"" + b"x" * 20000000 + b"\"}",
>          b"{\"prompt\": \"a\", \"id\": []}", b"{\"prompt\": \"sound\", \"id\": 1}", b"{\"prompt\": \"a\", \"id\": 1}"]
> sys.stdout.buffer.write(b"\n".join(lines))' >in.jsonl
> dllm run --input in.jsonl -n 4 -t 1 --parallel 1 >out.jsonl 2>/dev/null; echo $?; python3 -c 'import json
> for line in open("out.jsonl"):
>     result = json.loads(line)
>     print(result["line"], "answered" if "text" in result else result["error"][:44].strip())'
% python3
| 1
| 1 the line is not valid JSON: column 2059: max
| 2 the line is not valid JSON: column 10241: ma
| 3 the line is not valid JSON: column 19: inval
| 4 the line is not valid JSON: column 19: inval
| 5 the line is not valid JSON: column 36: real
| 6 the line is not valid JSON: column 34: inval
| 7 the line is not valid JSON: column 47: too b
| 8 --max-tokens needs a whole number from 1 to
| 9 --max-tokens needs a whole number from 1 to
| 10 the line is not valid JSON: column 21: a tex
| 11 the line is not valid JSON: column 13: contr
| 12 the line is not valid JSON: column 13: unabl
| 13 the line is not valid JSON: column 24: dupli
| 14 a canvas of 20000014 positions is too long;
| 15 the id must be a text or a whole number
| 16 answered
| 17 the id is that of an earlier line; each need

# A megabyte of one character, of blanks, of marks above a letter, of bytes that are no text: the time grows with the
# length, not with its square.
$ python3 -c 'for name, text in (("letters", b"a" * 1000000), ("blanks", b" " * 999999 + b"x"), ("signs", b"!?" * 500000),
>     ("marks", b"a" + "\u0301".encode() * 500000), ("broken", b"\xff\xfe" * 500000), ("zeros", bytes(1000000))):
>     open(name, "wb").write(text)'
> for model in demo "$models/llada-Q4_K_M.gguf" "$models/dream-Q4_K_M.gguf"; do for text in letters blanks signs marks broken zeros; do
>   timeout 100 dllm tokenize -m "$model" --no-chat - <$text | grep -c '^\[[0-9]*,'; done; done | uniq -c | sed 's/^ *//'
% python3
| 18 1
