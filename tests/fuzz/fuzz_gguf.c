/* fuzz_gguf.c: the GGUF reader; what it opens is read to the last byte. */
#include "fuzz.h"
#include "gguf.h"
#include "gguf_mutate.h"
#include "gguf_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dllm_error error;
    struct dllm_file *file;

    if (size == 0) /* mapfile.h refuses it before */
        return 0;
    if (gguf_open_bytes("fuzz.gguf", data, size, &file, &error) != DLLM_OK)
        return 0;
    gguf_walk(file);
    dllm_file_close(file);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    return gguf_mutate(data, size, limit, seed);
}
