/*
 * pick.c: a token and its confidence from a row of logits; see pick.h.
 *
 * The row is copied once, so that banned ids can become -infinity. Without
 * temperature, LLaDA's pick is that copy, a maximum and a sum of exponentials.
 * Everything is plain C in doubles: threads, CPU levels and batch order cannot
 * change a bit of it.
 */
#include "pick.h"

#include "compiler.h"
#include "filter.h"
#include "rng.h"
#include "softmax.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A uniform number is at most 1 - 2^-53, so -ln(-ln u) is below this. */
#define GUMBEL_HIGHEST 38.0

/* A row at work; the arrays lie in the caller's scratch. */
struct row {
    float *logits;   /* [padded] */
    double *weights; /* [padded] */
    void *filter;    /* filter_apply's scratch */
    int vocab, padded;
    int32_t best;   /* lowest id with the largest logit */
    int32_t second; /* the next one of that order, -1: none or not looked for */
    float max;
    const struct pick_rules *rules;
    int32_t position;
};

static int padded_count(int vocab)
{
    return ROUND_UP(vocab, 16);
}

size_t pick_scratch_bytes(int vocab)
{
    size_t padded = (size_t)padded_count(vocab);

    return ROUND_UP(padded * (sizeof(float) + sizeof(double)) + filter_scratch_bytes(vocab),
                    CACHE_LINE);
}

static double row_uniform(const struct row *row, uint32_t draw)
{
    return rng_uniform(row->rules->seed, row->rules->step, (uint32_t)row->position, draw);
}

static void row_drop(struct row *row, const int32_t *ids, int count)
{
    for (int i = 0; i < count; i++)
        if (ids[i] >= 0 && ids[i] < row->vocab)
            row->logits[ids[i]] = -INFINITY;
}

/* The lowest id from first on whose logit is the value; it must exist. */
static int32_t row_find(const struct row *row, float value)
{
    int32_t id = 0;

    while (row->logits[id] != value)
        id++;
    return id;
}

static void row_open(struct row *row, const float *logits, char *scratch)
{
    size_t padded = (size_t)padded_count(row->vocab);

    row->padded = (int)padded;
    row->logits = (float *)(void *)scratch;
    row->weights = (double *)(void *)(scratch + padded * sizeof(float));
    row->filter = row->weights + padded;
    memcpy(row->logits, logits, (size_t)row->vocab * sizeof(float));
    for (int id = row->vocab; id < row->padded; id++)
        row->logits[id] = -INFINITY;
    row_drop(row, row->rules->banned, row->rules->banned_count);
}

/* Messages count steps from 1, as reports of progress do. */
static enum dllm_status row_check(struct row *row, struct dllm_error *error)
{
    int bad;

    row->max = softmax_max(row->logits, row->padded, &bad);
    if (bad)
        return status_fail(error, DLLM_ERROR_NUMERIC,
                           "position %d, step %u: the logits hold NaN or +infinity where finite "
                           "numbers are expected; the model file is damaged or its activations "
                           "overflow: compare it with its source",
                           (int)row->position, (unsigned)row->rules->step + 1);
    if (row->max == -INFINITY)
        return status_fail(error, DLLM_ERROR_NUMERIC,
                           "position %d, step %u: no token that may be chosen has a finite logit "
                           "(expected at least one); the model file is damaged: compare it with "
                           "its source",
                           (int)row->position, (unsigned)row->rules->step + 1);
    row->best = row_find(row, row->max);
    return DLLM_OK;
}

/* The second of the order: the best again with the first one taken out. */
static int32_t row_second(const struct row *row)
{
    float first = row->logits[row->best], second;
    int32_t id;
    int bad;

    row->logits[row->best] = -INFINITY;
    second = softmax_max(row->logits, row->padded, &bad);
    id = second == -INFINITY ? -1 : row_find(row, second);
    row->logits[row->best] = first;
    return id;
}

/* How far the best is ahead of the second. */
static double row_gap(const struct row *row)
{
    return row->second < 0 ? INFINITY : (double)row->max - row->logits[row->second];
}

/* l - T ln(-ln u) */
static double gumbel(const struct row *row, int32_t id, double u)
{
    return row->logits[id] - row->rules->temperature * log(-log(u));
}

/* At least -ln(-ln u), without logarithms: -ln u is above 1 - u, and that is at
 * least the power of two in its exponent. The slack covers rounding. */
static double gumbel_bound(double u)
{
    double rest = 1.0 - u;
    uint64_t bits;

    memcpy(&bits, &rest, sizeof bits);
    return (1023.0 - (double)(int)(bits >> 52)) * 0.693147180559946 + 1e-9;
}

/* Argmax of l - T ln(-ln u), in order of ids. Numbers are counter-based, so an
 * id that could not win with the luckiest number need not draw one. */
static int32_t llada_choose(const struct row *row)
{
    double temperature = row->rules->temperature;
    double reach = temperature * GUMBEL_HIGHEST;
    /* The best's own value is below or at the highest. */
    double bar = gumbel(row, row->best, row_uniform(row, (uint32_t)row->best));
    double highest = -INFINITY;
    int32_t token = row->best;

    for (int32_t id = 0; id < row->vocab; id++) {
        double u, noisy;
        if (row->logits[id] + reach < bar)
            continue;
        u = row_uniform(row, (uint32_t)id);
        if (row->logits[id] + temperature * gumbel_bound(u) < bar)
            continue;
        noisy = gumbel(row, id, u);
        if (noisy > highest) {
            highest = noisy;
            bar = MAX(bar, noisy);
            token = id;
        }
    }
    return token;
}

static int is_deferred(const struct pick_rules *rules, int32_t id)
{
    for (int i = 0; i < rules->deferred_count; i++)
        if (rules->deferred[i] == id)
            return 1;
    return 0;
}

/* The likeliest besides the token: the best if a draw passed it over. */
static int32_t row_runner_up(const struct row *row, int32_t token)
{
    return token == row->best ? row->second : row->best;
}

/* Among all that is allowed, without noise and temperature. */
static void llada_probabilities(const struct row *row, struct pick *out)
{
    double sum = softmax_sum(row->logits, row->padded, row->max, 1.0);

    out->probability = softmax_exp((double)row->logits[out->token] - row->max) / sum;
    if (out->runner_up >= 0)
        out->runner_up_probability =
            softmax_exp((double)row->logits[out->runner_up] - row->max) / sum;
}

/* The token's probability among all but the deferred ids, which leave the row; they
 * have exactly 0. */
static double llada_undeferred(struct row *row, int32_t token)
{
    const struct pick_rules *rules = row->rules;
    float max;
    int bad;

    if (is_deferred(rules, token))
        return 0;
    row_drop(row, rules->deferred, rules->deferred_count);
    max = softmax_max(row->logits, row->padded, &bad);
    return softmax_exp((double)row->logits[token] - max) /
           softmax_sum(row->logits, row->padded, max, 1.0);
}

/* As the probabilities: of all that is allowed. */
static double llada_neg_entropy(const struct row *row)
{
    double total = softmax_weights(row->logits, row->padded, row->max, 1.0, row->weights);

    return softmax_neg_entropy(row->weights, row->padded, total);
}

static void llada_pick(struct row *row, struct pick *out)
{
    const struct pick_rules *rules = row->rules;
    bool defers = rules->deferred_count > 0;

    out->token = rules->temperature > 0 ? llada_choose(row) : row->best;
    out->runner_up = row_runner_up(row, out->token);
    if (rules->runner_up || !defers)
        llada_probabilities(row, out);
    if (rules->confidence == PICK_NEG_ENTROPY)
        out->confidence = llada_neg_entropy(row);
    else
        out->confidence = defers ? llada_undeferred(row, out->token) : out->probability;
}

/* The token under which u * total falls when weights are laid end to end. */
static int32_t dream_draw(const struct row *row, double total)
{
    double target = row_uniform(row, PICK_DRAW_TOKEN) * total;
    double reached = 0;
    int32_t token = row->best;

    for (int32_t id = 0; id < row->vocab; id++)
        if (row->weights[id] > 0) {
            reached += row->weights[id];
            token = id;
            if (reached > target)
                break;
        }
    return token;
}

static double dream_confidence(const struct row *row, const struct pick *pick, double total)
{
    double second;

    switch (row->rules->confidence) {
    case PICK_MARGIN:
        second = row->second < 0 ? 0.0 : row->weights[row->second];
        return (row->weights[row->best] - second) / total;
    case PICK_NEG_ENTROPY:
        return softmax_neg_entropy(row->weights, row->padded, total);
    default:
        return pick->probability;
    }
}

static void dream_pick(struct row *row, struct pick *out)
{
    const struct pick_rules *rules = row->rules;
    /* The reciprocal of a denormal number would overflow. */
    double scale = rules->temperature > 0 ? 1.0 / MAX(rules->temperature, DBL_MIN) : 1.0;
    struct filter_row filter = {row->logits, row->weights, row->vocab, row->max, scale, 0};
    double total;

    total = softmax_weights(row->logits, row->padded, row->max, scale, row->weights);
    if (rules->top_p < 1 || rules->top_k > 0) {
        filter.total = total;
        if (filter_apply(&filter, rules->top_p, rules->top_k, row->filter) == 1)
            row->second = -1;
        total = softmax_total(row->weights, row->padded);
    }
    out->token = rules->temperature > 0 ? dream_draw(row, total) : row->best;
    out->probability = row->weights[out->token] / total;
    out->runner_up = row_runner_up(row, out->token);
    if (out->runner_up >= 0)
        out->runner_up_probability = row->weights[out->runner_up] / total;
    out->confidence = dream_confidence(row, out, total);
}

enum dllm_status pick_row(const float *logits, int vocab, const struct pick_rules *rules,
                          int32_t position, void *scratch, struct pick *out,
                          struct dllm_error *error)
{
    struct row row = {.vocab = vocab, .second = -1, .rules = rules, .position = position};

    row_open(&row, logits, scratch);
    TRY(row_check(&row, error));
    *out = (struct pick){0};
    if (rules->runner_up || rules->gap || rules->confidence == PICK_MARGIN)
        row.second = row_second(&row);
    if (rules->gap)
        out->gap = row_gap(&row);
    if (rules->method == PICK_LLADA)
        llada_pick(&row, out);
    else
        dream_pick(&row, out);
    if (rules->confidence == PICK_UNIFORM)
        out->confidence = row_uniform(&row, PICK_DRAW_REMASK);
    return DLLM_OK;
}
