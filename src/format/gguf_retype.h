/*
 * gguf_retype.h: the head of a GGUF file (version 3) like another one but with
 * other tensor types: header, keys, directory.
 */
#ifndef GGUF_RETYPE_H
#define GGUF_RETYPE_H

#include "status.h"

struct gguf_head {
    uint8_t *bytes; /* malloc'ed, free with gguf_head_free */
    size_t size;    /* a multiple of alignment; the data part follows */
    uint64_t alignment;
};

/*
 * Keys are carried over as they are, but those of split files, and those two that
 * tell how weights are stored, which are written anew: general.file_type and
 * general.quantization_version. types [tensor count]: known types whose blocks
 * divide the rows. Tensors keep their order and lie one behind the other, each on
 * a multiple of alignment.
 */
enum dllm_status gguf_retype(const struct dllm_file *file, const uint32_t *types,
                             uint32_t file_type, struct gguf_head *out, struct dllm_error *error);

/* Accepts a zeroed or already freed record. */
void gguf_head_free(struct gguf_head *head);

/* Bytes of a tensor that has that type. */
uint64_t gguf_retyped_bytes(const struct dllm_tensor *tensor, uint32_t type);

#endif
