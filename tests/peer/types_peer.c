/*
 * types_peer.c: what each block type costs: a model's matrices are encoded by
 * llama.cpp's library, and the logits of that file, through dllm and through
 * llama.cpp, are compared with those of its expansion to F32 (the truth).
 *
 * usage: types_peer [-c CANVASES] SCRATCH MODEL...
 *        types_peer encode IN OUT TYPE
 *
 * The second only writes the file whose matrices are of that type; TYPE F32 expands
 * them.
 *
 * A line per type: the Kullback-Leibler divergence from the truth of both sides,
 * in nats a row, the mean over models and canvases, and their ratio with its
 * standard error. Both sides round inputs alike, so that ratios scatter about 1;
 * the exit status is 1 where one is above by more than MOST_ERRORS of these.
 */
#include "compiler.h"
#include "convert_model.h"
#include "divergence.h"
#include "dtype.h"
#include "llama_peer.h"
#include "two_sides.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANVASES = 16, MOST_CANVASES = 1000, MOST_PATH = 4000 }; /* of all models together */
/* The ratio that Student's t of CANVASES - 1 degrees of freedom passes once in 770
 * times: with 22 types, chance alone fails one run in 35. (With the normal
 * distribution's 3.0 and eight canvases it was one in six.) */
#define MOST_ERRORS 3.6

static const uint32_t types[] = {
    DTYPE_Q8_0,  DTYPE_Q4_0,    DTYPE_Q4_1,  DTYPE_Q5_0,   DTYPE_Q5_1,    DTYPE_IQ4_NL,
    DTYPE_Q2_K,  DTYPE_Q3_K,    DTYPE_Q4_K,  DTYPE_Q5_K,   DTYPE_Q6_K,    DTYPE_IQ4_XS,
    DTYPE_IQ3_S, DTYPE_IQ3_XXS, DTYPE_IQ2_S, DTYPE_IQ2_XS, DTYPE_IQ2_XXS, DTYPE_IQ1_M,
    DTYPE_IQ1_S, DTYPE_MXFP4,   DTYPE_TQ1_0, DTYPE_TQ2_0};

/* logs: of ratios, one a canvas. */
struct sums {
    double ours, peer, logs, squares;
    int count;
};

static void add_pair(struct sums *sums, double ours, double peer)
{
    double ratio = log(ours / peer);

    sums->ours += ours;
    sums->peer += peer;
    sums->logs += ratio;
    sums->squares += ratio * ratio;
    sums->count++;
}

/* The mean of the logs and its standard error. */
static double mean_log(const struct sums *sums, double *error)
{
    double mean = sums->logs / sums->count;
    double variance = (sums->squares - sums->count * mean * mean) / (sums->count - 1);

    *error = sqrt(fmax(variance, 0) / sums->count);
    return mean;
}

static const char *add_canvas(const char *coded, const char *expanded, int prompt,
                              struct sums *sums)
{
    struct sides_canvas canvas;
    const char *why = sides_canvas_of(coded, 4 + 2 * prompt, 41 + 12 * prompt, &canvas);
    float *truth = why ? NULL : sides_own_logits(expanded, &canvas, &why);
    float *ours = why ? NULL : sides_own_logits(coded, &canvas, &why);
    float *peer = why ? NULL : sides_peer_logits(coded, &canvas, &why);

    if (!why) {
        add_pair(sums, divergence(truth, ours, SIDES_CANVAS, (size_t)canvas.vocab),
                 divergence(truth, peer, SIDES_CANVAS, (size_t)canvas.vocab));
    }
    free(truth);
    free(ours);
    free(peer);
    return why;
}

static const char *add_model(const char *scratch, const char *model, uint32_t type, int canvases,
                             struct sums *sums)
{
    char coded[MOST_PATH + 20], expanded[MOST_PATH + 20];
    const char *why = NULL;

    snprintf(coded, sizeof coded, "%.*s/coded.gguf", MOST_PATH, scratch);
    snprintf(expanded, sizeof expanded, "%.*s/expanded.gguf", MOST_PATH, scratch);
    if (!convert_model_encoded(model, coded, type, llama_peer_encode) ||
        !convert_model(coded, expanded, CONVERT_EXPANDED))
        return "the model could not be encoded";
    for (int prompt = 0; prompt < canvases && !why; prompt++)
        why = add_canvas(coded, expanded, prompt, sums);
    return why;
}

/* What is compared: models, and canvases of each. */
struct task {
    const char *scratch;
    char **models;
    int count, canvases;
};

static int compare_type(const struct task *task, uint32_t type)
{
    struct sums sums = {0};
    double mean, error;
    bool good;

    for (int i = 0; i < task->count; i++) {
        const char *why = add_model(task->scratch, task->models[i], type, task->canvases, &sums);

        if (why) {
            printf("FAILED %s, %s: %s\n", dllm_type_name(type), task->models[i], why);
            return 1;
        }
    }
    mean = mean_log(&sums, &error);
    good = mean <= MOST_ERRORS * error;
    printf("%s %s: %.4g nats a row, llama.cpp %.4g; ratio %.3f +- %.3f\n", good ? "ok" : "FAILED",
           dllm_type_name(type), sums.ours / sums.count, sums.peer / sums.count, exp(mean), error);
    fflush(stdout);
    return !good;
}

static int encode(const char *in, const char *out, const char *name)
{
    if (strcmp(name, "F32") == 0)
        return !convert_model(in, out, CONVERT_EXPANDED);
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(dllm_type_name(types[i]), name) == 0)
            return !convert_model_encoded(in, out, types[i], llama_peer_encode);
    fprintf(stderr, "no such type: %s\n", name);
    return 1;
}

/* Takes "-c CANVASES" away; false: the number makes no sense. */
static bool take_canvases(int *argc, char ***argv, int *canvases)
{
    char *end;
    long value;

    if (*argc < 3 || strcmp((*argv)[1], "-c") != 0)
        return true;
    value = strtol((*argv)[2], &end, 10);
    *canvases = (int)value;
    *argc -= 2;
    *argv += 2;
    return *end == 0 && value >= 2 && value <= MOST_CANVASES;
}

int main(int argc, char **argv)
{
    const char *usage = "usage: types_peer [-c CANVASES] SCRATCH MODEL... | encode IN OUT TYPE";
    int failed = 0, all = ARRAY_COUNT(types), canvases = CANVASES;
    bool good = take_canvases(&argc, &argv, &canvases) && argc >= 3;
    const char *why = good ? llama_peer_open(NULL) : usage;
    struct task task;

    if (why) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    if (argc == 5 && strcmp(argv[1], "encode") == 0)
        return encode(argv[2], argv[3], argv[4]);
    task = (struct task){argv[1], argv + 2, argc - 2, MAX(canvases / (argc - 2), 2)};
    for (int i = 0; i < all; i++)
        failed += compare_type(&task, types[i]);
    printf("%d passed, %d failed\n", all - failed, failed);
    return failed != 0;
}
