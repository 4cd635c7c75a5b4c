/*
 * demo_peer.c: the demo model's greedy answers, by dllm and by a plain sampling
 * loop over llama.cpp's logits of the same file.
 *
 * usage: demo_peer FILE
 *
 * The loop is LLaDA's published one: a canvas of masks in one block, and every
 * step the most probable of all best tokens is committed.
 */
#include "demo_questions.h"
#include "llama_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS = 50, GENERATED = 32, CANVAS = 96, THREADS = 1 };

struct sides {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    struct llama_peer_model *model;
    struct llama_peer_context *context;
};

/* The best token of a row, its probability in *sureness; the mask is no token. */
static int32_t best_token(const float *row, const struct dllm_model_info *info, double *sureness)
{
    int32_t best = info->mask_id == 0;
    double sum = 0;

    for (int32_t id = 0; id < info->vocab; id++)
        if (id != info->mask_id && row[id] > row[best])
            best = id;
    for (int32_t id = 0; id < info->vocab; id++)
        if (id != info->mask_id)
            sum += exp((double)row[id] - (double)row[best]);
    *sureness = 1 / sum;
    return best;
}

static const char *peer_step(const struct sides *sides, int32_t *ids, int count)
{
    double surest = -1, sureness;
    int32_t token = 0;
    int position = 0;
    const char *why = llama_peer_forward(sides->context, ids, count);

    for (int i = 0; !why && i < count; i++) {
        if (ids[i] != sides->info.mask_id)
            continue;
        int32_t best = best_token(llama_peer_logits(sides->context, i), &sides->info, &sureness);
        if (sureness > surest) {
            surest = sureness;
            position = i;
            token = best;
        }
    }
    if (!why)
        ids[position] = token;
    return why;
}

/* Our ids for the prompt, [GENERATED] into out. */
static const char *own_answer(const struct sides *sides, const struct dllm_ids *prompt,
                              int32_t *out)
{
    static struct dllm_error error;
    struct dllm_generate_options options;
    struct dllm_result result = {0};

    dllm_generate_defaults(sides->engine, true, &options);
    options.max_tokens = options.steps = options.block_length = GENERATED;
    options.no_early_stop = true;
    if (dllm_generate(sides->session, prompt->ids, prompt->count, &options, &result, &error) !=
        DLLM_OK)
        return error.message;
    memcpy(out, result.ids.ids, GENERATED * sizeof *out);
    dllm_result_free(&result);
    return NULL;
}

/* 1 equal, 0 not, -1 after a message. */
static int compare(const struct sides *sides, const char *question)
{
    static struct dllm_error error;
    struct dllm_message message = {"user", {question, strlen(question)}};
    struct dllm_ids prompt = {0};
    int32_t canvas[CANVAS], own[GENERATED];
    const char *why = NULL;
    int count;

    if (dllm_encode_chat(sides->engine, &message, 1, false, &prompt, &error) != DLLM_OK)
        why = error.message;
    if (!why && prompt.count + GENERATED > CANVAS)
        why = "the question is too long";
    if (!why)
        why = own_answer(sides, &prompt, own);
    count = (int)prompt.count + GENERATED;
    for (int i = 0; !why && i < count; i++)
        canvas[i] = i < (int)prompt.count ? prompt.ids[i] : sides->info.mask_id;
    for (int step = 0; !why && step < GENERATED; step++)
        why = peer_step(sides, canvas, count);
    if (why)
        printf("%s: %s\n", question, why);
    else if (memcmp(own, canvas + count - GENERATED, sizeof own) != 0)
        printf("%s: other ids than over llama.cpp's logits\n", question);
    else {
        dllm_ids_free(&prompt);
        return 1;
    }
    dllm_ids_free(&prompt);
    return why ? -1 : 0;
}

static const char *open_sides(const char *path, struct sides *out)
{
    static struct dllm_error error;
    struct dllm_engine_options options = {.model_path = path, .threads = THREADS};
    struct llama_peer_options peer_options = {.canvas = CANVAS, .threads = THREADS};
    const char *why = llama_peer_open(NULL);

    if (!why)
        why = llama_peer_model_load(path, false, &out->model);
    if (!why)
        why = llama_peer_context_create(out->model, &peer_options, &out->context);
    if (why)
        return why;
    if (dllm_engine_open(&options, &out->engine, &error) != DLLM_OK ||
        dllm_session_create(out->engine, &out->session, &error) != DLLM_OK)
        return error.message;
    dllm_engine_info(out->engine, &out->info);
    return NULL;
}

static void close_sides(struct sides *sides)
{
    dllm_session_destroy(sides->session);
    dllm_engine_close(sides->engine);
    llama_peer_context_free(sides->context);
    llama_peer_model_free(sides->model);
}

int main(int argc, char **argv)
{
    struct sides sides = {0};
    json_t *list = demo_questions_load(DEMO_QUESTIONS_PATH);
    const char *why = argc == 2 && list ? open_sides(argv[1], &sides) : "usage: demo_peer FILE";
    int equal = 0, asked = 0;

    if (why)
        printf("FAILED: %s\n", why);
    for (; !why && asked < QUESTIONS; asked++) {
        size_t index = (size_t)asked * json_array_size(list) / QUESTIONS;
        equal += compare(&sides, demo_question_get(list, index).question) == 1;
    }
    if (!why)
        printf("the same ids on %d of %d questions\n", equal, asked);
    close_sides(&sides);
    json_decref(list);
    return why || equal != asked;
}
