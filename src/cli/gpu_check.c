/* gpu_check.c: the demo model on a GPU and on the CPU. */
#include "gpu_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CANVAS = 40 }; /* not a multiple of any tile */

static double cosine_of(const float *a, const float *b, int width)
{
    double aa = 0, bb = 0, ab = 0;

    for (int i = 0; i < width; i++) {
        aa += (double)a[i] * a[i];
        bb += (double)b[i] * b[i];
        ab += (double)a[i] * b[i];
    }
    return ab / sqrt(aa * bb);
}

double gpu_check_cosine(const float *got, const float *want, int rows, int width)
{
    double lowest = 1;

    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)width;
        double cosine = cosine_of(got + at, want + at, width);

        if (!(cosine >= lowest)) /* also where it is NaN */
            lowest = cosine;
        if (isnan(lowest))
            break;
    }
    return lowest;
}

/* Logits [CANVAS, vocab] of the session's model, of ids that are far apart. */
static enum dllm_status compute(struct dllm_session *session, int vocab, float **out,
                                struct dllm_error *error)
{
    int32_t ids[CANVAS], rows[CANVAS];

    for (int i = 0; i < CANVAS; i++) {
        ids[i] = i * 37 % vocab;
        rows[i] = i;
    }
    *out = calloc((size_t)CANVAS * (size_t)vocab, sizeof **out);
    if (!*out) {
        snprintf(error->message, sizeof error->message, "no memory for %d rows of logits", CANVAS);
        return DLLM_ERROR_MEMORY;
    }
    return dllm_logits(session, ids, CANVAS, rows, CANVAS, false, *out, error);
}

/* Of the demo model on a device; *out is to be freed, also after an error. */
static enum dllm_status compute_on(const char *device, int *vocab, float **out,
                                   struct dllm_error *error)
{
    const struct dllm_engine_options options = {.model_path = DLLM_DEMO_MODEL, .device = device};
    struct dllm_engine *engine = NULL;
    struct dllm_session *session = NULL;
    struct dllm_model_info info;
    enum dllm_status status = dllm_engine_open(&options, &engine, error);

    if (status == DLLM_OK)
        status = dllm_session_create(engine, &session, error);
    if (status == DLLM_OK) {
        dllm_engine_info(engine, &info);
        *vocab = info.vocab;
        status = compute(session, info.vocab, out, error);
    }
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return status;
}

enum dllm_status gpu_check_demo(int index, double *cosine, struct dllm_error *error)
{
    char device[20];
    float *got = NULL, *want = NULL;
    int vocab;
    enum dllm_status status;

    snprintf(device, sizeof device, "gpu:%d", index);
    status = compute_on(device, &vocab, &got, error);
    if (status == DLLM_OK)
        status = compute_on("cpu", &vocab, &want, error);
    if (status == DLLM_OK)
        *cosine = gpu_check_cosine(got, want, CANVAS, vocab);
    free(got);
    free(want);
    return status;
}
