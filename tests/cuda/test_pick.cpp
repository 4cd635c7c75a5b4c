/*
 * test_pick.cpp: picks and cross entropies on the card against pick_row and
 * cross_entropy_row on the same logits. What would break: another id, a tie by
 * chance, noise of another counter, a confidence of the wrong softmax or one that
 * f32 rounds to 1, a bad row that goes unnoticed.
 */
#include "cpu_side.h"
#include "cuda_pick.h"
#include "device_test.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

using namespace device_test;
typedef std::vector<float> Floats;
typedef std::vector<int32_t> Ids;

/* ---- Rows ---- */

enum Kind { FLAT, PEAKED, FEW_LEVELS, HOLES };

static float random_logit(Kind kind)
{
    switch (kind) {
    case PEAKED:
        return float(random_bits() % 200 ? 3 * random_signed() : 24 + random_signed());
    case FEW_LEVELS:
        return float(int(random_bits() % 4)) - 2;
    case HOLES:
        return random_bits() % 3 ? -INFINITY : float(5 * random_signed());
    default:
        return float(8 * random_signed());
    }
}

static Floats random_rows(int count, int vocab, Kind kind)
{
    Floats logits(size_t(count * vocab));
    for (float &logit : logits)
        logit = random_logit(kind);
    for (int row = 0; row < count; row++) /* something must be finite */
        logits[size_t(row * vocab + int(random_bits() % unsigned(vocab)))] = 1;
    return logits;
}

static Ids random_ids(int count, int vocab)
{
    Ids ids;
    for (int i = 0; i < count; i++)
        ids.push_back(int32_t(random_bits() % unsigned(vocab)));
    return ids;
}

/* ---- One pick on both sides ---- */

/* Bits of the ids on the card, in exactly the words that a vocabulary needs. */
struct IdSet {
    IdSet(const Ids &ids, int vocab) : bits(words(ids, vocab))
    {
    }
    static std::vector<uint32_t> words(const Ids &ids, int vocab)
    {
        std::vector<uint32_t> result(size_t(vocab + 31) / 32);
        for (const int32_t id : ids)
            result[size_t(id / 32)] |= 1u << id % 32;
        return result;
    }
    DeviceArray<uint32_t> bits;
};

struct Case {
    pick_rules rules;
    Ids banned, deferred;
};

static Case llada(pick_confidence confidence, double temperature)
{
    Case c = {};
    c.rules.method = PICK_LLADA;
    c.rules.confidence = confidence;
    c.rules.temperature = temperature;
    c.rules.top_p = 1;
    c.rules.seed = 0x123456789abcdefULL;
    c.rules.step = 7;
    return c;
}

static Case dream(pick_confidence confidence, double temperature)
{
    Case c = llada(confidence, temperature);
    c.rules.method = PICK_DREAM;
    return c;
}

static std::vector<cuda_pick> pick_on_card(const Case &c, const Floats &logits, int vocab,
                                           const Ids &positions)
{
    const IdSet banned(c.banned, vocab), deferred(c.deferred, vocab);
    DeviceArray<float> card(logits);
    DeviceArray<int32_t> card_positions(positions);
    DeviceArray<cuda_pick> picks(positions.size());
    cuda_pick_rules rules = {};

    rules.method = c.rules.method;
    rules.confidence = c.rules.confidence;
    rules.temperature = c.rules.temperature;
    rules.top_p = c.rules.top_p;
    rules.top_k = c.rules.top_k;
    rules.banned = c.banned.empty() ? nullptr : banned.bits.data;
    rules.deferred = c.deferred.empty() ? nullptr : deferred.bits.data;
    rules.runner_up = c.rules.runner_up;
    rules.gap = c.rules.gap;
    rules.seed = c.rules.seed;
    rules.step = c.rules.step;
    succeed(cuda_pick_rows(card.data, int(positions.size()), vocab, &rules, card_positions.data,
                           picks.data, nullptr),
            "cuda_pick_rows");
    return picks.get();
}

static dllm_status pick_on_cpu(const Case &c, const float *logits, int vocab, int32_t position,
                               pick *out)
{
    const std::unique_ptr<void, void (*)(void *)> scratch(
        aligned_alloc(64, pick_scratch_bytes(vocab)), free);
    pick_rules rules = c.rules;
    Ids banned = c.banned, deferred = c.deferred;

    for (Ids *ids : {&banned, &deferred}) { /* passed over, and not in the card's bits */
        ids->push_back(-1);
        ids->push_back(vocab);
    }
    rules.banned = banned.data();
    rules.banned_count = c.banned.empty() ? 0 : int(banned.size());
    rules.deferred = deferred.data();
    rules.deferred_count = c.deferred.empty() ? 0 : int(deferred.size());
    return pick_row(logits, vocab, &rules, position, scratch.get(), out, nullptr);
}

/* ---- Comparison ---- */

/* Within 1e-5, and probabilities near 1 and entropies near 0 by what they lack; the CPU's own sum
 * may be off by 2^-53 for each of the at most 2,309 ids. */
static bool agree(double got, double want)
{
    if (!(std::fabs(got - want) <= 1e-5 * std::fmax(1.0, std::fabs(want))))
        return false;
    if (want > 0.5 && want <= 1)
        return std::fabs(got - want) <= 1e-5 * (1 - want) + 3e-13;
    return !(want > -0.5 && want < 0) || std::fabs(got - want) <= 1e-5 * std::fabs(want) + 3e-12;
}

static void expect_pick(const Case &c, const cuda_pick &got, const pick &want, const char *where)
{
    expect(got.state == CUDA_ROW_GOOD, "%s: state %d", where, got.state);
    expect(got.token == want.token, "%s: id %d, not %d", where, got.token, want.token);
    expect(agree(got.probability, want.probability), "%s: probability %.17g, not %.17g", where,
           got.probability, want.probability);
    if (c.rules.confidence == PICK_UNIFORM)
        expect(got.confidence == want.confidence, "%s: random confidence %.17g, not %.17g", where,
               got.confidence, want.confidence);
    expect(agree(got.confidence, want.confidence), "%s: confidence %.17g, not %.17g", where,
           got.confidence, want.confidence);
    if (c.rules.runner_up) {
        expect(got.runner_up == want.runner_up, "%s: runner-up %d, not %d", where, got.runner_up,
               want.runner_up);
        expect(agree(got.runner_up_probability, want.runner_up_probability),
               "%s: runner-up's probability %.17g, not %.17g", where, got.runner_up_probability,
               want.runner_up_probability);
    }
    if (c.rules.gap)
        expect(got.gap == want.gap, "%s: gap %.17g, not %.17g", where, got.gap, want.gap);
}

static void check(const Case &c, const Floats &logits, int vocab)
{
    Ids positions;
    for (size_t row = 0; row < logits.size() / size_t(vocab); row++)
        positions.push_back(int32_t(random_bits() % 4096));
    const std::vector<cuda_pick> got = pick_on_card(c, logits, vocab, positions);
    for (size_t row = 0; row < positions.size(); row++) {
        char where[160];
        pick want = {};
        snprintf(where, sizeof where, "row %zu of %d, method %d, confidence %d, temperature %g",
                 row, vocab, int(c.rules.method), int(c.rules.confidence), c.rules.temperature);
        const dllm_status status =
            pick_on_cpu(c, &logits[row * size_t(vocab)], vocab, positions[row], &want);
        expect(status == DLLM_OK, "%s: refused by the CPU", where);
        expect_pick(c, got[row], want, where);
    }
}

static const int vocabularies[] = {1, 33, 511, 512, 1000, 2309};

/* Every kind of row, with and without the further results. */
static void check_everywhere(Case c, int rows)
{
    for (const int vocab : vocabularies)
        for (const Kind kind : {FLAT, PEAKED, FEW_LEVELS, HOLES}) {
            c.rules.runner_up = vocab % 2 && kind != FLAT;
            c.rules.gap = vocab % 2 == 0 || kind == FEW_LEVELS;
            check(c, random_rows(rows, vocab, kind), vocab);
        }
}

DEVICE_TEST(llada_without_temperature)
{
    check_everywhere(llada(PICK_PROBABILITY, 0), 1);
    check_everywhere(llada(PICK_NEG_ENTROPY, 0), 1);
    check_everywhere(llada(PICK_UNIFORM, 0), 1);
}

DEVICE_TEST(llada_with_noise)
{
    for (const double temperature : {1e-30, 0.7, 20.0})
        check_everywhere(llada(PICK_PROBABILITY, temperature), 2);
}

DEVICE_TEST(dream_without_temperature)
{
    for (const pick_confidence confidence :
         {PICK_PROBABILITY, PICK_MARGIN, PICK_NEG_ENTROPY, PICK_UNIFORM})
        check_everywhere(dream(confidence, 0), 1);
}

DEVICE_TEST(dream_draws)
{
    for (const double temperature : {1e-320, 0.2, 1.0, 8.0})
        check_everywhere(dream(PICK_PROBABILITY, temperature), 2);
    check_everywhere(dream(PICK_MARGIN, 0.4), 1);
    check_everywhere(dream(PICK_NEG_ENTROPY, 0.4), 1);
}

/* Enough draws to fall into every segment of a row, at its ends too. */
DEVICE_TEST(draws_over_a_flat_row)
{
    const int vocab = 1100, rows = 60;
    check(dream(PICK_PROBABILITY, 1), Floats(size_t(rows * vocab), 0.25f), vocab);
    check(llada(PICK_PROBABILITY, 1), Floats(size_t(rows * vocab), 0.25f), vocab);
}

/* The id under which a draw falls when weights are laid end to end; sums are those of a head. */
static size_t drawn_id(const std::vector<double> &sums, double u)
{
    return size_t(std::upper_bound(sums.begin(), sums.end(), u * sums.back()) - sums.begin());
}

/* A position whose draw lies so near the border of two ids that weights in f32
 * would choose the other one. */
DEVICE_TEST(draws_take_weights_in_doubles)
{
    const int vocab = 2309;
    const Floats logits = random_rows(1, vocab, FLAT);
    const float max = *std::max_element(logits.begin(), logits.end());
    const Case c = dream(PICK_PROBABILITY, 1);
    std::vector<double> strict, rough;
    double strict_sum = 0, rough_sum = 0;
    for (const float logit : logits) {
        strict.push_back(strict_sum += softmax_exp(double(logit) - double(max)));
        rough.push_back(rough_sum += double(expf(logit - max)));
    }
    for (int32_t position = 0; position < 10000000; position++) {
        const double u =
            rng_uniform(c.rules.seed, c.rules.step, uint32_t(position), PICK_DRAW_TOKEN);
        if (drawn_id(strict, u) == drawn_id(rough, u))
            continue;
        const int32_t token = pick_on_card(c, logits, vocab, {position})[0].token;
        expect(token == int32_t(drawn_id(strict, u)), "position %d: id %d, not %zu", position,
               token, drawn_id(strict, u));
        return;
    }
    expect(false, "no draw near a border was found");
}

static Case filtered(double top_p, int top_k, pick_confidence confidence, double temperature)
{
    Case c = dream(confidence, temperature);
    c.rules.top_p = top_p;
    c.rules.top_k = top_k;
    c.rules.runner_up = true;
    return c;
}

/* The entropy of what survived tells one survivor more or less. */
DEVICE_TEST(top_p)
{
    for (const int vocab : {1, 40, 512, 1000, 2309})
        for (const Kind kind : {FLAT, PEAKED, HOLES})
            for (const double top_p : {-1.0, 0.0, 0.3, 0.95, 0.9999999})
                check(filtered(top_p, 0, PICK_NEG_ENTROPY, 0.7), random_rows(1, vocab, kind),
                      vocab);
}

DEVICE_TEST(top_k)
{
    for (const int vocab : {1, 40, 1000})
        for (const Kind kind : {FLAT, FEW_LEVELS, HOLES})
            for (const int top_k : {1, 2, 30, 500, 5000})
                check(filtered(1, top_k, PICK_NEG_ENTROPY, 0.7), random_rows(1, vocab, kind),
                      vocab);
}

/* A cut among equal logits: top_p keeps the lowest ids of them, top_k all. */
DEVICE_TEST(filters_cut_ties)
{
    for (const int vocab : {33, 700, 2309})
        for (const double top_p : {0.1, 0.5, 0.77, 0.9, 0.99})
            for (const double temperature : {0.0, 0.2, 1.0, 3.0})
                check(filtered(top_p, temperature > 0.5 ? vocab / 3 : 0, PICK_NEG_ENTROPY,
                               temperature),
                      random_rows(1, vocab, FEW_LEVELS), vocab);
    for (const double top_p : {0.25, 0.5, 0.75}) /* masses that are exact: the limit is met */
        check(filtered(top_p, 0, PICK_NEG_ENTROPY, 1), Floats(700, -3), 700);
}

/* Both sides could be wrong together: what was removed is no runner-up, what is left is one, even
 * where it weighs nothing. */
DEVICE_TEST(runners_up_of_filtered_rows)
{
    Floats logits(700, -2);
    logits[600] = 3;
    logits[20] = 2;
    for (const double temperature : {0.0, 1e-4}) {
        const auto runner_up = [&](double top_p, int top_k) {
            const Case c = filtered(top_p, top_k, PICK_MARGIN, temperature);
            check(c, logits, 700);
            return pick_on_card(c, logits, 700, {0})[0].runner_up;
        };
        expect(runner_up(0, 0) == -1, "top_p 0 left a runner-up");
        expect(runner_up(1, 1) == -1, "top_k 1 left a runner-up");
        expect(runner_up(1, 2) == 20, "top_k 2 left no runner-up");
    }
}

DEVICE_TEST(draws_of_what_filters_left)
{
    for (const double temperature : {0.0, 0.2, 1.0})
        for (const pick_confidence confidence : {PICK_PROBABILITY, PICK_MARGIN, PICK_UNIFORM})
            check(filtered(0.9, 50, confidence, temperature), random_rows(4, 1000, FLAT), 1000);
    Case c = filtered(0.95, 0, PICK_PROBABILITY, 0.5);
    c.banned = {0, 17, 999};
    check(c, random_rows(3, 1000, PEAKED), 1000);
}

DEVICE_TEST(banned_and_deferred_ids)
{
    for (const int vocab : {40, 513, 2309})
        for (const Kind kind : {FLAT, PEAKED, FEW_LEVELS}) {
            for (const double temperature : {0.0, 0.8}) {
                Floats logits = random_rows(3, vocab, kind);
                Case c = llada(PICK_PROBABILITY, temperature);
                c.rules.runner_up = kind != FLAT;
                c.banned = random_ids(5, vocab);
                for (int row = 0; row < 3; row++) /* whatever they hold */
                    logits[size_t(row * vocab + c.banned[0])] = row ? NAN : INFINITY;
                check(c, logits, vocab);
                c.deferred = random_ids(vocab / 3, vocab);
                check(c, logits, vocab);
                c.rules.method = PICK_DREAM;
                c.rules.confidence = PICK_MARGIN;
                check(c, logits, vocab);
            }
        }
}

/* Deferred ids are in the softmax that is told, not in that of the confidence. */
DEVICE_TEST(probabilities_beside_deferred_ids)
{
    Case c = llada(PICK_PROBABILITY, 0);
    c.rules.runner_up = true;
    c.deferred = {0, 1};
    const cuda_pick pick = pick_on_card(c, {4, 5, 3}, 3, {0})[0];
    expect(pick.token == 1 && pick.runner_up == 0, "ids %d and %d", pick.token, pick.runner_up);
    expect(std::fabs(pick.probability - 0.66524096) < 1e-7, "probability %.9g", pick.probability);
    expect(std::fabs(pick.runner_up_probability - 0.24472847) < 1e-7,
           "runner-up's probability %.9g", pick.runner_up_probability);
    expect(pick.confidence == 0, "confidence %.9g", pick.confidence);
}

/* The best id is deferred and far above the rest, or all that is allowed is. */
DEVICE_TEST(a_deferred_id_far_above)
{
    Floats logits = random_rows(1, 700, FLAT);
    Case c = llada(PICK_PROBABILITY, 0);
    logits[333] = 900;
    c.rules.runner_up = true;
    c.deferred = {333};
    check(c, logits, 700);
    c.rules.runner_up = false;
    check(c, logits, 700);
    c = llada(PICK_PROBABILITY, 0);
    c.deferred = {0, 1};
    c.rules.runner_up = true;
    check(c, {3, 4}, 2);
}

/* 1 - p down to 1e-10: a sum in f32 would call all of them 1. */
DEVICE_TEST(confidences_close_to_one_stay_apart)
{
    for (const float ahead : {12.0f, 20.0f, 28.0f}) {
        Floats logits(900, -1.5f);
        logits[600] = ahead;
        for (const pick_confidence confidence : {PICK_PROBABILITY, PICK_NEG_ENTROPY}) {
            check(llada(confidence, 0), logits, 900);
            check(dream(confidence, 0.5), logits, 900);
        }
    }
    Floats close(900, -1.5f), closer(close);
    close[7] = 26;
    closer[7] = 27;
    const Case c = llada(PICK_PROBABILITY, 0);
    expect(pick_on_card(c, close, 900, {0})[0].confidence <
               pick_on_card(c, closer, 900, {0})[0].confidence,
           "two confidences became one");
}

static int state_of(const Floats &logits, const Ids &banned)
{
    Case c = llada(PICK_PROBABILITY, 0.5);
    c.banned = banned;
    const int state = pick_on_card(c, logits, int(logits.size()), {3})[0].state;
    pick want;
    const bool good = pick_on_cpu(c, logits.data(), int(logits.size()), 3, &want) == DLLM_OK;
    expect(good == (state == CUDA_ROW_GOOD), "state %d where the CPU says %s", state,
           good ? "good" : "bad");
    return state;
}

DEVICE_TEST(a_single_finite_logit)
{
    Floats logits(600, -INFINITY);
    logits[599] = -3;
    for (const pick_method method : {PICK_LLADA, PICK_DREAM}) {
        Case c = filtered(1, 0, PICK_PROBABILITY, 0.5);
        c.rules.method = method;
        c.rules.gap = true;
        check(c, logits, 600);
        c.rules.top_k = 2;
        check(c, logits, 600);
    }
}

DEVICE_TEST(bad_rows_are_named)
{
    Floats logits = random_rows(1, 777, FLAT);
    logits[776] = NAN;
    expect(state_of(logits, {}) == CUDA_ROW_NOT_A_NUMBER, "a NaN passed");
    expect(state_of(logits, {776}) == CUDA_ROW_GOOD, "a banned NaN did not pass");
    logits[776] = INFINITY;
    expect(state_of(logits, {}) == CUDA_ROW_NOT_A_NUMBER, "+infinity passed");
    expect(state_of(Floats(777, -INFINITY), {}) == CUDA_ROW_EMPTY, "a row of -infinity passed");
    expect(state_of({1, 2}, {0, 1}) == CUDA_ROW_EMPTY, "a banned row passed");
    expect(state_of({NAN}, {}) == CUDA_ROW_NOT_A_NUMBER, "NaN alone passed");
    expect(state_of({1}, {}) == CUDA_ROW_GOOD, "a single id did not pass");
}

/* A row's result must not depend on the rows beside it. */
DEVICE_TEST(a_row_alone_gets_the_same_pick)
{
    const int vocab = 1000;
    const Floats logits = random_rows(4, vocab, FLAT);
    const Case c = dream(PICK_NEG_ENTROPY, 0.9);
    const std::vector<cuda_pick> all = pick_on_card(c, logits, vocab, {5, 6, 7, 8});
    for (int row = 0; row < 4; row++) {
        const Floats one(logits.begin() + row * vocab, logits.begin() + (row + 1) * vocab);
        const cuda_pick alone = pick_on_card(c, one, vocab, {5 + row})[0];
        expect(alone.token == all[size_t(row)].token &&
                   alone.confidence == all[size_t(row)].confidence &&
                   alone.probability == all[size_t(row)].probability,
               "row %d alone differs", row);
    }
}

DEVICE_TEST(picking_refuses)
{
    cuda_pick_rules rules = {};
    DeviceArray<float> logits(4);
    DeviceArray<int32_t> positions(1);
    DeviceArray<cuda_pick> picks(1);
    rules.top_p = 1;
    expect(cuda_pick_rows(logits.data, 1, PICK_DRAW_TOKEN, &rules, positions.data, picks.data,
                          nullptr) == cudaErrorInvalidValue,
           "a vocabulary that reaches into the draws passed");
    expect(cuda_pick_rows(logits.data, -1, 4, &rules, positions.data, picks.data, nullptr) ==
               cudaErrorInvalidValue,
           "-1 rows passed");
    succeed(cuda_pick_rows(logits.data, 0, 4, &rules, positions.data, picks.data, nullptr),
            "no rows");
}

/* ---- Cross entropy ---- */

static std::vector<double> cross_entropies(const Floats &logits, int vocab, const Ids &targets)
{
    DeviceArray<float> card(logits);
    DeviceArray<int32_t> card_targets(targets);
    DeviceArray<double> losses(targets.size());
    succeed(cuda_cross_entropy_rows(card.data, int(targets.size()), vocab, card_targets.data,
                                    losses.data, nullptr),
            "cuda_cross_entropy_rows");
    return losses.get();
}

static void check_cross_entropy(const Floats &logits, int vocab)
{
    const int rows = int(logits.size()) / vocab;
    const Ids targets = random_ids(rows, vocab);
    const std::vector<double> losses = cross_entropies(logits, vocab, targets);
    for (int row = 0; row < rows; row++) {
        const std::unique_ptr<void, void (*)(void *)> scratch(
            aligned_alloc(64, cross_entropy_scratch_bytes(vocab)), free);
        const double want = cross_entropy_row(&logits[size_t(row * vocab)], vocab,
                                              targets[size_t(row)], scratch.get());
        const double got = losses[size_t(row)];
        expect(std::isfinite(want) ? std::fabs(got - want) <= 1e-5 : !std::isfinite(got),
               "row %d of %d: %.9g, not %.9g", row, vocab, got, want);
    }
}

DEVICE_TEST(cross_entropies_of_rows)
{
    for (const int vocab : vocabularies)
        for (const Kind kind : {FLAT, PEAKED, HOLES})
            check_cross_entropy(random_rows(3, vocab, kind), vocab);
    Floats bad = random_rows(3, 600, FLAT);
    bad[599] = NAN;
    bad[600] = INFINITY;
    check_cross_entropy(bad, 600);
    check_cross_entropy(Floats(600, -INFINITY), 600);
}
