/*
 * types_peer.c: what each block type costs: a model's matrices are encoded by
 * llama.cpp's library, and the logits of that file, through dllm and through
 * llama.cpp, are compared with those of its expansion to F32 (the truth).
 *
 * usage: types_peer SCRATCH MODEL...
 *
 * A line per type: the Kullback-Leibler divergence from the truth of both sides,
 * in nats a row, the mean over models and canvases. Where it is above llama.cpp's
 * by more than SLACK the exit status is 1.
 */
#include "compiler.h"
#include "convert_model.h"
#include "divergence.h"
#include "dtype.h"
#include "llama_peer.h"
#include "two_sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPTS = 3, MOST_PATH = 4000 };
/* The quantized inputs of both sides are rounded alike for most types, so the two
 * divergences differ by chance; this is above what chance was seen to give. */
#define SLACK 1.02

static const uint32_t types[] = {DTYPE_Q8_0,    DTYPE_Q4_0,    DTYPE_Q4_1,  DTYPE_Q5_0,
                                 DTYPE_Q5_1,    DTYPE_IQ4_NL,  DTYPE_Q2_K,  DTYPE_Q3_K,
                                 DTYPE_Q4_K,    DTYPE_Q5_K,    DTYPE_Q6_K,  DTYPE_IQ4_XS,
                                 DTYPE_IQ3_S,   DTYPE_IQ3_XXS, DTYPE_IQ2_S, DTYPE_IQ2_XS,
                                 DTYPE_IQ2_XXS, DTYPE_TQ1_0,   DTYPE_TQ2_0};

struct sums {
    double ours, peer;
    int count;
};

static const char *add_canvas(const char *coded, const char *expanded, int prompt,
                              struct sums *sums)
{
    struct sides_canvas canvas;
    const char *why = sides_canvas_of(coded, 5 + 6 * prompt, 41 + 12 * prompt, &canvas);
    float *truth = why ? NULL : sides_own_logits(expanded, &canvas, &why);
    float *ours = why ? NULL : sides_own_logits(coded, &canvas, &why);
    float *peer = why ? NULL : sides_peer_logits(coded, &canvas, &why);

    if (!why) {
        sums->ours += divergence(truth, ours, SIDES_CANVAS, (size_t)canvas.vocab);
        sums->peer += divergence(truth, peer, SIDES_CANVAS, (size_t)canvas.vocab);
        sums->count++;
    }
    free(truth);
    free(ours);
    free(peer);
    return why;
}

static const char *add_model(const char *scratch, const char *model, uint32_t type,
                             struct sums *sums)
{
    char coded[MOST_PATH + 20], expanded[MOST_PATH + 20];
    const char *why = NULL;

    snprintf(coded, sizeof coded, "%.*s/coded.gguf", MOST_PATH, scratch);
    snprintf(expanded, sizeof expanded, "%.*s/expanded.gguf", MOST_PATH, scratch);
    if (!convert_model_encoded(model, coded, type, llama_peer_encode) ||
        !convert_model(coded, expanded, CONVERT_EXPANDED))
        return "the model could not be encoded";
    for (int prompt = 0; prompt < PROMPTS && !why; prompt++)
        why = add_canvas(coded, expanded, prompt, sums);
    return why;
}

static int compare_type(const char *scratch, char **models, int count, uint32_t type)
{
    struct sums sums = {0};
    bool good;

    for (int i = 0; i < count; i++) {
        const char *why = add_model(scratch, models[i], type, &sums);

        if (why) {
            printf("FAILED %s, %s: %s\n", dllm_type_name(type), models[i], why);
            return 1;
        }
    }
    good = sums.ours <= SLACK * sums.peer;
    printf("%s %s: %.4g nats a row, llama.cpp %.4g\n", good ? "ok" : "FAILED", dllm_type_name(type),
           sums.ours / sums.count, sums.peer / sums.count);
    fflush(stdout);
    return !good;
}

int main(int argc, char **argv)
{
    const char *why = argc < 3 ? "usage: types_peer SCRATCH MODEL..." : llama_peer_open(NULL);
    int failed = 0, all = ARRAY_COUNT(types);

    if (why) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    for (int i = 0; i < all; i++)
        failed += compare_type(argv[1], argv + 2, argc - 2, types[i]);
    printf("%d passed, %d failed\n", all - failed, failed);
    return failed != 0;
}
