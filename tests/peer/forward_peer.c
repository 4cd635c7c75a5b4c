/*
 * forward_peer.c: one pass of a GGUF file through dllm and through llama.cpp.
 *
 * usage: forward_peer compare float|quantized FILE
 *        forward_peer quantize IN OUT F16|BF16|Q8_0|Q4_K_M|Q5_K_M|Q6_K
 *
 * The first compares the logits of all rows of a canvas, within the bounds of
 * parity.h. The second has llama.cpp make a file of another type from an F32
 * one.
 */
#include "dllm.h"
#include "llama_peer.h"
#include "parity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANVAS = 24, PROMPT = 11, THREADS = 2 };

static int complain(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    return 1;
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

/* The peer's logits of the same pass into out [CANVAS, vocab]. */
static const char *peer_logits(const char *path, const int32_t ids[CANVAS], int vocab, float *out)
{
    struct llama_peer_context *context = NULL;
    struct llama_peer_model *model = NULL;
    const char *why = llama_peer_model_load(path, false, &model);

    if (!why)
        why = llama_peer_context_create(model, CANVAS, THREADS, false, &context);
    if (!why)
        why = llama_peer_forward(context, ids, CANVAS);
    for (size_t row = 0; !why && row < CANVAS; row++)
        memcpy(out + row * (size_t)vocab, llama_peer_logits(context, (int)row),
               (size_t)vocab * sizeof *out);
    llama_peer_context_free(context);
    llama_peer_model_free(model);
    return why;
}

static int compare(const char *bound, const char *path)
{
    int32_t ids[CANVAS];
    int vocab;
    bool good;
    float *got = own_logits(path, ids, &vocab);
    float *want = got ? calloc((size_t)CANVAS * (size_t)vocab, sizeof *want) : NULL;
    const char *why = want ? peer_logits(path, ids, vocab, want) : "no logits of our own";
    struct parity parity;
    char line[256];

    if (why) {
        free(got);
        free(want);
        return complain(path, why);
    }
    parity = parity_of_rows(got, want, CANVAS, (size_t)vocab);
    good = parity_is_good(&parity, strcmp(bound, "quantized") == 0);
    parity_describe(&parity, line, sizeof line);
    printf("%s %s: %s\n", good ? "ok" : "FAILED", path, line);
    free(got);
    free(want);
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
