/*
 * toy_model.c: logits by a formula that is exact in f32.
 */
#include "toy_model.h"

#include "cross_entropy.h"

#include <math.h>
#include <stdlib.h>

void toy_logits(const struct toy_model *toy, const int32_t *ids, int length, int p, float *logits)
{
    int left = p > 0 ? ids[p - 1] : 0, right = p + 1 < length ? ids[p + 1] : 0;

    for (int t = 0; t < TOY_MASK; t++) {
        int mixed = (31 * p + 17 * t + 7 * left + 13 * right + 5 * t * t + 3 * p * t) % 97;
        logits[t] = toy->scale * ((float)mixed / 16 + (float)t / 1024);
        if (toy->only_masks)
            logits[t] = -INFINITY;
        if (toy->flat)
            logits[t] = 0;
    }
    logits[TOY_MASK] = toy->only_masks ? 5 : -toy->scale;
}

/* The rules with the mask off the banned list; room holds [banned_count] ids. */
static struct pick_rules without_mask_ban(const struct pick_rules *rules, int32_t *room)
{
    struct pick_rules changed = *rules;

    changed.banned = room;
    changed.banned_count = 0;
    for (int i = 0; i < rules->banned_count; i++)
        if (rules->banned[i] != TOY_MASK)
            room[changed.banned_count++] = rules->banned[i];
    return changed;
}

/* Logits of a row of a pass, or under guidance of two. */
static void toy_row(const struct toy_model *toy, const int32_t *ids, const int32_t *unguided,
                    double cfg_scale, int length, int row, float *logits)
{
    float other[TOY_VOCAB];

    toy_logits(toy, ids, length, row, logits);
    if (!unguided)
        return;
    toy_logits(toy, unguided, length, row, other);
    for (int t = 0; t < TOY_VOCAB; t++)
        logits[t] = other[t] + (float)(cfg_scale + 1) * (logits[t] - other[t]);
}

static enum dllm_status toy_score(void *context, const struct denoise_request *request,
                                  struct pick *picks, struct dllm_error *error)
{
    struct toy_model *toy = context;
    float logits[TOY_VOCAB];
    void *scratch = aligned_alloc(64, pick_scratch_bytes(TOY_VOCAB));
    int32_t *room = malloc((size_t)request->rules->banned_count * sizeof *room);
    struct pick_rules rules =
        toy->mask_in_softmax ? without_mask_ban(request->rules, room) : *request->rules;
    enum dllm_status status = DLLM_OK;

    toy->calls++;
    toy->rows += request->count;
    for (int i = 0; i < request->count && status == DLLM_OK; i++) {
        toy_row(toy, request->canvas, request->unguided, request->cfg_scale, request->length,
                request->rows[i], logits);
        if (toy->calls == toy->fail_at)
            logits[3] = NAN;
        status =
            pick_row(logits, TOY_VOCAB, &rules, request->positions[i], scratch, &picks[i], error);
    }
    free(room);
    free(scratch);
    return status;
}

struct denoise_model toy_denoise_model(struct toy_model *toy, bool dream)
{
    return (struct denoise_model){.score = toy_score,
                                  .context = toy,
                                  .dream = dream,
                                  .shift_logits = dream,
                                  .mask_id = TOY_MASK,
                                  .eos_id = TOY_EOS,
                                  .eot_id = TOY_EOT};
}

static enum dllm_status toy_losses(void *context, const struct score_request *request,
                                   double *losses, struct dllm_error *error)
{
    struct toy_model *toy = context;
    _Alignas(64) char scratch[64];
    float logits[TOY_VOCAB];
    int at = 0;

    (void)error;
    toy->calls++;
    for (int i = 0; i < request->canvas_count; i++) {
        const struct score_canvas *canvas = &request->canvases[i];
        toy->rows += canvas->count;
        for (int row = 0; row < canvas->count; row++, at++) {
            toy_row(toy, canvas->ids, canvas->unguided, request->cfg_scale, request->length,
                    canvas->rows[row], logits);
            if (toy->calls == toy->fail_at)
                logits[3] = NAN;
            losses[at] = cross_entropy_row(logits, TOY_VOCAB, request->targets[at], scratch);
        }
    }
    return DLLM_OK;
}

struct score_model toy_score_model(struct toy_model *toy, bool shift)
{
    return (struct score_model){.losses = toy_losses,
                                .context = toy,
                                .shift_logits = shift,
                                .mask_id = TOY_MASK,
                                .canvases_at_once = 4};
}
