/*
 * engine.h: a loaded model and a session over it, as the files of this floor
 * share them.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "chat.h"
#include "denoise.h"
#include "forward.h"
#include "kvcache.h"
#include "lock.h"
#include "readahead.h"
#include "tokenizer.h"

#include <stdatomic.h>

enum {
    /* Positions that lengths and row counts may not pass: far beyond any context. */
    ENGINE_LENGTH_MOST = 1 << 22,
    /* Canvases of one pass of a score, guidance's included. */
    ENGINE_SCORE_CANVASES = 32
};

/* Immutable after dllm_engine_open, but for what computes: operations run one at
 * a time, under the lock. */
struct dllm_engine {
    struct dllm_file *file;
    bool vocab_only;    /* model, place and unprintable are empty then */
    struct model model; /* weights point into the file */
    struct tokenizer *tokenizer;
    struct tokenizer_specials specials;
    const struct chat_template *chat; /* NULL: none known */
    bool chat_differs;
    struct placement place; /* what computes */
    struct lock *lock;
    int32_t *unprintable; /* [unprintable_count] ascending, ids without text */
    int unprintable_count;
    char *name, *architecture;
    char quantization[80];
    char device[64];       /* its name, and how many layers it has where not all */
    char level[32];        /* "avx2", "sm_90", "sm_90 + avx2" */
    char device_note[200]; /* why auto took the CPU; empty: it did not */
    uint64_t host_bytes;   /* of the weights that a GPU has not, where there is one */
    double load_seconds;
    struct readahead *readahead;  /* NULL: nothing is read ahead */
    struct shared_passes *shared; /* of generations on a GPU; NULL: each session runs its own */
    atomic_long sessions;         /* made so far */
};

struct dllm_session {
    struct dllm_engine *engine;
    struct placement place; /* what computes, under the lock: the engine's or its own */
    struct lock *lock;
    bool apart;              /* place and lock are its own */
    struct forward *forward; /* NULL until a call needs it */
    long number;             /* of the engine's sessions */
    /* Where passes are shared (shared.h): */
    struct kvcache *caches[2]; /* of the canvas and the unguided one; NULL: nothing is kept */
    int cache_length;          /* positions that these have room for */
    int shared_positions;      /* of the generation under way */
};

/* Builds the tokenizer from the file's tokenizer.ggml keys; free with
 * tokenizer_destroy. The file must outlive it. (vocabulary.c) */
enum dllm_status engine_load_tokenizer(const struct dllm_file *file, struct tokenizer **out,
                                       struct dllm_error *error);

/* Starts reading the weights that the CPU needs and that are not in memory, in the order
 * of their use; NULL where that is not worth a thread or there is none to be had. Tells
 * on_read, unless a GPU's copy was what it told of. Give to readahead_stop before the
 * file is closed. (read_ahead.c) */
struct readahead *engine_read_ahead(const struct dllm_engine *engine, dllm_read_callback *on_read,
                                    void *context);

/* Sets name, architecture and quantization from the file. (describe.c) */
enum dllm_status engine_describe(struct dllm_engine *engine, struct dllm_error *error);

/* Rows of logits that a session computes at once when `rows` are asked for: all
 * of them unless that takes too much memory. (session.c) */
int engine_chunk_rows(const struct dllm_engine *engine, int rows);

/* Makes room for passes; limits->rows are those asked for, of which as many are
 * computed at once as engine_chunk_rows says. A workspace that is large enough
 * stays. (session.c) */
enum dllm_status session_reserve(struct dllm_session *session, const struct forward_limits *limits,
                                 struct dllm_error *error);

/* What passes of a generation need on a canvas of `length` positions, `masks` of them
 * masked, and those of a score; rows as session_reserve takes them. (room.c) */
struct forward_limits engine_generate_limits(const struct dllm_generate_options *options,
                                             int length, int masks);
struct forward_limits engine_score_limits(const struct dllm_score_query *query,
                                          const struct dllm_score_options *options);

/* A usage error unless every id is in the model's vocabulary. what names the
 * list in the message. (session.c) */
enum dllm_status session_check_ids(const struct dllm_session *session, const int32_t *ids,
                                   size_t count, const char *what, struct dllm_error *error);

/* A usage error for a canvas of `length` positions that is longer than the
 * model's context (unless allow_long) or than can be counted. (session.c) */
enum dllm_status session_check_length(const struct dllm_session *session, size_t length,
                                      bool allow_long, struct dllm_error *error);

/* Runs a pass that gave numbers which are not finite once more. */
typedef void session_pass(struct forward *forward, const void *context);

/* Adds to the message of a DLLM_ERROR_NUMERIC where it comes from: the tensor and
 * row of the file that is not finite, else the layer whose output is the first
 * that is not. Under the session's lock. pass NULL: only the file is looked
 * through; error may be NULL. (explain.c) */
void session_explain(struct dllm_session *session, session_pass *pass, const void *context,
                     struct dllm_error *error);

/* The model as the denoising loop sees it, without the score callback. */
struct denoise_model engine_denoise_model(const struct dllm_engine *engine);

#endif
