/*
 * engine.c: opens a model: the file, its numbers, its weights, its tokenizer
 * and what computes. Weights stay in the mapped file.
 */
#include "device.h"
#include "shared.h"

#include "clock.h"
#include "gguf.h"

#include <stdlib.h>
#include <string.h>

static enum dllm_status load_weights(struct dllm_engine *engine, struct dllm_error *error)
{
    TRY(hparams_read(engine->file, &engine->model.hparams, error));
    return weights_bind(engine->file, &engine->model.hparams, &engine->model.weights, error);
}

static enum dllm_status load_chat(struct dllm_engine *engine, struct dllm_error *error)
{
    struct dllm_string source = {0};

    engine->chat = chat_template_find(engine->architecture);
    TRY(gguf_get_string(engine->file, "tokenizer.chat_template", false, &source, error));
    if (engine->chat && source.size)
        engine->chat_differs = chat_template_differs(engine->chat, engine->tokenizer, source);
    return DLLM_OK;
}

static enum dllm_status load_text(struct dllm_engine *engine, struct dllm_error *error)
{
    TRY(engine_load_tokenizer(engine->file, &engine->tokenizer, error));
    engine->specials = tokenizer_specials(engine->tokenizer);
    return load_chat(engine, error);
}

/* The mask is what a diffusion model writes over; without it nothing runs. */
static enum dllm_status check_mask(struct dllm_engine *engine, struct dllm_error *error)
{
    const char *token = engine->model.hparams.arch->mask_token;

    if (engine->specials.mask_id >= 0)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "the file names no mask token: expected key tokenizer.ggml.mask_token_id or "
                       "a token \"%s\"; convert the model again with a converter that keeps it",
                       token);
}

static enum dllm_status check_vocabulary(struct dllm_engine *engine, struct dllm_error *error)
{
    size_t tokens = tokenizer_size(engine->tokenizer);

    if (tokens <= (size_t)engine->model.hparams.vocab)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "the tokenizer has %zu tokens, but the model's matrices have %d rows; no "
                       "more tokens than rows were expected",
                       tokens, engine->model.hparams.vocab);
}

/* Ids that print nothing are never predicted: padding rows of the matrices
 * among them. */
static enum dllm_status list_unprintable(struct dllm_engine *engine, struct dllm_error *error)
{
    int vocab = engine->model.hparams.vocab;
    int tokens = (int)tokenizer_size(engine->tokenizer);

    engine->unprintable = malloc((size_t)vocab * sizeof *engine->unprintable);
    if (!engine->unprintable)
        return status_no_memory(error, (size_t)vocab * sizeof *engine->unprintable);
    for (int id = 0; id < vocab; id++)
        if (id >= tokens || !tokenizer_has_text(engine->tokenizer, id))
            engine->unprintable[engine->unprintable_count++] = id;
    return DLLM_OK;
}

static enum dllm_status load(struct dllm_engine *engine, const struct dllm_engine_options *options,
                             struct dllm_error *error)
{
    if (!options->model_path)
        return status_fail(error, DLLM_ERROR_USAGE, "model_path is missing: name a GGUF file");
    TRY(dllm_file_open(options->model_path, &engine->file, error));
    TRY(engine_describe(engine, error));
    engine->vocab_only = options->vocab_only;
    if (options->vocab_only)
        return load_text(engine, error);
    TRY(load_weights(engine, error));
    TRY(load_text(engine, error));
    TRY(check_mask(engine, error));
    TRY(check_vocabulary(engine, error));
    TRY(list_unprintable(engine, error));
    TRY(engine_create_device(engine, options, error));
    return backend_is_host(engine->place.main) ? DLLM_OK
                                               : shared_create(engine, &engine->shared, error);
}

enum dllm_status dllm_engine_open(const struct dllm_engine_options *options,
                                  struct dllm_engine **out, struct dllm_error *error)
{
    double start = clock_seconds();
    struct dllm_engine *engine = calloc(1, sizeof *engine);
    enum dllm_status status;

    *out = NULL;
    if (!engine)
        return status_no_memory(error, sizeof *engine);
    TRY_GOTO(lock_create(&engine->lock, error));
    TRY_GOTO(load(engine, options, error));
    if (engine->place.main)
        engine->readahead = engine_read_ahead(engine, options->on_read, options->context);
    engine->load_seconds = clock_seconds() - start;
    *out = engine;
    return DLLM_OK;
fail:
    dllm_engine_close(engine);
    return status;
}

void dllm_engine_close(struct dllm_engine *engine)
{
    if (!engine)
        return;
    readahead_stop(engine->readahead);
    shared_destroy(engine->shared);
    backend_destroy(engine->place.main);
    backend_destroy(engine->place.before);
    free(engine->unprintable);
    tokenizer_destroy(engine->tokenizer);
    weights_free(&engine->model.weights);
    free(engine->name);
    free(engine->architecture);
    dllm_file_close(engine->file);
    lock_destroy(engine->lock);
    free(engine);
}
