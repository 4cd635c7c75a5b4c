/*
 * test_pick.c: one row of logits to a token and its confidence: filters, ties,
 * noise, refused rows.
 */
#include "filter.h"
#include "jsonl.h"
#include "pick.h"
#include "rng.h"
#include "softmax.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VOCAB = 16 };

static struct dllm_error error;

/* pick_row with scratch of exactly the promised size, so that a sanitizer sees
 * a step beyond it. */
static enum dllm_status try_pick(const float *logits, int vocab, const struct pick_rules *rules,
                                 int32_t position, struct pick *pick)
{
    void *scratch = aligned_alloc(64, pick_scratch_bytes(vocab));
    enum dllm_status status;

    assert_non_null(scratch);
    status = pick_row(logits, vocab, rules, position, scratch, pick, &error);
    free(scratch);
    return status;
}

static struct pick pick_at(const float *logits, int vocab, const struct pick_rules *rules,
                           int32_t position)
{
    struct pick pick;

    assert_int_equal(try_pick(logits, vocab, rules, position, &pick), DLLM_OK);
    return pick;
}

static struct pick_rules llada_rules(void)
{
    return (struct pick_rules){.method = PICK_LLADA, .top_p = 1, .seed = 42};
}

static struct pick_rules dream_rules(void)
{
    return (struct pick_rules){.method = PICK_DREAM, .top_p = 1, .seed = 42};
}

static int read_logits(const json_t *row, float *logits)
{
    const json_t *values = json_object_get(row, "logits");
    int count = (int)json_array_size(values);

    assert_in_range(count, 1, MAX_VOCAB);
    for (int i = 0; i < count; i++)
        logits[i] = (float)json_number_value(json_array_get(values, (size_t)i));
    return count;
}

/* filter_apply against the published code's survivors and probabilities. */
static void check_filter(const json_t *vector)
{
    float logits[MAX_VOCAB] ALIGNED(64);
    double weights[MAX_VOCAB] ALIGNED(64);
    double temperature = jsonl_number(vector, "T", 0), total = 0;
    int vocab = read_logits(vector, logits);
    struct filter_row row = {logits, weights, vocab, logits[0], 1, 0};
    const json_t *keep = json_object_get(vector, "keep"), *probs = json_object_get(vector, "probs");
    char kept[MAX_VOCAB] = {0};
    void *scratch = malloc(filter_scratch_bytes(vocab));

    if (temperature > 0)
        row.scale = 1 / temperature;
    for (int i = 0; i < vocab; i++)
        row.max = fmax(row.max, logits[i]);
    for (int i = 0; i < vocab; i++)
        row.total += weights[i] = exp((logits[i] - row.max) * row.scale);
    filter_apply(&row, jsonl_number(vector, "top_p", 1), (int)jsonl_number(vector, "top_k", 0),
                 scratch);
    free(scratch);
    for (size_t i = 0; i < json_array_size(keep); i++)
        kept[json_integer_value(json_array_get(keep, i))] = 1;
    for (int i = 0; i < vocab; i++) {
        assert_int_equal(weights[i] > 0, kept[i]);
        total += weights[i];
    }
    for (int i = 0; i < vocab; i++)
        assert_true(fabs(weights[i] / total - json_number_value(json_array_get(probs, (size_t)i))) <
                    1e-6);
}

/* pick_row's confidences on the same vectors. */
static void check_confidences(const json_t *vector)
{
    float logits[MAX_VOCAB];
    int vocab = read_logits(vector, logits);
    const json_t *probs = json_object_get(vector, "probs");
    struct pick_rules rules = dream_rules();
    struct pick pick;

    rules.temperature = jsonl_number(vector, "T", 0);
    rules.top_p = jsonl_number(vector, "top_p", 1);
    rules.top_k = (int)jsonl_number(vector, "top_k", 0);
    rules.confidence = PICK_MARGIN;
    pick = pick_at(logits, vocab, &rules, 3);
    assert_true(fabs(pick.confidence - jsonl_number(vector, "margin", NAN)) < 2e-6);
    rules.confidence = PICK_NEG_ENTROPY;
    pick = pick_at(logits, vocab, &rules, 3);
    assert_true(fabs(pick.confidence - jsonl_number(vector, "neg_entropy", NAN)) < 5e-6);
    rules.confidence = PICK_PROBABILITY;
    pick = pick_at(logits, vocab, &rules, 3);
    assert_true(fabs(pick.confidence -
                     json_number_value(json_array_get(probs, (size_t)pick.token))) < 1e-6);
}

/* Would break: the mass before a token against p, ties at a cut, the order of
 * temperature, top-p and top-k, margin and entropy of the filtered row. */
static void test_filter_vectors(void **state)
{
    json_t *vectors = jsonl_load("tests/data/filter_vectors.jsonl");

    (void)state;
    assert_non_null(vectors);
    assert_int_equal(json_array_size(vectors), 34);
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        check_filter(json_array_get(vectors, i));
        check_confidences(json_array_get(vectors, i));
    }
    json_decref(vectors);
}

/* Would break: a mass before a token that equals p and removes it, where that
 * token opens another bucket. The masses are exact: 1, 1/2, 1/4, 1/4 of 2. */
static void test_top_p_at_a_whole_mass(void **state)
{
    const float logits[] = {-1, 0, -2, -3};
    double weights[] = {0.5, 1, 0.25, 0.25};
    const struct filter_row row = {logits, weights, 4, 0, 1, 2};
    void *scratch = malloc(filter_scratch_bytes(4));

    (void)state;
    filter_apply(&row, 0.75, 0, scratch);
    assert_true(weights[2] == 0.25 && weights[3] == 0);
    filter_apply(&row, 0.5, 0, scratch);
    assert_true(weights[0] == 0.5 && weights[2] == 0);
    filter_apply(&row, 0.49, 0, scratch);
    assert_true(weights[0] == 0 && weights[1] == 1);
    free(scratch);
}

struct ranked {
    float logit;
    int id;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->id - y->id;
}

/* Survivors by sorting the whole row: the slow way that buckets stand for. */
static void filter_slowly(const struct filter_row *row, double top_p, int top_k, char *keep)
{
    struct ranked *order = malloc((size_t)row->vocab * sizeof *order);
    double before = 0;

    for (int i = 0; i < row->vocab; i++)
        order[i] = (struct ranked){row->logits[i], i};
    qsort(order, (size_t)row->vocab, sizeof *order, compare_ranked);
    for (int i = 0; i < row->vocab; i++) {
        int id = order[i].id;
        keep[id] = (top_p >= 1 || i == 0 || before <= top_p * row->total) &&
                   (top_k == 0 || top_k > row->vocab || row->logits[id] >= order[top_k - 1].logit);
        before += row->weights[id];
    }
    free(order);
}

static void check_random_filter(uint32_t draw, int vocab, double scale, double spread)
{
    double top_p = rng_uniform(7, draw, 0, 0) * 1.2;
    int top_k = draw % 3 ? 0 : 1 + (int)(rng_uniform(7, draw, 0, 1) * vocab * 1.1);
    float *logits = malloc((size_t)vocab * sizeof *logits);
    double *weights = malloc((size_t)vocab * sizeof *weights);
    char *keep = malloc((size_t)vocab);
    void *scratch = malloc(filter_scratch_bytes(vocab));
    struct filter_row row = {logits, weights, vocab, -INFINITY, scale, 0};
    int survivors;

    for (int i = 0; i < vocab; i++) {
        logits[i] = (float)(floor(rng_uniform(7, draw, 1, (uint32_t)i) * spread) / 8);
        row.max = fmax(row.max, logits[i]);
    }
    for (int i = 0; i < vocab; i++)
        row.total += weights[i] = exp((logits[i] - row.max) * scale);
    filter_slowly(&row, top_p, top_k, keep);
    survivors = filter_apply(&row, top_p, top_k, scratch);
    for (int i = 0; i < vocab; i++) {
        assert_int_equal(weights[i] > 0, keep[i]);
        survivors -= keep[i];
    }
    assert_int_equal(survivors, 0);
    free(logits);
    free(weights);
    free(keep);
    free(scratch);
}

/* Would break: a bucket walked in the wrong order, a heap that loses a token,
 * the last bucket that holds all of the tail. Logits are multiples of 1/8, so
 * that ties are many. */
static void test_filter_equals_sorting(void **state)
{
    (void)state;
    for (uint32_t draw = 0; draw < 300; draw++) {
        check_random_filter(draw, 1 + (int)(draw * 7 % 257), 1.0, 40);
        check_random_filter(draw, 200, 5.0, 120);
        check_random_filter(draw, 64, 1e-3, 400);
    }
}

/* Would break: argmax that takes a later one of equal logits, a runner-up that
 * is the best itself or not the first of equals. */
static void test_ties_go_to_the_lower_id(void **state)
{
    const float logits[] = {1, 5, 2, 5, 5, 2};
    const float single[] = {-INFINITY, 3, -INFINITY};
    struct pick_rules rules = llada_rules();
    struct pick pick;

    (void)state;
    rules.runner_up = true;
    pick = pick_at(logits, 6, &rules, 0);
    assert_int_equal(pick.token, 1);
    assert_int_equal(pick.runner_up, 3);
    assert_true(pick.confidence < 1.0 / 3 && pick.confidence > 0.3);
    rules.method = PICK_DREAM;
    pick = pick_at(logits, 6, &rules, 0);
    assert_int_equal(pick.token, 1);
    pick = pick_at(single, 3, &rules, 0);
    assert_int_equal(pick.token, 1);
    assert_int_equal(pick.runner_up, -1);
    assert_true(pick.confidence == 1.0);
}

/* Would break: a banned id that is chosen, that takes part in the softmax, or
 * whose NaN is looked at; an id outside the vocabulary that writes beside it. */
static void test_banned_ids_do_not_exist(void **state)
{
    const float logits[] = {1, NAN, 2, INFINITY, 9};
    const int32_t banned[] = {1, 3, 4, -1, 5, 1000};
    struct pick_rules rules = llada_rules();
    struct pick pick;

    (void)state;
    rules.runner_up = true;
    rules.banned = banned;
    rules.banned_count = 6;
    for (int method = PICK_LLADA; method <= PICK_DREAM; method++) {
        rules.method = (enum pick_method)method;
        pick = pick_at(logits, 5, &rules, 0);
        assert_int_equal(pick.token, 2);
        assert_int_equal(pick.runner_up, 0);
        assert_true(fabs(pick.confidence - 1 / (1 + exp(-1))) < 1e-15);
    }
}

/* Would break: a runner-up that is the token itself where a draw passed the
 * best over, a probability on another scale than the token's, one that costs a
 * pass when nobody asked. */
static void test_runners_up(void **state)
{
    const float logits[] = {1, 2, 0};
    const double total = exp(-1) + 1 + exp(-2);
    struct pick_rules rules = llada_rules();
    bool passed_over = false;

    (void)state;
    assert_int_equal(pick_at(logits, 3, &rules, 0).runner_up, -1);
    rules.runner_up = true;
    rules.temperature = 1;
    for (int method = PICK_LLADA; method <= PICK_DREAM; method++)
        for (int position = 0; position < 20; position++) {
            struct pick pick;
            rules.method = (enum pick_method)method;
            pick = pick_at(logits, 3, &rules, position);
            assert_int_equal(pick.runner_up, pick.token == 1 ? 0 : 1);
            assert_true(fabs(pick.probability - exp(logits[pick.token] - 2) / total) < 1e-12);
            assert_true(fabs(pick.runner_up_probability - exp(logits[pick.runner_up] - 2) / total) <
                        1e-12);
            passed_over |= pick.token != 1;
        }
    assert_true(passed_over);
}

/* Would break: a runner-up that a filter removed, one that is missing although the
 * filter left it, a second that changes the margin. At a temperature this low the
 * second weighs nothing in a double; it was allowed all the same. */
static void test_runners_up_of_filtered_rows(void **state)
{
    const float logits[] = {1, 2, 0, 2};
    struct pick_rules rules = dream_rules();
    struct pick pick;

    (void)state;
    rules.runner_up = true;
    rules.confidence = PICK_MARGIN;
    rules.top_p = 0;
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.token, 1);
    assert_int_equal(pick.runner_up, -1);
    assert_true(pick.runner_up_probability == 0 && pick.confidence == 1);
    rules.top_p = 0.3; /* the best has more: it stays alone */
    assert_int_equal(pick_at(logits, 4, &rules, 0).runner_up, -1);
    rules.top_p = 0.5;
    assert_int_equal(pick_at(logits, 4, &rules, 0).runner_up, 3);
    rules.top_p = 1;
    rules.top_k = 1; /* ties stay */
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.runner_up, 3);
    assert_true(pick.runner_up_probability == 0.5 && pick.confidence == 0);
    assert_int_equal(pick_at(logits, 3, &rules, 0).runner_up, -1);
    rules.top_k = 2;
    rules.temperature = 1e-4;
    pick = pick_at(logits, 3, &rules, 0);
    assert_int_equal(pick.runner_up, 0);
    assert_true(pick.runner_up_probability == 0);
}

/* Would break: a deferred id that is not in the plain softmax, as token or as
 * runner-up; a confidence that is the plain probability or depends on the runner-up. */
static void test_runners_up_beside_deferred_ids(void **state)
{
    const float logits[] = {1, 2, 0, 1.5f};
    const double total = exp(-1) + 1 + exp(-2) + exp(-0.5);
    const int32_t ends[] = {1, 3}, others[] = {0, 2};
    struct pick_rules rules = llada_rules();
    struct pick pick;

    (void)state;
    rules.runner_up = true;
    rules.deferred = ends;
    rules.deferred_count = 2;
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.token, 1);
    assert_int_equal(pick.runner_up, 3);
    assert_true(fabs(pick.probability - 1 / total) < 1e-12);
    assert_true(fabs(pick.runner_up_probability - exp(-0.5) / total) < 1e-12);
    assert_true(pick.confidence == 0);
    rules.deferred = others;
    for (int runner_up = 0; runner_up < 2; runner_up++) {
        rules.runner_up = runner_up;
        pick = pick_at(logits, 4, &rules, 0);
        assert_true(fabs(pick.confidence - 1 / (1 + exp(-0.5))) < 1e-12);
    }
    assert_true(fabs(pick.probability - 1 / total) < 1e-12);
}

static void assert_refused(const float *logits, int vocab, const struct pick_rules *rules,
                           const char *words)
{
    struct pick pick;

    memset(&error, 0, sizeof error);
    assert_int_equal(try_pick(logits, vocab, rules, 17, &pick), DLLM_ERROR_NUMERIC);
    assert_int_equal(error.status, DLLM_ERROR_NUMERIC);
    assert_non_null(strstr(error.message, "position 17, step 6"));
    assert_non_null(strstr(error.message, words));
}

/* Would break: a run that goes on with a damaged row. +infinity counts as not
 * finite also beside finite logits: its softmax has no meaning. */
static void test_rows_that_are_refused(void **state)
{
    const float with_nan[] = {1, 2, NAN}, with_minus_nan[] = {1, -NAN, 0};
    const float with_infinity[] = {1, INFINITY, 0};
    const float with_nothing[] = {-INFINITY, -INFINITY, 3}, all_infinite[] = {INFINITY, INFINITY};
    const int32_t mask = 2;
    struct pick_rules rules = llada_rules();

    (void)state;
    rules.step = 5;
    for (int method = PICK_LLADA; method <= PICK_DREAM; method++) {
        rules.method = (enum pick_method)method;
        rules.banned_count = 0;
        assert_refused(with_nan, 3, &rules, "NaN");
        assert_refused(with_minus_nan, 3, &rules, "NaN");
        assert_refused(with_infinity, 3, &rules, "+infinity");
        assert_refused(all_infinite, 2, &rules, "+infinity");
        rules.banned = &mask;
        rules.banned_count = 1;
        assert_refused(with_nothing, 3, &rules, "finite logit");
    }
}

/* Would break: a deferred token with a confidence above 0, a deferred id that
 * still takes part in the softmax of the others. */
static void test_deferred_ids(void **state)
{
    const float end_first[] = {0, 1, 7}, end_later[] = {0, 3, 1};
    const int32_t end = 2;
    struct pick_rules rules = llada_rules();
    struct pick pick;

    (void)state;
    rules.deferred = &end;
    rules.deferred_count = 1;
    pick = pick_at(end_first, 3, &rules, 0);
    assert_int_equal(pick.token, 2);
    assert_true(pick.confidence == 0.0);
    pick = pick_at(end_later, 3, &rules, 0);
    assert_int_equal(pick.token, 1);
    assert_true(fabs(pick.confidence - 1 / (1 + exp(-3))) < 1e-15);
}

/* Would break: a gap to a banned id or to one that filters removed, a gap scaled
 * by temperature. */
static void test_gaps(void **state)
{
    const float logits[] = {1, 4, 9, -2}, alone[] = {-INFINITY, 3};
    const int32_t banned = 2;
    struct pick_rules rules[] = {llada_rules(), dream_rules()};

    (void)state;
    for (int i = 0; i < 2; i++) {
        rules[i].temperature = 0.5;
        rules[i].top_k = 1;
        assert_true(pick_at(logits, 4, &rules[i], 0).gap == 0);
        rules[i].gap = true;
        assert_true(pick_at(logits, 4, &rules[i], 0).gap == 5);
        assert_true(isinf(pick_at(alone, 2, &rules[i], 0).gap));
        rules[i].banned = &banned;
        rules[i].banned_count = 1;
        assert_true(pick_at(logits, 4, &rules[i], 0).gap == 3);
    }
}

/* Would break: LLaDA's entropy with noise, temperature or a banned id in it. */
static void test_entropy_of_plain_logits(void **state)
{
    const float logits[] = {0, 1, 2, 9};
    const int32_t banned = 3;
    struct pick_rules rules = llada_rules();
    double total = 1 + exp(1) + exp(2), entropy = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        entropy += exp(i) / total * log(exp(i) / total + 1e-10);
    rules.confidence = PICK_NEG_ENTROPY;
    rules.banned = &banned;
    rules.banned_count = 1;
    for (rules.temperature = 0; rules.temperature < 3; rules.temperature++) {
        struct pick pick = pick_at(logits, 4, &rules, 1);

        assert_true(fabs(pick.confidence - entropy) < 1e-14);
        assert_true(fabs(pick.probability - exp(pick.token) / total) < 1e-14);
    }
}

/* Would break: an entropy that depends on whether probabilities were asked for
 * first, or that lacks the deferred ids. */
static void test_entropy_with_deferred_ids(void **state)
{
    const float logits[] = {0, 1, 2};
    const int32_t end[] = {2, 0};
    const double total = 1 + exp(1) + exp(2);
    struct pick_rules rules = llada_rules();
    double entropy = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        entropy += exp(i) / total * log(exp(i) / total + 1e-10);
    rules.confidence = PICK_NEG_ENTROPY;
    rules.deferred = end;
    for (rules.deferred_count = 0; rules.deferred_count < 3; rules.deferred_count++)
        for (int runner_up = 0; runner_up < 2; runner_up++) {
            struct pick pick;

            rules.runner_up = runner_up;
            pick = pick_at(logits, 3, &rules, 0);
            assert_int_equal(pick.token, 2);
            assert_true(fabs(pick.confidence - entropy) < 1e-14);
            if (runner_up)
                assert_true(fabs(pick.probability - exp(2) / total) < 1e-14);
        }
}

/* Logits far apart: nothing overflows, and 0 log 0 is 0. */
static void test_extreme_logits(void **state)
{
    const float logits[] = {3e38f, -3e38f, -INFINITY, 1}, equal[] = {1, 3e38f, 3e38f};
    struct pick_rules rules = dream_rules();
    struct pick pick;

    (void)state;
    rules.confidence = PICK_NEG_ENTROPY;
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.token, 0);
    assert_true(fabs(pick.confidence) < 1e-9);
    rules.temperature = 1e-300;
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.token, 0);
    rules.method = PICK_LLADA;
    pick = pick_at(logits, 4, &rules, 0);
    assert_int_equal(pick.token, 0);
    assert_true(pick.probability == 1.0);
    assert_true(fabs(pick.confidence) < 1e-9);
    /* Noise far below the last bit of the logits leaves a tie. */
    assert_int_equal(pick_at(equal, 3, &rules, 0).token, 1);
}

/* Chi-square of drawn tokens against softmax(l / T) over n draws. */
static double chi_square(struct pick_rules *rules, const float *logits, int vocab, int n)
{
    double expected[MAX_VOCAB], total = 0, sum = 0;
    int seen[MAX_VOCAB] = {0};

    for (int i = 0; i < vocab; i++)
        total += expected[i] = exp(logits[i] / rules->temperature);
    for (int i = 0; i < n; i++) {
        rules->step = (uint32_t)i / 64;
        seen[pick_at(logits, vocab, rules, i % 64).token]++;
    }
    for (int i = 0; i < vocab; i++) {
        double mean = n * expected[i] / total;
        sum += (seen[i] - mean) * (seen[i] - mean) / mean;
    }
    return sum;
}

/* Would break: a wrong sign or power in the noise, one number used for several
 * ids, a cumulative draw that is off by one. With 5 degrees of freedom 20.5 is
 * passed once in a thousand; the seed is fixed. */
static void test_draws_follow_the_softmax(void **state)
{
    const float logits[] = {0.5f, -1, 1.25f, 0, 2, 0.75f};
    const double temperatures[] = {0.7, 1.0, 2.5};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pick_rules rules = llada_rules();
        rules.temperature = temperatures[i];
        assert_true(chi_square(&rules, logits, 6, 20000) < 20.5);
        rules.method = PICK_DREAM;
        assert_true(chi_square(&rules, logits, 6, 20000) < 20.5);
    }
}

/* Would break: noise that changes what the confidence is taken from, a choice
 * that leaves out an id that could have won. The slow way draws for every id. */
static void test_noise_is_the_published_formula(void **state)
{
    enum { VOCAB = 600 };
    float logits[VOCAB];
    struct pick_rules rules = llada_rules();

    (void)state;
    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)(20 * rng_uniform(3, 0, 0, (uint32_t)i));
    for (int32_t position = 0; position < 200; position++) {
        double best = -INFINITY, total = 0;
        int32_t token = -1;
        struct pick pick;
        rules.temperature = 0.05 + 0.02 * position;
        rules.step = (uint32_t)position % 7;
        for (int i = 0; i < VOCAB; i++) {
            double u = rng_uniform(rules.seed, rules.step, (uint32_t)position, (uint32_t)i);
            double noisy = logits[i] - rules.temperature * log(-log(u));
            total += exp(logits[i]);
            if (noisy > best) {
                best = noisy;
                token = i;
            }
        }
        pick = pick_at(logits, VOCAB, &rules, position);
        assert_int_equal(pick.token, token);
        assert_true(fabs(pick.confidence - exp(logits[token]) / total) < 1e-14);
    }
}

/* Would break: a draw that depends on anything but seed, step and position. */
static void test_draws_are_a_function_of_the_counter(void **state)
{
    const float logits[] = {0, 0, 0, 0, 0, 0, 0, 0};
    struct pick_rules rules = dream_rules();
    int changed[3] = {0};

    (void)state;
    rules.temperature = 1;
    rules.confidence = PICK_UNIFORM;
    for (int32_t position = 0; position < 64; position++) {
        struct pick_rules other = rules;
        struct pick first = pick_at(logits, 8, &rules, position);
        struct pick again = pick_at(logits, 8, &rules, position);
        assert_memory_equal(&first, &again, sizeof first);
        assert_true(first.confidence ==
                    rng_uniform(rules.seed, 0, (uint32_t)position, PICK_DRAW_REMASK));
        other.seed++;
        changed[0] += pick_at(logits, 8, &other, position).token != first.token;
        other = rules;
        other.step++;
        changed[1] += pick_at(logits, 8, &other, position).token != first.token;
        changed[2] += pick_at(logits, 8, &rules, position + 64).token != first.token;
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(changed[i], 40, 64);
}

/* Would break: the polynomial, the range reduction, the smallest results. */
static void test_exponential(void **state)
{
    (void)state;
    for (int i = 0; i <= 200000; i++) {
        double x = -708.0 * i / 200000;
        assert_true(fabs(softmax_exp(x) - exp(x)) <= 1e-15 * exp(x));
    }
    assert_true(softmax_exp(0) == 1.0);
    assert_true(softmax_exp(-INFINITY) == 0.0);
    assert_true(softmax_exp(-1e300) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_vectors),
        cmocka_unit_test(test_top_p_at_a_whole_mass),
        cmocka_unit_test(test_filter_equals_sorting),
        cmocka_unit_test(test_ties_go_to_the_lower_id),
        cmocka_unit_test(test_banned_ids_do_not_exist),
        cmocka_unit_test(test_runners_up),
        cmocka_unit_test(test_runners_up_of_filtered_rows),
        cmocka_unit_test(test_runners_up_beside_deferred_ids),
        cmocka_unit_test(test_rows_that_are_refused),
        cmocka_unit_test(test_deferred_ids),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_entropy_of_plain_logits),
        cmocka_unit_test(test_entropy_with_deferred_ids),
        cmocka_unit_test(test_extreme_logits),
        cmocka_unit_test(test_draws_follow_the_softmax),
        cmocka_unit_test(test_noise_is_the_published_formula),
        cmocka_unit_test(test_draws_are_a_function_of_the_counter),
        cmocka_unit_test(test_exponential),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
