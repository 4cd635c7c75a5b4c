/*
 * attention_body.h: attention of up to eight queries of one head over all keys,
 * flash style: keys in groups of ATTENTION_KEYS, a running maximum and sum, no
 * score matrix. Included once per level after a lanes_*.h, with
 * ATTENTION_LEVEL naming it and two register tiles:
 *   SCORE_TILE  queries whose scores against 16 * SCORE_GROUPS keys are held
 *   VALUE_TILE  queries whose outputs of 32 dims are held
 *
 * Fixed for every level (tiles change no bit): a score is one fma chain over
 * the head's dims of (query * scale); exponentials are summed in sixteen lanes
 * by key number mod 16; an output is one fma chain over the keys of a group,
 * multiplied by exp(old maximum - new) between groups; the maximum of a group
 * is exact in any order.
 */
#include "kernels.h"
#include "lanes_math.h"

#define ATTENTION_PASTE(a, b)         a##b
#define ATTENTION_NAME(prefix, level) ATTENTION_PASTE(prefix, level)

/* Cut from the item's scratch; dims is head_dim. */
struct attention_state {
    float *query;  /* [ATTENTION_QUERIES][dims], scaled */
    float *score;  /* [ATTENTION_QUERIES][ATTENTION_KEYS], then exponentials */
    float *output; /* [ATTENTION_QUERIES][dims] */
    float *sum;    /* [ATTENTION_QUERIES][LANES] */
    float top[ATTENTION_QUERIES];
};

static void start_state(const struct attention_item *item, struct attention_state *state)
{
    const int dims = item->head_dim;
    const float scale = 1.0f / sqrtf((float)dims);

    state->query = item->scratch;
    state->score = state->query + ATTENTION_QUERIES * dims;
    state->output = state->score + ATTENTION_QUERIES * ATTENTION_KEYS;
    state->sum = state->output + ATTENTION_QUERIES * dims;
    memset(state->query, 0, sizeof(float) * (size_t)(ATTENTION_QUERIES * dims));
    memset(state->output, 0, sizeof(float) * (size_t)(ATTENTION_QUERIES * (dims + LANES)));
    for (int t = 0; t < ATTENTION_QUERIES; t++)
        state->top[t] = -INFINITY;
    for (int t = 0; t < item->queries; t++)
        for (int d = 0; d < dims; d++)
            state->query[t * dims + d] = item->q[(size_t)t * item->q_step + (size_t)d] * scale;
}

/* Scores of SCORE_TILE queries against SCORE_GROUPS groups of sixteen keys. */
ALWAYS_INLINE void score_tile(const float *query, const float *keys, int dims, float *score)
{
    struct lanes sum[SCORE_TILE][SCORE_GROUPS];

    UNROLL(8)
    for (int t = 0; t < SCORE_TILE; t++)
        UNROLL(2)
    for (int g = 0; g < SCORE_GROUPS; g++)
        sum[t][g] = lanes_set1(0);
    for (int d = 0; d < dims; d++) {
        struct lanes key[SCORE_GROUPS];

        UNROLL(2)
        for (int g = 0; g < SCORE_GROUPS; g++)
            key[g] = lanes_load(keys + (g * dims + d) * LANES);
        UNROLL(8)
        for (int t = 0; t < SCORE_TILE; t++) {
            struct lanes q = lanes_set1(query[t * dims + d]);

            UNROLL(2)
            for (int g = 0; g < SCORE_GROUPS; g++)
                sum[t][g] = lanes_fma(q, key[g], sum[t][g]);
        }
    }
    UNROLL(8)
    for (int t = 0; t < SCORE_TILE; t++)
        UNROLL(2)
    for (int g = 0; g < SCORE_GROUPS; g++)
        lanes_store(score + t * ATTENTION_KEYS + g * LANES, sum[t][g]);
}

/* Keys [first, first + count) against all queries; keys past the end of the
 * last group score whatever the padding holds and are masked afterwards. */
static void score_group(const struct attention_item *item, struct attention_state *state, int first,
                        int count)
{
    const int dims = item->head_dim;

    for (int k = 0; k < count; k += SCORE_GROUPS * LANES) {
        const float *keys = item->keys + (size_t)(first + k) * (size_t)dims;

        for (int t = 0; t < ATTENTION_QUERIES; t += SCORE_TILE)
            score_tile(state->query + t * dims, keys, dims, state->score + t * ATTENTION_KEYS + k);
    }
}

/* Scores to exponentials against the new maximum; scales what was summed. */
static void exponentials(struct attention_state *state, int t, int count, int dims)
{
    float *score = state->score + t * ATTENTION_KEYS;
    struct lanes largest = lanes_set1(-INFINITY), sum, old;
    float top, shrink[LANES];

    for (int k = count; k < ROUND_UP(count, LANES); k++)
        score[k] = -INFINITY;
    for (int k = 0; k < count; k += LANES)
        largest = lanes_max(largest, lanes_load(score + k));
    top = lanes_largest(largest);
    top = state->top[t] > top ? state->top[t] : top;
    old = lanes_exp(lanes_set1(state->top[t] - top));
    sum = lanes_mul(lanes_load(state->sum + t * LANES), old);
    for (int k = 0; k < count; k += LANES) {
        struct lanes e = lanes_exp(lanes_sub(lanes_load(score + k), lanes_set1(top)));

        if (k + LANES > count) {
            lanes_store(shrink, e);
            e = lanes_load_part(shrink, count - k, 0);
        }
        lanes_store(score + k, e);
        sum = lanes_add(sum, e);
    }
    lanes_store(state->sum + t * LANES, sum);
    if (top != state->top[t])
        for (int d = 0; d < dims; d += LANES) {
            float *out = state->output + t * dims + d;

            lanes_store(out, lanes_mul(lanes_load(out), old));
        }
    state->top[t] = top;
}

/* output[t][d .. d + 32) += weights over the group's keys of VALUE_TILE queries. */
ALWAYS_INLINE void value_tile(const float *weight, const float *v, size_t v_step, int count,
                              float *output, int dims)
{
    struct lanes sum[VALUE_TILE][2];

    UNROLL(8)
    for (int t = 0; t < VALUE_TILE; t++) {
        sum[t][0] = lanes_load(output + t * dims);
        sum[t][1] = lanes_load(output + t * dims + LANES);
    }
    for (int k = 0; k < count; k++) {
        struct lanes a = lanes_load(v + (size_t)k * v_step);
        struct lanes b = lanes_load(v + (size_t)k * v_step + LANES);

        UNROLL(8)
        for (int t = 0; t < VALUE_TILE; t++) {
            struct lanes w = lanes_set1(weight[t * ATTENTION_KEYS + k]);

            sum[t][0] = lanes_fma(w, a, sum[t][0]);
            sum[t][1] = lanes_fma(w, b, sum[t][1]);
        }
    }
    UNROLL(8)
    for (int t = 0; t < VALUE_TILE; t++) {
        lanes_store(output + t * dims, sum[t][0]);
        lanes_store(output + t * dims + LANES, sum[t][1]);
    }
}

static void value_group(const struct attention_item *item, struct attention_state *state, int first,
                        int count)
{
    const int dims = item->head_dim;
    const float *v = item->v + (size_t)first * item->v_step;

    for (int d = 0; d < dims; d += 2 * LANES)
        for (int t = 0; t < ATTENTION_QUERIES; t += VALUE_TILE)
            value_tile(state->score + t * ATTENTION_KEYS, v + d, item->v_step, count,
                       state->output + t * dims + d, dims);
}

static void attention_queries(const struct attention_item *item)
{
    struct attention_state state;
    const int dims = item->head_dim;

    start_state(item, &state);
    for (int first = 0; first < item->key_count; first += ATTENTION_KEYS) {
        int count = MIN(ATTENTION_KEYS, item->key_count - first);

        score_group(item, &state, first, count);
        for (int t = 0; t < ATTENTION_QUERIES; t++)
            exponentials(&state, t, count, dims);
        value_group(item, &state, first, count);
    }
    for (int t = 0; t < item->queries; t++) {
        float sum = lanes_sum(lanes_load(state.sum + t * LANES));

        for (int d = 0; d < dims; d++)
            item->out[(size_t)t * item->out_step + (size_t)d] = state.output[t * dims + d] / sum;
    }
}

static void turn_key_rows(const float *k, size_t k_step, int count, int head_dim, float *out)
{
    const int keys = ROUND_UP(count, ATTENTION_KEY_PAD);

    for (int first = 0; first < keys; first += LANES, out += head_dim * LANES)
        for (int i = 0; i < LANES; i++)
            for (int d = 0; d < head_dim; d++)
                out[d * LANES + i] =
                    first + i < count ? k[(size_t)(first + i) * k_step + (size_t)d] : 0;
}

void ATTENTION_NAME(attention_kernels_, ATTENTION_LEVEL)(struct cpu_kernels *kernels)
{
    kernels->attention = attention_queries;
    kernels->turn_keys = turn_key_rows;
}
