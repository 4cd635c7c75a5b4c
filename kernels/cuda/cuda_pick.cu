/*
 * cuda_pick.cu: a token and its confidence from each row of logits; a block a
 * row. Follows src/backend/pick.c function by function; what is summed there in
 * order of the ids is summed here by segments of the row. Sums are doubles, so
 * that confidences close to 1 stay apart; the terms are f32 except where a draw
 * needs the CPU's very weights.
 */
#include "logit_filter.cuh"
#include "logit_row.cuh"
#include "strict_exp.cuh"
#include "uniform.cuh"

/* As in pick.h. */
enum { LLADA, DREAM };
enum { PROBABILITY, MARGIN, NEG_ENTROPY, UNIFORM };
constexpr uint32_t DRAW_TOKEN = 0x7fffff00u, DRAW_REMASK = DRAW_TOKEN + 1;

struct pick_launch {
    const float *logits;
    int vocab;
    cuda_pick_rules rules;
    const int32_t *positions;
    cuda_pick *picks;
};

/* A row at work. */
struct pick_row {
    logit_row row;
    row_summary summary;
    const cuda_pick_rules *rules;
    uint32_t position;
};

static __device__ __forceinline__ double draw_uniform(const pick_row &r, uint32_t draw)
{
    return uniform(r.rules->seed, r.rules->step, r.position, draw);
}

/* ---- Sums over p = weight / total ---- */

/* p ln(p + 1e-10). Large terms in doubles: they nearly cancel when one p is close to 1. */
static __device__ __forceinline__ double entropy_term(double p)
{
    return p * (p > 0x1p-10 ? log(p + 1e-10) : (double)logf((float)p + 1e-10f));
}

template <class Weight>
static __device__ double negative_entropy(row_smem &s, const logit_row &row, double total,
                                          Weight weight)
{
    const double scale = 1.0 / total;
    double sum = 0;

    for_own_ids(row, [&](int id, float logit) {
        const double w = weight(id, logit);

        if (w > 0)
            sum += entropy_term(w * scale);
    });
    return segment_sums(s, sum);
}

/* ---- LLaDA ---- */

static __device__ __forceinline__ double gumbel(double logit, double temperature, double u)
{
    return logit - temperature * log(-log(u));
}

/* At least -ln(-ln u), without logarithms; see pick.c. */
static __device__ __forceinline__ double gumbel_bound(double u)
{
    const int exponent = (int)((unsigned long long)__double_as_longlong(1.0 - u) >> 52);

    return (1023.0 - (double)exponent) * 0.693147180559946 + 1e-9;
}

struct candidate {
    double value;
    int id;
};

static __device__ __forceinline__ candidate better(candidate a, candidate b)
{
    return a.value > b.value || (a.value == b.value && a.id < b.id) ? a : b;
}

static __device__ candidate block_best(row_smem &s, candidate own)
{
    UNROLL
    for (int bits = 16; bits; bits /= 2)
        own = better(own, {__shfl_xor_sync(ALL_LANES, own.value, bits),
                           __shfl_xor_sync(ALL_LANES, own.id, bits)});
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        s.value[threadIdx.x / 32] = own.value;
        s.id[threadIdx.x / 32] = own.id;
    }
    __syncthreads();
    for (int w = 0; w < ROW_WARPS; w++)
        own = better(own, {s.value[w], s.id[w]});
    return own;
}

/* Argmax of l - T ln(-ln u). The noisy value of the best logit is a bar from the
 * start: what cannot reach it with its luckiest number draws none. */
static __device__ int llada_choose(row_smem &s, const pick_row &r)
{
    const double temperature = r.rules->temperature, reach = temperature * 38.0;
    const int best = r.summary.best;
    double bar = gumbel((double)r.summary.max, temperature, draw_uniform(r, (uint32_t)best));
    candidate own = {-INFINITY, best};

    for_own_ids(r.row, [&](int id, float logit) {
        if ((double)logit + reach < bar)
            return;
        const double u = draw_uniform(r, (uint32_t)id);
        if ((double)logit + temperature * gumbel_bound(u) < bar)
            return;
        const double noisy = gumbel((double)logit, temperature, u);
        if (noisy > own.value) {
            own = {noisy, id};
            bar = fmax(bar, noisy);
        }
    });
    return block_best(s, own).id;
}

/* Weights e^(logit - max), 0 of the ids left out. */
static __device__ double llada_sum(row_smem &s, const logit_row &row, float max, cuda_id_set out)
{
    return sum_weights(s, row, [&](int id, float logit) {
        return contains(out, id) ? 0 : (double)expf(logit - max);
    });
}

static __device__ double llada_weight(const pick_row &r, int id, float max)
{
    return strict_exp((double)allowed_logit(r.row, id) - (double)max);
}

/* Among all that is allowed, without noise and temperature. */
static __device__ void llada_probabilities(row_smem &s, const pick_row &r, cuda_pick &out)
{
    const float max = r.summary.max;
    const double sum = llada_sum(s, r.row, max, nullptr);

    out.probability = llada_weight(r, out.token, max) / sum;
    if (out.runner_up >= 0)
        out.runner_up_probability = llada_weight(r, out.runner_up, max) / sum;
}

/* The token's probability among all but the deferred ids; those have 0. */
static __device__ double llada_undeferred(row_smem &s, const pick_row &r, int token)
{
    const float max = r.summary.max_kept;

    if (contains(r.row.deferred, token))
        return 0;
    return llada_weight(r, token, max) / llada_sum(s, r.row, max, r.row.deferred);
}

/* Of all that is allowed, without noise and temperature. */
static __device__ double llada_entropy(row_smem &s, const pick_row &r)
{
    const auto weight = [&](int, float logit) { return (double)expf(logit - r.summary.max); };

    return negative_entropy(s, r.row, sum_weights(s, r.row, weight), weight);
}

/* The likeliest besides the token: the best if a draw passed it over. */
static __device__ int runner_up(const pick_row &r, int token)
{
    return token == r.summary.best ? r.summary.second : r.summary.best;
}

static __device__ void llada_pick(row_smem &s, const pick_row &r, cuda_pick &out)
{
    out.token = r.rules->temperature > 0 ? llada_choose(s, r) : r.summary.best;
    out.runner_up = runner_up(r, out.token);
    if (r.rules->runner_up || !r.row.deferred)
        llada_probabilities(s, r, out);
    if (r.rules->confidence == NEG_ENTROPY)
        out.confidence = llada_entropy(s, r);
    else
        out.confidence = r.row.deferred ? llada_undeferred(s, r, out.token) : out.probability;
}

/* ---- Dream ---- */

/* Below this the weight is so small a part of the sum that f32 does. */
constexpr double STRICT_FROM = -16;

/* e^((logit - max) * scale) as the CPU has it. */
static __device__ __forceinline__ double dream_weight(float logit, float max, double scale)
{
    const double x = ((double)logit - (double)max) * scale;

    return x > STRICT_FROM ? strict_exp(x) : (double)expf((float)x);
}

static __device__ void dream_pick(row_smem &s, filter_smem &f, pick_row &r, cuda_pick &out)
{
    const double temperature = r.rules->temperature;
    /* The reciprocal of a denormal number would overflow. */
    const double scale = temperature > 0 ? 1.0 / fmax(temperature, 0x1p-1022) : 1.0;
    rank_key floor = NO_RANK; /* what ranks lower weighs nothing */
    const auto weight = [&](int id, float logit) {
        return rank_of(logit, id) >= floor ? dream_weight(logit, r.summary.max, scale) : 0;
    };
    const auto weight_of = [&](int id) { return weight(id, allowed_logit(r.row, id)); };
    double total = sum_weights(s, r.row, weight), second;

    if (r.rules->top_p < 1 || r.rules->top_k > 0) {
        floor = lowest_survivor(f, s, r.row, r.rules->top_p, r.rules->top_k, total, weight);
        total = sum_weights(s, r.row, weight);
        if (rank_of(r.summary.max_second, r.summary.second) < floor)
            r.summary.second = -1;
    }
    out.token = temperature > 0 ? find_in_row(s, r.row, draw_uniform(r, DRAW_TOKEN) * total, weight)
                                : r.summary.best;
    out.runner_up = runner_up(r, out.token);
    out.probability = weight_of(out.token) / total;
    if (out.runner_up >= 0)
        out.runner_up_probability = weight_of(out.runner_up) / total;
    out.confidence = out.probability;
    if (r.rules->confidence == MARGIN) {
        second = r.summary.second < 0 ? 0 : weight_of(r.summary.second);
        out.confidence = (weight_of(r.summary.best) - second) / total;
    } else if (r.rules->confidence == NEG_ENTROPY) {
        out.confidence = negative_entropy(s, r.row, total, weight);
    }
}

/* ---- Kernel and launcher ---- */

/* One block a multiprocessor will do: rather registers than spills. */
static __global__ void __launch_bounds__(ROW_THREADS, 1) pick_rows(pick_launch job)
{
    __shared__ row_smem s;
    __shared__ filter_smem f;
    const cuda_pick_rules &rules = job.rules;
    pick_row r = {open_row(job.logits, job.vocab, rules.banned, rules.deferred),
                  {},
                  &job.rules,
                  (uint32_t)job.positions[blockIdx.x]};
    cuda_pick out = {};

    r.summary = summarize_row(s, r.row);
    out.state = r.summary.state;
    if (out.state == CUDA_ROW_GOOD) {
        if (!rules.runner_up && !rules.gap && rules.confidence != MARGIN)
            r.summary.second = -1;
        if (rules.gap)
            out.gap = r.summary.second < 0 ? (double)INFINITY
                                           : (double)r.summary.max - (double)r.summary.max_second;
        if (rules.method == LLADA)
            llada_pick(s, r, out);
        else
            dream_pick(s, f, r, out);
        if (rules.confidence == UNIFORM)
            out.confidence = draw_uniform(r, DRAW_REMASK);
    }
    if (threadIdx.x == 0)
        job.picks[blockIdx.x] = out;
}

int cuda_pick_rows(const float *logits, int count, int vocab, const struct cuda_pick_rules *rules,
                   const int32_t *positions, struct cuda_pick *picks, struct CUstream_st *stream)
{
    if (count < 0 || vocab < 1 || (uint32_t)vocab >= DRAW_TOKEN)
        return cudaErrorInvalidValue;
    if (count == 0)
        return cudaSuccess;
    return launch(pick_rows, dim3((unsigned)count), dim3(ROW_THREADS), 0, stream,
                  pick_launch{logits, vocab, *rules, positions, picks});
}
