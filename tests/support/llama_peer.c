/* llama_peer.c: opens llama.cpp's library with dlopen and calls it. */
#include "llama_peer.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DIR "build/peers/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"

/* Wider than any parameter struct of the library: it fills or reads a prefix. */
struct params {
    uint32_t words[64];
};

/* Words of the parameters, and the byte of the model's, that are set here. */
enum { CONTEXT_N_CTX = 0, CONTEXT_N_BATCH = 1, CONTEXT_N_UBATCH = 2, CONTEXT_N_SEQ_MAX = 3 };
enum { CONTEXT_THREADS = 7, CONTEXT_THREADS_BATCH = 8, CONTEXT_FLASH_ATTENTION = 13 };
enum { CONTEXT_ON_NODE = 22, CONTEXT_ON_NODE_DATA = 24 }; /* pointers: two words each */
enum { MODEL_GPU_LAYERS = 4, MODEL_VOCAB_ONLY_BYTE = 72 };
enum { QUANTIZE_THREADS = 0, QUANTIZE_FTYPE = 1 };
enum { DEVICE_GPU = 1 }; /* a kind of ggml's devices */
enum { LOG_LEVEL_ERROR = 4 };
enum { ALL_LAYERS = 9999 }; /* more than any model has */

struct batch {
    int32_t count;
    int32_t *tokens;
    float *embeddings;
    int32_t *positions;
    int32_t *sequence_counts;
    int32_t **sequences;
    int8_t *logits;
};

struct llama_peer_model {
    void *model;
    const void *vocab;
};

struct llama_peer_context {
    void *context;
    struct batch batch;
    struct llama_peer_options options;
    float *hidden; /* of the layer at hand */
    bool no_memory;
};

static struct {
    void *library, *ggml, *base;
    void (*ggml_backend_load_all_from_path)(const char *);
    void (*llama_backend_init)(void);
    void (*llama_log_set)(void (*)(int, const char *, void *), void *);
    struct params (*llama_model_default_params)(void);
    struct params (*llama_context_default_params)(void);
    struct params (*llama_model_quantize_default_params)(void);
    void *(*llama_model_load_from_file)(const char *, struct params);
    void (*llama_model_free)(void *);
    const void *(*llama_model_get_vocab)(const void *);
    int32_t (*llama_vocab_n_tokens)(const void *);
    int32_t (*llama_tokenize)(const void *, const char *, int32_t, int32_t *, int32_t, bool, bool);
    void *(*llama_init_from_model)(void *, struct params);
    void (*llama_free)(void *);
    void (*llama_set_causal_attn)(void *, bool);
    void *(*llama_get_memory)(void *);
    void (*llama_memory_clear)(void *, bool);
    struct batch (*llama_batch_init)(int32_t, int32_t, int32_t);
    void (*llama_batch_free)(struct batch);
    int32_t (*llama_decode)(void *, struct batch);
    void (*llama_synchronize)(void *);
    float *(*llama_get_logits_ith)(void *, int32_t);
    uint32_t (*llama_model_quantize)(const char *, const char *, const struct params *);
    size_t (*ggml_quantize_chunk)(int, const float *, void *, int64_t, int64_t, int64_t,
                                  const float *);
    const char *(*ggml_get_name)(const void *);
    int64_t (*ggml_nelements)(const void *);
    int64_t (*ggml_nrows)(const void *);
    void (*ggml_backend_tensor_get)(const void *, void *, size_t, size_t);
    const char *(*ggml_version)(void);
    const char *(*ggml_commit)(void);
    size_t (*ggml_backend_dev_count)(void);
    void *(*ggml_backend_dev_get)(size_t);
    int (*ggml_backend_dev_type)(void *);
    const char *(*ggml_backend_dev_name)(void *);
    const char *(*ggml_backend_dev_description)(void *);
    void (*ggml_backend_dev_memory)(void *, size_t *, size_t *);
    char dir[1024]; /* of the library */
    void *gpu;      /* that has a model; NULL: none has */
} peer;

static char message[1400];

static const char *fail(const char *what, const char *which)
{
    snprintf(message, sizeof message, "llama peer: %s: %s", what, which);
    return message;
}

/* Opens the only file in dir that matches the pattern. */
static void *open_library(const char *dir, const char *pattern)
{
    char path[1024];
    void *handle = NULL;
    glob_t found;

    snprintf(path, sizeof path, "%s/%s", dir, pattern);
    if (glob(path, 0, NULL, &found) == 0) {
        handle = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
        globfree(&found);
    }
    return handle;
}

/* A function's address; ISO C has no cast from an object pointer to one. */
static bool find_function(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);

    memcpy(slot, &address, sizeof address);
    return address != NULL;
}

#define FIND(library, name)                                                                        \
    do {                                                                                           \
        if (!find_function(library, #name, &peer.name))                                            \
            return fail("function not found", #name);                                              \
    } while (0)

static const char *find_functions(void)
{
    FIND(peer.ggml, ggml_backend_load_all_from_path);
    FIND(peer.library, llama_backend_init);
    FIND(peer.library, llama_log_set);
    FIND(peer.library, llama_model_default_params);
    FIND(peer.library, llama_context_default_params);
    FIND(peer.library, llama_model_quantize_default_params);
    FIND(peer.library, llama_model_load_from_file);
    FIND(peer.library, llama_model_free);
    FIND(peer.library, llama_model_get_vocab);
    FIND(peer.library, llama_vocab_n_tokens);
    FIND(peer.library, llama_tokenize);
    FIND(peer.library, llama_init_from_model);
    FIND(peer.library, llama_free);
    FIND(peer.library, llama_set_causal_attn);
    FIND(peer.library, llama_get_memory);
    FIND(peer.library, llama_memory_clear);
    FIND(peer.library, llama_batch_init);
    FIND(peer.library, llama_batch_free);
    FIND(peer.library, llama_decode);
    FIND(peer.library, llama_synchronize);
    FIND(peer.library, llama_get_logits_ith);
    FIND(peer.library, llama_model_quantize);
    FIND(peer.base, ggml_quantize_chunk);
    FIND(peer.base, ggml_get_name);
    FIND(peer.base, ggml_nelements);
    FIND(peer.base, ggml_nrows);
    FIND(peer.base, ggml_backend_tensor_get);
    FIND(peer.base, ggml_version);
    FIND(peer.base, ggml_commit);
    FIND(peer.ggml, ggml_backend_dev_count);
    FIND(peer.ggml, ggml_backend_dev_get);
    FIND(peer.base, ggml_backend_dev_type);
    FIND(peer.base, ggml_backend_dev_name);
    FIND(peer.base, ggml_backend_dev_description);
    FIND(peer.base, ggml_backend_dev_memory);
    return NULL;
}

/* Errors alone: a GPU's end the process without another word. */
static void show_errors(int level, const char *text, void *context)
{
    (void)context;
    if (level == LOG_LEVEL_ERROR)
        fprintf(stderr, "llama.cpp: %s", text);
}

const char *llama_peer_open(const char *dir)
{
    const char *error;

    if (peer.library)
        return NULL;
    if (!dir)
        dir = getenv("LLAMA_PEER_DIR");
    if (!dir)
        dir = DEFAULT_DIR;
    if (!(peer.base = open_library(dir, "libggml-base*.so")) ||
        !(peer.ggml = open_library(dir, "libggml.*so")) ||
        !(peer.library = open_library(dir, "libllama.*so"))) {
        const char *reason = dlerror();

        return fail("no library in the folder", reason ? reason : dir);
    }
    error = find_functions();
    if (error)
        return error;
    snprintf(peer.dir, sizeof peer.dir, "%s", dir);
    peer.llama_log_set(show_errors, NULL);
    peer.ggml_backend_load_all_from_path(dir);
    peer.llama_backend_init();
    return NULL;
}

/* The file name of the CPU library that was loaded, as the process sees it. */
static void find_cpu_library(char *out, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1200];
    const char *name = NULL;

    snprintf(out, size, "unknown");
    while (maps && !name && fgets(line, sizeof line, maps))
        if ((name = strstr(line, "libggml-cpu"))) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, size, "%s", name);
        }
    if (maps)
        fclose(maps);
}

const char *llama_peer_describe(void)
{
    static char text[300];
    char device[100];

    if (peer.gpu)
        snprintf(device, sizeof device, "%s: %s", peer.ggml_backend_dev_name(peer.gpu),
                 peer.ggml_backend_dev_description(peer.gpu));
    else
        find_cpu_library(device, sizeof device);
    snprintf(text, sizeof text, "ggml %s (%s), %s", peer.ggml_version(), peer.ggml_commit(),
             device);
    return text;
}

static void *find_gpu(void)
{
    for (size_t i = 0; i < peer.ggml_backend_dev_count(); i++) {
        void *device = peer.ggml_backend_dev_get(i);

        if (peer.ggml_backend_dev_type(device) == DEVICE_GPU)
            return device;
    }
    return NULL;
}

/* The library leaves a GPU's part out without a word when that does not load. */
static const char *explain_no_gpu(void)
{
    char path[1100], what[1300];
    const char *reason = NULL;

    snprintf(path, sizeof path, "%s/libggml-cuda.so", peer.dir);
    if (access(path, R_OK))
        return fail("llama.cpp cannot use a GPU, since this file of a build with CUDA is not there",
                    path);
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
        reason = dlerror();
    snprintf(what, sizeof what,
             "%.1000s; it needs NVIDIA's driver, and libcudart and libcublas of CUDA 13 where the "
             "loader finds them (LD_LIBRARY_PATH)",
             reason ? reason : "it sees no card");
    return fail("llama.cpp cannot use a GPU", what);
}

static const char *load_model(const char *path, struct params params, struct llama_peer_model **out)
{
    struct llama_peer_model *model = calloc(1, sizeof *model);

    if (!model)
        return fail("out of memory", path);
    model->model = peer.llama_model_load_from_file(path, params);
    if (!model->model) {
        free(model);
        return fail("the model does not load", path);
    }
    model->vocab = peer.llama_model_get_vocab(model->model);
    *out = model;
    return NULL;
}

const char *llama_peer_model_load(const char *path, bool vocab_only, struct llama_peer_model **out)
{
    struct params params = peer.llama_model_default_params();

    ((uint8_t *)&params)[MODEL_VOCAB_ONLY_BYTE] = vocab_only;
    return load_model(path, params, out);
}

static size_t free_bytes(void *device)
{
    size_t available = 0, all = 0;

    peer.ggml_backend_dev_memory(device, &available, &all);
    return available;
}

const char *llama_peer_model_load_on_gpu(const char *path, size_t file_bytes,
                                         struct llama_peer_model **out)
{
    struct params params = peer.llama_model_default_params();
    void *gpu = find_gpu();
    const char *why;
    size_t before;

    if (!gpu)
        return explain_no_gpu();
    before = free_bytes(gpu);
    params.words[MODEL_GPU_LAYERS] = ALL_LAYERS;
    why = load_model(path, params, out);
    if (why)
        return why;
    if (before < free_bytes(gpu) + file_bytes / 2) {
        llama_peer_model_free(*out);
        return fail("the model was loaded, but most of it is not in the GPU's memory", path);
    }
    peer.gpu = gpu;
    return NULL;
}

void llama_peer_model_free(struct llama_peer_model *model)
{
    if (!model)
        return;
    peer.llama_model_free(model->model);
    free(model);
}

int llama_peer_vocab_size(const struct llama_peer_model *model)
{
    return peer.llama_vocab_n_tokens(model->vocab);
}

int llama_peer_tokenize(const struct llama_peer_model *model, const char *text, size_t size,
                        bool parse_special, int32_t *ids, int capacity)
{
    return peer.llama_tokenize(model->vocab, text, (int32_t)size, ids, capacity, false,
                               parse_special);
}

/* Whether a node of the graph is the embedding (-1) or the end of a layer, by the
 * names that the library gives them (it has called the embedding inp_embd too). */
static bool layer_of_node(const void *node, int *layer)
{
    const char *name = peer.ggml_get_name(node);
    char end;

    *layer = -1;
    return strcmp(name, "embd") == 0 || strcmp(name, "inp_embd") == 0 ||
           sscanf(name, "l_out-%d%c", layer, &end) == 1;
}

/* The library's callback: asked first whether it wants a node, then shown it. */
static bool on_node(const void *node, bool ask, void *user)
{
    struct llama_peer_context *context = user;
    size_t values, rows;
    float *grown;
    int layer;

    if (!layer_of_node(node, &layer))
        return !ask;
    if (ask)
        return true;
    values = (size_t)peer.ggml_nelements(node);
    rows = (size_t)peer.ggml_nrows(node);
    grown = realloc(context->hidden, values * sizeof *grown);
    context->no_memory = context->no_memory || !grown;
    if (!grown)
        return false;
    context->hidden = grown;
    peer.ggml_backend_tensor_get(node, grown, 0, values * sizeof *grown);
    context->options.on_layer(context->options.user, layer, grown, rows, values / rows);
    return true;
}

static int prompts_of(const struct llama_peer_options *options)
{
    return options->prompts ? options->prompts : 1;
}

/* Of a pass. */
static int tokens_of(const struct llama_peer_options *options)
{
    return options->canvas * prompts_of(options);
}

static struct params context_params(struct llama_peer_context *context)
{
    struct params params = peer.llama_context_default_params();
    const struct llama_peer_options *options = &context->options;
    bool (*callback)(const void *, bool, void *) = on_node;
    void *data = context;

    params.words[CONTEXT_N_CTX] = (uint32_t)tokens_of(options);
    params.words[CONTEXT_N_BATCH] = (uint32_t)tokens_of(options);
    params.words[CONTEXT_N_UBATCH] = (uint32_t)tokens_of(options);
    params.words[CONTEXT_N_SEQ_MAX] = (uint32_t)prompts_of(options);
    params.words[CONTEXT_THREADS] = (uint32_t)options->threads;
    params.words[CONTEXT_THREADS_BATCH] = (uint32_t)options->threads;
    params.words[CONTEXT_FLASH_ATTENTION] = options->flash_attention;
    if (options->on_layer) {
        memcpy(params.words + CONTEXT_ON_NODE, &callback, sizeof callback);
        memcpy(params.words + CONTEXT_ON_NODE_DATA, &data, sizeof data);
    }
    return params;
}

const char *llama_peer_context_create(struct llama_peer_model *model,
                                      const struct llama_peer_options *options,
                                      struct llama_peer_context **out)
{
    struct llama_peer_context *context = calloc(1, sizeof *context);

    if (!context)
        return fail("out of memory", "context");
    context->options = *options;
    context->context = peer.llama_init_from_model(model->model, context_params(context));
    if (!context->context) {
        free(context);
        return fail("the context cannot be made", "out of memory or an unknown parameter layout");
    }
    peer.llama_set_causal_attn(context->context, false);
    context->batch = peer.llama_batch_init(tokens_of(options), 0, 1);
    *out = context;
    return NULL;
}

void llama_peer_context_free(struct llama_peer_context *context)
{
    if (!context)
        return;
    peer.llama_batch_free(context->batch);
    peer.llama_free(context->context);
    free(context->hidden);
    free(context);
}

const char *llama_peer_forward(struct llama_peer_context *context, const int32_t *ids, int count)
{
    return llama_peer_forward_many(context, ids, 1, count);
}

const char *llama_peer_forward_many(struct llama_peer_context *context, const int32_t *ids,
                                    int prompts, int count)
{
    struct batch *batch = &context->batch;
    void *memory = peer.llama_get_memory(context->context);

    if (count > context->options.canvas || prompts > prompts_of(&context->options))
        return fail("forward", "more tokens than the canvas, or more prompts");
    /* Diffusion models have no cache; a causal one would remember the last pass. */
    if (memory)
        peer.llama_memory_clear(memory, false);
    batch->count = count * prompts;
    for (int i = 0; i < batch->count; i++) {
        batch->tokens[i] = ids[i];
        batch->positions[i] = i % count;
        batch->sequence_counts[i] = 1;
        batch->sequences[i][0] = i / count;
        batch->logits[i] = 1;
    }
    if (peer.llama_decode(context->context, *batch))
        return fail("forward", "llama_decode failed");
    peer.llama_synchronize(context->context); /* a GPU is not done yet */
    return context->no_memory ? fail("forward", "out of memory for a layer") : NULL;
}

const float *llama_peer_logits(struct llama_peer_context *context, int row)
{
    return peer.llama_get_logits_ith(context->context, row);
}

const char *llama_peer_quantize(const char *in, const char *out, enum llama_peer_ftype type,
                                int threads)
{
    struct params params = peer.llama_model_quantize_default_params();

    params.words[QUANTIZE_THREADS] = (uint32_t)threads;
    params.words[QUANTIZE_FTYPE] = (uint32_t)type;
    return peer.llama_model_quantize(in, out, &params) ? fail("cannot quantize", in) : NULL;
}

const char *llama_peer_encode(uint32_t type, const float *x, int64_t rows, int64_t width, void *out)
{
    float *importance = malloc((size_t)width * sizeof *importance);

    if (!importance)
        return fail("out of memory", "encode");
    for (int64_t i = 0; i < width; i++)
        importance[i] = 1;
    peer.ggml_quantize_chunk((int)type, x, out, 0, rows, width, importance);
    free(importance);
    return NULL;
}
