/*
 * gguf_writer.h: makes small GGUF files for tests, well formed unless the test
 * then changes their bytes.
 *
 *     struct gguf_writer *writer = gguf_writer_create(3, 32);
 *     gguf_write_string(writer, "general.architecture", "llada");
 *     gguf_write_integer(writer, "llada.block_count", DLLM_VALUE_U32, 2);
 *     gguf_write_tensor(writer, "output_norm.weight", DTYPE_F32, 64, 1, norm);
 *     bytes = gguf_writer_finish(writer, &size);
 *
 * Keys and tensors keep their order. Running out of memory ends the test
 * program.
 */
#ifndef GGUF_WRITER_H
#define GGUF_WRITER_H

#include "dllm.h"

struct gguf_writer;

/* alignment is written as general.alignment unless it is the default, 32. */
struct gguf_writer *gguf_writer_create(uint32_t version, uint32_t alignment);

/* The file as malloc'ed bytes, which the caller frees; ends the writer. */
uint8_t *gguf_writer_finish(struct gguf_writer *writer, size_t *size);

/* Writes the file to path, or fails and returns false; ends the writer. */
bool gguf_writer_save(struct gguf_writer *writer, const char *path);

/* A key of any integer kind, or a bool. */
void gguf_write_integer(struct gguf_writer *writer, const char *key, enum dllm_value_type type,
                        int64_t value);
/* A key of kind f32. */
void gguf_write_f32(struct gguf_writer *writer, const char *key, float value);
/* A key of any kind with the payload given as the file has it. */
void gguf_write_value(struct gguf_writer *writer, const char *key, enum dllm_value_type type,
                      const void *payload, size_t bytes);
void gguf_write_string(struct gguf_writer *writer, const char *key, const char *value);
/* An array of fixed-size elements given as the file has them. */
void gguf_write_array(struct gguf_writer *writer, const char *key, enum dllm_value_type element,
                      const void *elements, size_t count);
void gguf_write_strings(struct gguf_writer *writer, const char *key,
                        const struct dllm_string *strings, size_t count);

/* A matrix of `rows` rows of `width` weights of a type that dtype.h knows (a
 * vector when rows is 1); data is copied, NULL gives zeros. */
void gguf_write_tensor(struct gguf_writer *writer, const char *name, uint32_t type, uint64_t width,
                       uint64_t rows, const void *data);
/* A tensor of any number of dimensions; shape is [dims], row length first. */
void gguf_write_shaped(struct gguf_writer *writer, const char *name, uint32_t type, uint32_t dims,
                       const uint64_t *shape, const void *data);

#endif
