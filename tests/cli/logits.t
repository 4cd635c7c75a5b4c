Scores of one forward pass.

# Bare values: rows x vocabulary x 4 bytes; a list of rows is cut out of the same scores.
$ m="$models/llada-Q4_K_M.gguf"
> dllm logits -m "$m" --tokens 3,5,17,300 --out all.bin && wc -c < all.bin
> dllm logits -m "$m" --tokens 3,5,17,300 --rows 1,2-3 -o some.bin
> tail -c 12288 all.bin | cmp - some.bin && ls
| 16384
| all.bin
| some.bin

# A name in .npy gets NumPy's header, padded to a multiple of 64 bytes.
$ dllm logits -m "$models/dream-Q4_K_M.gguf" --tokens 3,5,17 --rows 0,2 -o x.npy && python3 -c '
> data = open("x.npy", "rb").read()
> length = data[8] + 256 * data[9]
> print(data[:8], (10 + length) % 64, len(data) - 10 - length, eval(data[10:10 + length]))'
% python3
| b'\x93NUMPY\x01\x00' 0 8192 {'descr': '<f4', 'fortran_order': False, 'shape': (2, 1024)}

# An existing file is replaced whole, a link stays a link, other kinds of file are refused.
$ m="$models/llada-Q4_K_M.gguf"; echo old > target; ln -s target link
> dllm logits -m "$m" --tokens 3 -o link && wc -c < target && test -L link && echo link
> dllm logits -m "$m" --tokens 3 -o /dev/null
| 4096
| link
! error: "/dev/null" exists and is not a regular file; choose another name
= 1
$ dllm logits -m "$models/llada-Q4_K_M.gguf" --tokens 3 -o none/x
! error: "none/x" could not be opened for writing: No such file or directory
= 1

# The model is not overwritten, under whatever name it is given.
$ cp "$models/llada-Q4_K_M.gguf" m.gguf; ln -s m.gguf link; mkdir d
> for out in m.gguf ./d/../m.gguf link; do dllm logits -m m.gguf --tokens 3 -o $out; echo $?; done
> dllm logits -m link --tokens 3 -o m.gguf; echo $?; cmp m.gguf "$models/llada-Q4_K_M.gguf"
| 2
| 2
| 2
| 2
! error: "m.gguf" is a file that this command reads; writing would replace it: choose another name
! error: "./d/../m.gguf" is a file that this command reads; writing would replace it: choose another name
! error: "link" is a file that this command reads; writing would replace it: choose another name
! error: "m.gguf" is a file that this command reads; writing would replace it: choose another name

# A failure leaves the old file alone.
$ echo old > x; dllm logits -m "$models/llada-Q4_K_M.gguf" --tokens 3,2000 -o x; cat x; ls
! error: id 2000 at position 1 of the canvas is outside the vocabulary; ids from 0 to 1023 were expected
| old
| x

# --layers: what a pass makes of the ids behind the embedding and each layer. The output matrix over the
# last one's states, by hand, gives the logits; the embedding's rows are those of the file.
$ dllm logits -m demo --tokens 3,5,17,961 --rows 1,3 -o out.npy --layers layers; ls layers
> python3 -c '
> import array, math, struct, sys
> def load(path):
>     data = open(path, "rb").read()
>     start = 10 + struct.unpack_from("<H", data, 8)[0]
>     shape = eval(data[10:start])["shape"]
>     flat = array.array("f", data[start:])
>     return [flat[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]
> model = open(sys.argv[1], "rb").read()
> def q8_row(offset, row):
>     out = []
>     for block in range(8):
>         at = offset + (row * 8 + block) * 34
>         scale = struct.unpack_from("<e", model, at)[0]
>         out += [scale * q for q in struct.unpack_from("<32b", model, at + 2)]
>     return out
> def close(a, b):
>     norm = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
>     return sum(x * y for x, y in zip(a, b)) / norm > 0.9999
> embedding, last, logits = load("layers/embedding.npy"), load("layers/layer-03.npy"), load("out.npy")
> print([len(load("layers/layer-%02d.npy" % i)) for i in range(4)], len(embedding))
> print(all(close(embedding[i], q8_row(33920, id)) for i, id in enumerate((3, 5, 17, 961))))
> weights = struct.unpack_from("<256f", model, 3139392)
> for state, row in zip(last, logits):
>     rms = math.sqrt(sum(x * x for x in state) / 256 + 1e-5)
>     normed = [x / rms * w for x, w in zip(state, weights)]
>     print(close(row[:200], [sum(x * w for x, w in zip(normed, q8_row(3140416, id))) for id in range(200)]))
> ' "$root/models/demo.gguf"
% python3
| embedding.npy
| layer-00.npy
| layer-01.npy
| layer-02.npy
| layer-03.npy
| [4, 4, 4, 2] 4
| True
| True
| True
$ dllm logits -m demo --tokens 3 -o out.npy --layers /dev/null; ls
! error: "/dev/null" could not be made as a folder: File exists
= 0
