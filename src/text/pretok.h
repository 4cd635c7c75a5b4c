/*
 * pretok.h: the pre-tokenizer: the published expression that cuts text into
 * the pieces inside which BPE merges. A new model is a new row in the table of
 * pretok.c.
 */
#ifndef PRETOK_H
#define PRETOK_H

#include "status.h"

/* A compiled expression; immutable and thread-safe. */
struct pretok;

/* Finds the expression by the name in tokenizer.ggml.pre; an unknown name is
 * DLLM_ERROR_UNSUPPORTED and lists the known ones. Free with pretok_destroy. */
enum dllm_status pretok_create(struct dllm_string name, struct pretok **out,
                               struct dllm_error *error);
void pretok_destroy(struct pretok *pretok);

/* A walk over the pieces of texts: belongs to one thread. */
struct pretok_walk;

/* pretok must outlive the walk; free with pretok_walk_destroy. */
enum dllm_status pretok_walk_create(const struct pretok *pretok, struct pretok_walk **out,
                                    struct dllm_error *error);
void pretok_walk_destroy(struct pretok_walk *walk);

/* Starts on a text, whose bytes must stay until the walk has ended. */
void pretok_walk_start(struct pretok_walk *walk, struct dllm_string text);

/* The next piece, never empty; all pieces put together are the text. A run of
 * bytes that are not UTF-8 is a piece of its own, and text beside it is cut as
 * if it ended there. At the end piece->size is 0. Time is linear in the text. */
enum dllm_status pretok_walk_next(struct pretok_walk *walk, struct dllm_string *piece,
                                  struct dllm_error *error);

#endif
