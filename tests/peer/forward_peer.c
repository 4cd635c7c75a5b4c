/*
 * forward_peer.c: one pass of a GGUF file through dllm and through llama.cpp.
 *
 * usage: forward_peer compare float|quantized FILE
 *        forward_peer quantize IN OUT F16|BF16|Q8_0|Q4_K_M|Q5_K_M|Q6_K|MXFP4_MOE
 *        forward_peer prompts FILE
 *        forward_peer gpu FILE
 *
 * The first compares the logits of all rows of a canvas, within the bounds of
 * parity.h. The second has llama.cpp make a file of another type from an F32
 * one. The others look at llama.cpp alone: prompts that share a pass must get
 * the logits that each gets by itself; a GPU must have the model, or it is said
 * why it has not.
 */
#include "dllm.h"
#include "llama_peer.h"
#include "parity.h"
#include "two_sides.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 11, THREADS = 2, PROMPTS = 3 };

static int complain(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    return 1;
}

static int compare(const char *bound, const char *path)
{
    struct sides_canvas canvas;
    const char *why = sides_canvas_of(path, PROMPT, 41, &canvas);
    float *got = why ? NULL : sides_own_logits(path, &canvas, &why);
    float *want = why ? NULL : sides_peer_logits(path, &canvas, &why);
    bool good;
    struct parity parity;
    char line[256];

    if (why) {
        free(got);
        free(want);
        return complain(path, why);
    }
    parity = parity_of_rows(got, want, SIDES_CANVAS, (size_t)canvas.vocab);
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
        {"F16", LLAMA_PEER_F16},
        {"BF16", LLAMA_PEER_BF16},
        {"Q8_0", LLAMA_PEER_Q8_0},
        {"Q4_K_M", LLAMA_PEER_Q4_K_M},
        {"Q5_K_M", LLAMA_PEER_Q5_K_M},
        {"Q6_K", LLAMA_PEER_Q6_K},
        {"MXFP4_MOE", LLAMA_PEER_MXFP4_MOE},
    };
    const char *why = "no such type";

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0)
            why = llama_peer_quantize(in, out, types[i].type, THREADS);
    return why ? complain(out, why) : 0;
}

/* Lowest cosine of a row of the shared pass to that of the prompt's own. */
static const char *compare_prompts(const char *path, double *lowest)
{
    const struct llama_peer_options options = {
        .canvas = SIDES_CANVAS, .threads = THREADS, .prompts = PROMPTS};
    struct llama_peer_model *model = NULL;
    struct llama_peer_context *many = NULL, *one = NULL;
    int32_t ids[PROMPTS * SIDES_CANVAS];
    const char *why = llama_peer_model_load(path, false, &model);
    size_t vocab = why ? 0 : (size_t)llama_peer_vocab_size(model);

    for (int i = 0; i < PROMPTS * SIDES_CANVAS; i++)
        ids[i] = (i * 41 + i / SIDES_CANVAS) % 512;
    if (!why)
        why = llama_peer_context_create(model, &options, &many);
    if (!why)
        why = llama_peer_context_create(model, &options, &one);
    if (!why)
        why = llama_peer_forward_many(many, ids, PROMPTS, SIDES_CANVAS);
    *lowest = 1;
    for (int i = 0; !why && i < PROMPTS * SIDES_CANVAS; i++) {
        const int row = i % SIDES_CANVAS;

        if (row == 0)
            why = llama_peer_forward(one, ids + i, SIDES_CANVAS);
        if (!why)
            *lowest = fmin(*lowest, parity_of_row(llama_peer_logits(many, i),
                                                  llama_peer_logits(one, row), vocab)
                                        .cosine);
    }
    llama_peer_context_free(many);
    llama_peer_context_free(one);
    llama_peer_model_free(model);
    return why;
}

static int prompts(const char *path)
{
    double lowest;
    const char *why = compare_prompts(path, &lowest);
    bool good = !why && lowest > 0.99999;

    if (why)
        return complain(path, why);
    printf("%s %s: %d prompts in a pass, lowest cosine to each alone %.7f\n",
           good ? "ok" : "FAILED", path, PROMPTS, lowest);
    return !good;
}

static int load_on_gpu(const char *path)
{
    struct llama_peer_model *model;
    const char *why = llama_peer_model_load_on_gpu(path, 0, &model);

    if (why)
        return complain(path, why);
    printf("%s\n", llama_peer_describe());
    llama_peer_model_free(model);
    return 0;
}

int main(int argc, char **argv)
{
    const char *why, *what = argc > 1 ? argv[1] : "";

    if (!(argc == 4 && strcmp(what, "compare") == 0) &&
        !(argc == 5 && strcmp(what, "quantize") == 0) &&
        !(argc == 3 && (strcmp(what, "prompts") == 0 || strcmp(what, "gpu") == 0))) {
        fprintf(stderr,
                "usage: %s compare float|quantized FILE | quantize IN OUT TYPE | prompts FILE | "
                "gpu FILE\n",
                argv[0]);
        return 2;
    }
    why = llama_peer_open(NULL);
    if (why)
        return complain("llama.cpp", why);
    if (argc == 3)
        return strcmp(what, "gpu") == 0 ? load_on_gpu(argv[2]) : prompts(argv[2]);
    return argc == 4 ? compare(argv[2], argv[3]) : quantize(argv[2], argv[3], argv[4]);
}
