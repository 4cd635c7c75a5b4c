/*
 * tokenizer.h: text to ids and back: special strings, the pre-tokenizer's
 * expression, byte-level BPE. Immutable after creation and thread-safe.
 */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include "status.h"

/* Token kinds, numbered as tokenizer.ggml.token_type. */
enum token_type {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN = 2,
    TOKEN_CONTROL = 3,
    TOKEN_USER_DEFINED = 4,
    TOKEN_UNUSED = 5,
    TOKEN_BYTE = 6
};

/* A vocabulary as it arrives from the floor above. The strings' bytes must
 * outlive the tokenizer (they lie in the mapped file); the arrays need not. */
struct vocabulary {
    const struct dllm_string *tokens; /* [token_count] */
    const int32_t *types;             /* [token_count], enum token_type; NULL: all normal */
    size_t token_count;
    const struct dllm_string *merges; /* [merge_count] "left right", best first */
    size_t merge_count;
    struct dllm_string pretokenizer;         /* tokenizer.ggml.pre */
    int32_t bos_id, eos_id, eot_id, mask_id; /* -1: the file names none */
    struct dllm_string mask_token;           /* to look for then; data NULL: none is known */
    bool add_bos;                            /* dllm_encode puts bos_id first */
};

struct tokenizer;

/* Builds the tables. Of tokens with the same string the first is used; a
 * merge whose parts never arise does nothing; merges without two parts, types
 * outside enum token_type and special ids outside the vocabulary are
 * DLLM_ERROR_FORMAT, an unknown pre-tokenizer DLLM_ERROR_UNSUPPORTED. eot_id and mask_id that are
 * -1 are looked up by their known strings (tokenizer.md), the mask then by mask_token.
 * These four are control tokens, whatever their type: text does not become them. Destroy with
 * tokenizer_destroy. */
enum dllm_status tokenizer_create(const struct vocabulary *vocabulary, struct tokenizer **out,
                                  struct dllm_error *error);
void tokenizer_destroy(struct tokenizer *tokenizer);

/* Appends the ids of text to out (malloc'ed, grown as needed; start from a
 * zeroed record). Does not add bos. With parse_special control strings become
 * their ids; user-defined ones always do. On failure out is as before. */
enum dllm_status tokenizer_encode(const struct tokenizer *tokenizer, struct dllm_string text,
                                  bool parse_special, struct dllm_ids *out,
                                  struct dllm_error *error);

/* Appends one id. On failure out is as before. */
enum dllm_status tokenizer_append(int32_t id, struct dllm_ids *out, struct dllm_error *error);

/* Bytes of the ids, in a new block (what was in out is overwritten); control
 * tokens print nothing unless show_control, ids without text never do. An id
 * outside the vocabulary is a usage error. */
enum dllm_status tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids,
                                  size_t count, bool show_control, struct dllm_text *out,
                                  struct dllm_error *error);

/* The id of a token's exact string, -1 if there is none. */
int32_t tokenizer_find(const struct tokenizer *tokenizer, struct dllm_string text);

/* The next control or user-defined string in text at or after *at: returns its
 * id and moves *at behind it; -1 and the text's end if there is none. */
int32_t tokenizer_next_special(const struct tokenizer *tokenizer, struct dllm_string text,
                               size_t *at);

/* Number of ids, and the kind of one (0 <= id < size). */
size_t tokenizer_size(const struct tokenizer *tokenizer);
enum token_type tokenizer_type(const struct tokenizer *tokenizer, int32_t id);
/* Whether the id prints any text when decoded with show_control. */
bool tokenizer_has_text(const struct tokenizer *tokenizer, int32_t id);

/* The special ids after look-up by string; -1 where the model has none. */
struct tokenizer_specials {
    int32_t bos_id, eos_id, eot_id, mask_id;
    bool add_bos;
};
struct tokenizer_specials tokenizer_specials(const struct tokenizer *tokenizer);

#endif
