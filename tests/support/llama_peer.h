/*
 * llama_peer.h: llama.cpp's shared library as something to compare with, for
 * tests and benchmarks. It is opened at run time, without its headers: its
 * functions are plain C, and parameter structs are passed as wide blocks of
 * words of which single ones are set.
 *
 * One peer a process. A function that fails returns a message in static
 * storage (NULL means success); nothing here is thread-safe.
 */
#ifndef LLAMA_PEER_H
#define LLAMA_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* File types of llama_peer_quantize. */
enum llama_peer_ftype {
    LLAMA_PEER_F32 = 0,
    LLAMA_PEER_F16 = 1,
    LLAMA_PEER_Q8_0 = 7,
    LLAMA_PEER_Q4_K_M = 15,
    LLAMA_PEER_Q5_K_M = 17,
    LLAMA_PEER_Q6_K = 18,
    LLAMA_PEER_BF16 = 32,
    LLAMA_PEER_MXFP4_MOE = 38
};

/* Loads the library from the folder that holds libllama*.so; NULL: the folder
 * in the environment's LLAMA_PEER_DIR, else build/peers/... where the scripts
 * under tests/peer install it. Of the library's own log errors alone go to stderr. */
const char *llama_peer_open(const char *dir);

/* The library's version and the CPU library it chose, or the GPU that has a model, once
 * it is open; static storage. */
const char *llama_peer_describe(void);

struct llama_peer_model;

/* Loads a GGUF file; free with llama_peer_model_free, after its contexts. */
const char *llama_peer_model_load(const char *path, bool vocab_only, struct llama_peer_model **out);
void llama_peer_model_free(struct llama_peer_model *model);

/* The same on the first GPU, all layers of it; needs the folder of a build with CUDA. An
 * error if no GPU can be used, and if its memory did not become less by half of the file's
 * bytes: the model is then elsewhere. */
const char *llama_peer_model_load_on_gpu(const char *path, size_t file_bytes,
                                         struct llama_peer_model **out);

/* Number of ids, which is the length of a row of logits. */
int llama_peer_vocab_size(const struct llama_peer_model *model);

/* Ids of text, no bos. Returns their number, or minus the capacity needed when
 * it is too small. */
int llama_peer_tokenize(const struct llama_peer_model *model, const char *text, size_t size,
                        bool parse_special, int32_t *ids, int capacity);

struct llama_peer_context;

/* Sees the hidden states [rows, width] behind the embedding (layer -1) and behind
 * each layer of a pass, in order. Valid until it returns. */
typedef void llama_peer_layer(void *user, int layer, const float *hidden, size_t rows,
                              size_t width);

/* For canvases of up to `canvas` tokens, up to `prompts` of them in a pass (0: one).
 * flash_attention (the library's own choice here when it is left alone) keeps keys and
 * values as f16: on for speed, off for the logits of shared/data. With on_layer passes
 * are slower. */
struct llama_peer_options {
    int canvas, threads, prompts;
    bool flash_attention;
    llama_peer_layer *on_layer; /* NULL: not wanted */
    void *user;
};

/* A context without causal mask; options are copied. */
const char *llama_peer_context_create(struct llama_peer_model *model,
                                      const struct llama_peer_options *options,
                                      struct llama_peer_context **out);
void llama_peer_context_free(struct llama_peer_context *context);

/* One forward pass over ids [count], count <= canvas: every row's logits are
 * computed. They stay inside the context until the next pass. */
const char *llama_peer_forward(struct llama_peer_context *context, const int32_t *ids, int count);

/* The same over several prompts, ids [prompts, count]: a position sees those of its own
 * prompt alone. */
const char *llama_peer_forward_many(struct llama_peer_context *context, const int32_t *ids,
                                    int prompts, int count);

/* Row [vocab] of the last pass, row < prompts * count; NULL when there is none. */
const float *llama_peer_logits(struct llama_peer_context *context, int row);

/* Quantizes the file at in into a new file. */
const char *llama_peer_quantize(const char *in, const char *out, enum llama_peer_ftype type,
                                int threads);

/* Encodes x [rows, width] to blocks of a type of the format, with equal weight
 * for all values where a type wants importances. */
const char *llama_peer_encode(uint32_t type, const float *x, int64_t rows, int64_t width,
                              void *out);

#endif
