/*
 * bpe.h: byte-pair encoding of one piece of text. The adjacent pair with the
 * lowest rank is merged, the leftmost on ties, until no rule applies. A symbol
 * that is no normal token then falls back to the tokens of its bytes.
 */
#ifndef BPE_H
#define BPE_H

#include "merges.h"

/* Ids being collected; ids is malloc'ed. Start from zeros. */
struct bpe_ids {
    int32_t *ids;
    size_t count, capacity;
};

/* Makes room for that many more ids. */
enum dllm_status bpe_ids_reserve(struct bpe_ids *out, size_t more, struct dllm_error *error);

/* Memory that encoding uses again and again: belongs to one thread. */
struct bpe_work;

/* vocab and merges must outlive the work. text_size, the bytes of all pieces
 * to come, decides whether remembering pieces is worth it. Free with
 * bpe_work_destroy. */
enum dllm_status bpe_work_create(const struct vocab *vocab, const struct merges *merges,
                                 size_t text_size, struct bpe_work **out, struct dllm_error *error);
void bpe_work_destroy(struct bpe_work *work);

/* Appends the ids of a piece of up to 2^31 - 2 bytes, in time near linear in
 * its length. A byte for which the vocabulary has no token is
 * DLLM_ERROR_FORMAT. */
enum dllm_status bpe_encode(struct bpe_work *work, struct dllm_string piece, struct bpe_ids *out,
                            struct dllm_error *error);

#endif
