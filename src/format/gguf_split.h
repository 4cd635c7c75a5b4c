/*
 * gguf_split.h: models in several files, NAME-00001-of-00003.gguf and so on.
 * Each part is a GGUF file of its own; the first has the model's keys.
 */
#ifndef GGUF_SPLIT_H
#define GGUF_SPLIT_H

#include "gguf.h"

/* What a file says about itself: part `number` (from 0) of `count`, whose
 * parts hold `tensors` tensors together (-1: it does not say). A whole model is
 * part 0 of 1. */
struct gguf_split {
    int64_t number, count, tensors;
};

/* Reads the split keys; of a wrong kind or range they are an error. */
enum dllm_status gguf_split_read(const struct dllm_file *file, struct gguf_split *out,
                                 struct dllm_error *error);

/* Opens all parts of the split model of which the file at path is one, by what
 * it says and by its name. */
enum dllm_status gguf_split_open(const char *path, const struct gguf_split *split,
                                 struct dllm_file **out, struct dllm_error *error);

/* Makes one file of count parts in order, at least one. They belong to *out on
 * success, else to the caller still. */
enum dllm_status gguf_split_join(struct dllm_file *const *parts, size_t count,
                                 struct dllm_file **out, struct dllm_error *error);

#endif
