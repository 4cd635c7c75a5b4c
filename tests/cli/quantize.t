f32_file.sh writes a file of one F32 matrix, 4 rows of 64 zeros.

$ "$tests/f32_file.sh" > f32.gguf; dllm quantize f32.gguf q8.gguf q8_0; dllm inspect q8.gguf | grep -c Q8_0
> ls
| 2
| f32.gguf
| q8.gguf
! q8_0: 1 tensors, 1.00 KiB before, 448 bytes after

# What was quantized is not quantized again, and nothing is left behind.
$ "$tests/f32_file.sh" > f32.gguf; dllm quantize f32.gguf q8.gguf Q8_0 -t 1 2>/dev/null
> dllm quantize q8.gguf out.gguf Q6_K; code=$?; ls; exit $code
| f32.gguf
| q8.gguf
! error: q8.gguf: tensor a.weight has type Q8_0; F32, F16 or BF16 was expected, since quantizing again what was quantized loses more than the size says: start from the converted file
= 1

$ dllm quantize f32.gguf
! error: OUT is missing: the file to write; it appears when it is whole
= 2
$ dllm quantize f32.gguf out.gguf Q4_Z
! error: there is no file type "Q4_Z"; expected one of Q8_0, Q6_K, Q5_K_M, Q4_K_M, Q5_K, Q4_K
= 2
$ touch f32.gguf; dllm quantize f32.gguf ./f32.gguf Q8_0
! error: "./f32.gguf" is a file that this command reads; writing would replace it: choose another name
= 2
$ dllm quantize none.gguf out.gguf Q8_0; code=$?; ls; exit $code
!~ error: *none.gguf*
= 1
$ dllm quantize f32.gguf no/out.gguf Q8_0
! error: "no/out.gguf" could not be opened for writing: No such file or directory
= 1
