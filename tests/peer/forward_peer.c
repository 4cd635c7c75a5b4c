/*
 * forward_peer.c: one pass of a GGUF file through dllm and through llama.cpp.
 *
 * usage: forward_peer compare float|quantized FILE
 *        forward_peer quantize IN OUT F16|BF16|Q8_0|Q4_K_M|Q5_K_M|Q6_K
 *
 * The first compares the logits of all rows of a canvas: float weights to a
 * relative RMS of 2e-3 in the median row, quantized ones to a cosine of 0.999,
 * with the same top id in seven of eight rows. The second has llama.cpp make a file of another
 * type from an F32 one.
 */
#include "dllm.h"
#include "llama_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANVAS = 24, PROMPT = 11, THREADS = 2 };

struct distances {
    double relative_rms[CANVAS], cosine[CANVAS];
    int same_top;
};

static int complain(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    return 1;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double values[CANVAS])
{
    qsort(values, CANVAS, sizeof *values, compare_doubles);
    return values[CANVAS / 2];
}

static void compare_row(const float *got, const float *want, int vocab, int row,
                        struct distances *out)
{
    double difference = 0, gg = 0, ww = 0, gw = 0;
    int top_got = 0, top_want = 0;

    for (int i = 0; i < vocab; i++) {
        difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        gg += (double)got[i] * got[i];
        ww += (double)want[i] * want[i];
        gw += (double)got[i] * want[i];
        top_got = got[i] > got[top_got] ? i : top_got;
        top_want = want[i] > want[top_want] ? i : top_want;
    }
    out->relative_rms[row] = sqrt(difference / ww);
    out->cosine[row] = gw / sqrt(gg * ww);
    out->same_top += top_got == top_want;
}

/* Logits [CANVAS, vocab] of dllm and the ids they belong to; NULL on failure. */
static float *own_logits(const char *path, int32_t ids[CANVAS], int *vocab)
{
    struct dllm_engine_options options = {.model_path = path, .threads = THREADS};
    struct dllm_engine *engine = NULL;
    struct dllm_session *session = NULL;
    struct dllm_error error = {0};
    struct dllm_model_info info;
    int32_t rows[CANVAS];
    float *logits = NULL;

    if (dllm_engine_open(&options, &engine, &error) != DLLM_OK ||
        dllm_session_create(engine, &session, &error) != DLLM_OK)
        goto fail;
    dllm_engine_info(engine, &info);
    *vocab = info.vocab;
    for (int i = 0; i < CANVAS; i++) {
        rows[i] = i;
        ids[i] = i < PROMPT ? (i * 41 + 41) % info.vocab : info.mask_id;
    }
    logits = calloc((size_t)CANVAS * (size_t)info.vocab, sizeof *logits);
    if (logits && dllm_logits(session, ids, CANVAS, rows, CANVAS, false, logits, &error) == DLLM_OK)
        goto done;
fail:
    complain(path, error.message);
    free(logits);
    logits = NULL;
done:
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return logits;
}

static const char *peer_distances(const char *path, const int32_t ids[CANVAS], const float *logits,
                                  int vocab, struct distances *out)
{
    struct llama_peer_context *context = NULL;
    struct llama_peer_model *model = NULL;
    const char *why = llama_peer_model_load(path, false, &model);

    if (!why)
        why = llama_peer_context_create(model, CANVAS, THREADS, false, &context);
    if (!why)
        why = llama_peer_forward(context, ids, CANVAS);
    for (int row = 0; !why && row < CANVAS; row++)
        compare_row(logits + (size_t)row * (size_t)vocab, llama_peer_logits(context, row), vocab,
                    row, out);
    llama_peer_context_free(context);
    llama_peer_model_free(model);
    return why;
}

static int compare(const char *bound, const char *path)
{
    bool quantized = strcmp(bound, "quantized") == 0;
    struct distances distances = {0};
    int32_t ids[CANVAS];
    int vocab, good;
    double rms, cosine;
    float *logits = own_logits(path, ids, &vocab);
    const char *why;

    if (!logits)
        return 1;
    why = peer_distances(path, ids, logits, vocab, &distances);
    free(logits);
    if (why)
        return complain(path, why);
    rms = median(distances.relative_rms);
    cosine = median(distances.cosine);
    good = quantized ? cosine >= 0.999 && distances.same_top >= CANVAS * 7 / 8 : rms <= 2e-3;
    printf("%s %s: relative RMS median %.1e, worst %.1e; cosine median %.6f, lowest %.6f; same top "
           "id in %d of %d rows\n",
           good ? "ok" : "FAILED", path, rms, distances.relative_rms[CANVAS - 1], cosine,
           distances.cosine[0], distances.same_top, CANVAS);
    return !good;
}

static int quantize(const char *in, const char *out, const char *type)
{
    static const struct {
        const char *name;
        enum llama_peer_ftype type;
    } types[] = {
        {"F16", LLAMA_PEER_F16},       {"BF16", LLAMA_PEER_BF16},     {"Q8_0", LLAMA_PEER_Q8_0},
        {"Q4_K_M", LLAMA_PEER_Q4_K_M}, {"Q5_K_M", LLAMA_PEER_Q5_K_M}, {"Q6_K", LLAMA_PEER_Q6_K},
    };
    const char *why = "no such type";

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0)
            why = llama_peer_quantize(in, out, types[i].type, THREADS);
    return why ? complain(out, why) : 0;
}

int main(int argc, char **argv)
{
    const char *why;

    if (!(argc == 4 && strcmp(argv[1], "compare") == 0) &&
        !(argc == 5 && strcmp(argv[1], "quantize") == 0)) {
        fprintf(stderr, "usage: %s compare float|quantized FILE | quantize IN OUT TYPE\n", argv[0]);
        return 2;
    }
    why = llama_peer_open(NULL);
    if (why)
        return complain("llama.cpp", why);
    return argc == 4 ? compare(argv[2], argv[3]) : quantize(argv[2], argv[3], argv[4]);
}
