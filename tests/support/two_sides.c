/* two_sides.c: see two_sides.h. */
#include "two_sides.h"

#include "dllm.h"
#include "llama_peer.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 2 };

static const struct llama_peer_options peer_options = {.canvas = SIDES_CANVAS, .threads = THREADS};

static struct dllm_error error;

static enum dllm_status open_engine(const char *path, struct dllm_engine **out)
{
    struct dllm_engine_options options = {.model_path = path, .threads = THREADS};

    return dllm_engine_open(&options, out, &error);
}

const char *sides_canvas_of(const char *path, int prompt, int step, struct sides_canvas *out)
{
    struct dllm_engine *engine;
    struct dllm_model_info info;

    if (open_engine(path, &engine) != DLLM_OK)
        return error.message;
    dllm_engine_info(engine, &info);
    out->vocab = info.vocab;
    for (int i = 0; i < SIDES_CANVAS; i++)
        out->ids[i] = i < prompt ? (i * step + step) % info.vocab : info.mask_id;
    dllm_engine_close(engine);
    return NULL;
}

static float *logits_memory(const struct sides_canvas *canvas)
{
    return calloc((size_t)SIDES_CANVAS * (size_t)canvas->vocab, sizeof(float));
}

float *sides_own_logits(const char *path, const struct sides_canvas *canvas, const char **why)
{
    struct dllm_engine *engine = NULL;
    struct dllm_session *session = NULL;
    float *logits = logits_memory(canvas);
    int32_t rows[SIDES_CANVAS];

    for (int i = 0; i < SIDES_CANVAS; i++)
        rows[i] = i;
    *why = NULL;
    if (!logits || open_engine(path, &engine) != DLLM_OK ||
        dllm_session_create(engine, &session, &error) != DLLM_OK ||
        dllm_logits(session, canvas->ids, SIDES_CANVAS, rows, SIDES_CANVAS, false, logits,
                    &error) != DLLM_OK) {
        *why = error.message;
        free(logits);
        logits = NULL;
    }
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return logits;
}

float *sides_peer_logits(const char *path, const struct sides_canvas *canvas, const char **why)
{
    struct llama_peer_context *context = NULL;
    struct llama_peer_model *model = NULL;
    float *logits = logits_memory(canvas);
    size_t vocab = (size_t)canvas->vocab;

    *why = logits ? llama_peer_model_load(path, false, &model) : "out of memory";
    if (!*why)
        *why = llama_peer_context_create(model, &peer_options, &context);
    if (!*why)
        *why = llama_peer_forward(context, canvas->ids, SIDES_CANVAS);
    for (size_t row = 0; !*why && row < SIDES_CANVAS; row++)
        memcpy(logits + row * vocab, llama_peer_logits(context, (int)row), vocab * sizeof(float));
    llama_peer_context_free(context);
    llama_peer_model_free(model);
    if (*why) {
        free(logits);
        logits = NULL;
    }
    return logits;
}
