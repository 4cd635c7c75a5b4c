/*
 * test_attention.cpp: attention on the card: the exact way bit by bit against the
 * CPU's kernel, the fast way against doubles on inputs rounded as it rounds them.
 * What would break: a key left out, counted twice or unmasked, a head that looks
 * at another's keys, a query whose result depends on its neighbours.
 */
#include "cpu_side.h"
#include "cuda_attention.h"
#include "device_test.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace device_test;
typedef std::vector<float> Floats;

static Floats random_floats(size_t count, double scale)
{
    Floats values(count);
    for (float &value : values)
        value = float(scale * random_signed());
    return values;
}

struct Shape {
    int heads, kv_heads, dim, q_spare, kv_spare; /* floats behind each row, multiples of 4 */
    size_t q_step() const
    {
        return size_t(heads * dim + q_spare);
    }
    size_t kv_step() const
    {
        return size_t(kv_heads * dim + kv_spare);
    }
};

/* Rows of which the last has nothing behind it. */
static size_t rows_size(int rows, size_t step, int spare)
{
    return size_t(rows) * step - size_t(spare);
}

/* One window on both sides; results replace the queries when in_place. */
struct Window {
    Window(const Shape &s, int its_queries, int its_keys, double scale, bool its_in_place)
        : queries(its_queries), keys(its_keys), in_place(its_in_place),
          q(random_floats(rows_size(queries, s.q_step(), s.q_spare), scale)),
          k(random_floats(rows_size(keys, s.kv_step(), s.kv_spare), scale)),
          v(random_floats(rows_size(keys, s.kv_step(), s.kv_spare), 1)), card_q(q), card_k(k),
          card_v(v), out(std::vector<float>(in_place ? 1 : q.size(), 0.0f))
    {
    }
    cuda_attention_window view()
    {
        return {card_q.data, card_k.data, card_v.data, in_place ? card_q.data : out.data,
                queries,     keys};
    }
    Floats result() const
    {
        return in_place ? card_q.get() : out.get();
    }
    int queries, keys;
    bool in_place;
    Floats q, k, v;
    DeviceArray<float> card_q, card_k, card_v, out;
};

static void attend(const Shape &s, std::vector<cuda_attention_window> windows, bool exact)
{
    int keys = 0;
    for (const cuda_attention_window &window : windows)
        keys += window.keys;
    DeviceArray<char> workspace(
        cuda_attention_workspace_bytes(s.kv_heads, s.dim, int(windows.size()), keys, exact));
    const cuda_attention attention = {
        s.heads,    s.kv_heads, s.dim,          s.q_step(),          s.kv_step(),
        s.q_step(), exact,      windows.data(), int(windows.size()), workspace.data};

    succeed(cuda_attend(&attention, nullptr), "cuda_attend");
    succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* ---- Exact ---- */

/* The CPU's kernel for queries [first, first + count) of a head. */
static void attend_on_cpu(const Shape &s, const Window &w, int head, int first, int count,
                          float *out)
{
    cpu_kernels kernels = {};
    const size_t padded =
        size_t((w.keys + ATTENTION_KEY_PAD - 1) / ATTENTION_KEY_PAD * ATTENTION_KEY_PAD);
    const size_t kv_column = size_t(head / (s.heads / s.kv_heads) * s.dim);
    float *turned = static_cast<float *>(aligned_alloc(64, padded * size_t(s.dim) * sizeof(float)));
    void *scratch = aligned_alloc(64, attention_scratch_bytes(s.dim));
    attention_item item = {};

    attention_kernels_ref(&kernels);
    kernels.turn_keys(&w.k[kv_column], s.kv_step(), w.keys, s.dim, turned);
    item.q = &w.q[size_t(first) * s.q_step() + size_t(head * s.dim)];
    item.q_step = s.q_step();
    item.queries = count;
    item.keys = turned;
    item.v = &w.v[kv_column];
    item.v_step = s.kv_step();
    item.key_count = w.keys;
    item.head_dim = s.dim;
    item.out = out;
    item.out_step = size_t(s.dim);
    item.scratch = static_cast<float *>(scratch);
    kernels.attention(&item);
    free(scratch);
    free(turned);
}

static void expect_exact(const Shape &s, const Window &w)
{
    const Floats got = w.result();
    for (int head = 0; head < s.heads; head++)
        for (int first = 0; first < w.queries; first += ATTENTION_QUERIES) {
            const int count = std::min(int(ATTENTION_QUERIES), w.queries - first);
            Floats want(size_t(count * s.dim));
            attend_on_cpu(s, w, head, first, count, want.data());
            for (int t = 0; t < count; t++)
                for (int d = 0; d < s.dim; d++) {
                    const float a = got[size_t(first + t) * s.q_step() + size_t(head * s.dim + d)];
                    const float b = want[size_t(t * s.dim + d)];
                    expect(memcmp(&a, &b, sizeof a) == 0,
                           "%d keys, query %d, head %d, dim %d: %.9g, not %.9g", w.keys, first + t,
                           head, d, double(a), double(b));
                }
        }
}

static void check_exact(const Shape &s, int queries, int keys, double scale, bool in_place)
{
    Window w(s, queries, keys, scale, in_place);

    attend(s, {w.view()}, true);
    expect_exact(s, w);
}

DEVICE_TEST(exact_has_the_bits_of_the_cpu)
{
    check_exact({1, 1, 32, 0, 0}, 1, 1, 1, false);
    check_exact({2, 1, 64, 4, 8}, 9, 17, 1, true);
    check_exact({4, 2, 96, 0, 4}, 33, 128, 5, false);
    check_exact({2, 2, 128, 8, 0}, 7, 129, 2, true);
    check_exact({3, 3, 32, 0, 0}, 65, 300, 1, false);
    check_exact({1, 1, 160, 0, 0}, 2, 140, 1, false);
    check_exact({2, 1, 256, 4, 4}, 5, 31, 1, true);
}

/* ---- Fast ---- */

static double rounded(double value)
{
    return from_half(to_half(value));
}

/* Softmax weights in powers of two and outputs of one query and head in doubles;
 * `spread` is the sum of weight * |v|. */
static void reference(const Shape &s, const Window &w, int query, int head,
                      std::vector<double> &out, std::vector<double> &spread)
{
    const size_t kv_column = size_t(head / (s.heads / s.kv_heads) * s.dim);
    const float *q = &w.q[size_t(query) * s.q_step() + size_t(head * s.dim)];
    const float scale = float(1.4426950408889634 / std::sqrt(double(s.dim)));
    std::vector<double> weight;
    double top = -INFINITY, sum = 0;
    for (int key = 0; key < w.keys; key++) {
        const float *k = &w.k[size_t(key) * s.kv_step() + kv_column];
        double score = 0;
        for (int d = 0; d < s.dim; d++)
            score += rounded(double(q[d] * scale)) * rounded(double(k[d]));
        weight.push_back(score);
        top = std::max(top, score);
    }
    for (double &value : weight)
        sum += value = std::exp2(value - top);
    for (int d = 0; d < s.dim; d++) {
        out[size_t(d)] = spread[size_t(d)] = 0;
        for (int key = 0; key < w.keys; key++) {
            const double v =
                rounded(double(w.v[size_t(key) * s.kv_step() + kv_column + size_t(d)]));
            out[size_t(d)] += weight[size_t(key)] / sum * v;
            spread[size_t(d)] += weight[size_t(key)] / sum * std::fabs(v);
        }
    }
}

/* A weight is rounded to f16: by 2^-11 of it, or, where it is subnormal, by 2^-25
 * of the largest. Sums in f32 add some 2^-20 of scores that are around 1. */
static void expect_fast(const Shape &s, const Window &w)
{
    const Floats got = w.result();
    std::vector<double> want(size_t(s.dim)), spread(want);
    double worst = 0;
    for (int head = 0; head < s.heads; head++)
        for (int query = 0; query < w.queries; query++) {
            reference(s, w, query, head, want, spread);
            for (int d = 0; d < s.dim; d++) {
                const float is = got[size_t(query) * s.q_step() + size_t(head * s.dim + d)];
                const double bound = 0x1.2p-11 * spread[size_t(d)] + 0x1p-23 * w.keys;
                const double off = std::fabs(double(is) - want[size_t(d)]) / bound;
                expect(off <= 1, "%d keys, query %d, head %d, dim %d: %g, not %g", w.keys, query,
                       head, d, double(is), want[size_t(d)]);
                worst = std::max(worst, off);
            }
        }
    printf("    %d x %d, %d heads of %d: at most %.2f of the bound\n", w.queries, w.keys, s.heads,
           s.dim, worst);
}

static void check_fast(const Shape &s, int queries, int keys, double scale, bool in_place)
{
    Window w(s, queries, keys, scale, in_place);

    attend(s, {w.view()}, false);
    expect_fast(s, w);
}

DEVICE_TEST(fast_small_heads)
{
    check_fast({1, 1, 32, 0, 0}, 1, 1, 1, false);
    check_fast({2, 1, 32, 4, 8}, 17, 33, 1, true);
    check_fast({2, 2, 64, 0, 0}, 64, 64, 1, false);
    check_fast({4, 1, 64, 0, 4}, 65, 65, 1, true);
    check_fast({1, 1, 64, 8, 0}, 31, 200, 1, false);
}

DEVICE_TEST(fast_heads_of_128)
{
    check_fast({2, 1, 96, 4, 4}, 33, 63, 1, true);
    check_fast({2, 2, 128, 0, 0}, 15, 129, 1, false);
    check_fast({4, 2, 128, 4, 8}, 5, 148, 1, true);
    check_fast({1, 1, 128, 0, 0}, 130, 2, 1, false);
}

DEVICE_TEST(fast_large_heads)
{
    check_fast({2, 1, 160, 4, 4}, 18, 31, 1, true);
    check_fast({1, 1, 256, 0, 0}, 3, 97, 1, false);
    check_fast({1, 1, 224, 0, 0}, 1, 32, 1, false);
}

/* Breaks if a tile's rows lose the padding that keeps them in distinct banks. */
DEVICE_TEST(fast_reads_tiles_without_conflicts)
{
    for (const int dim : {64, 128, 256}) {
        bank_conflicts();
        check_fast({1, 1, dim, 0, 0}, 16, 64, 1, false);
        const double conflicts = bank_conflicts();
        expect(conflicts == 0, "%.2f extra phases at dim %d", conflicts, dim);
    }
}

/* Scores of hundreds: the running maximum carries the softmax. */
DEVICE_TEST(fast_with_large_scores)
{
    Shape s = {1, 1, 64, 0, 0};
    Window w(s, 20, 150, 12, false);
    attend(s, {w.view()}, false);
    const Floats got = w.result();
    std::vector<double> want(64), spread(64);
    for (int query = 0; query < 20; query++) {
        reference(s, w, query, 0, want, spread);
        for (int d = 0; d < 64; d++)
            expect(std::fabs(double(got[size_t(query * 64 + d)]) - want[size_t(d)]) < 2e-3,
                   "query %d, dim %d: %g, not %g", query, d, double(got[size_t(query * 64 + d)]),
                   want[size_t(d)]);
    }
}

/* ---- Windows ---- */

static void check_windows(const Shape &s, bool exact)
{
    Window a(s, 20, 70, 1, true), none(s, 1, 3, 1, false), b(s, 3, 130, 1, false),
        c(s, 70, 5, 1, true);
    cuda_attention_window idle = none.view();

    idle.queries = 0;
    attend(s, {a.view(), idle, b.view(), c.view()}, exact);
    for (const Window *w : {&a, &b, &c})
        exact ? expect_exact(s, *w) : expect_fast(s, *w);
    expect(none.result() == Floats(none.q.size(), 0.0f),
           "a window without queries wrote something");
}

DEVICE_TEST(windows_of_one_launch)
{
    check_windows({2, 1, 64, 4, 4}, false);
    check_windows({2, 2, 128, 0, 0}, false);
    check_windows({2, 1, 64, 4, 4}, true);
}

/* The same query and keys in a launch of its own and among others: equal bits. */
DEVICE_TEST(a_query_alone_gets_the_same_bits)
{
    const Shape s = {2, 1, 64, 0, 0};
    for (int exact = 0; exact < 2; exact++) {
        Window all(s, 70, 90, 1, false), other(s, 40, 200, 1, false);
        attend(s, {other.view(), all.view()}, exact);
        const Floats together = all.result();
        for (int query : {0, 15, 16, 37, 69}) {
            cuda_attention_window one = all.view();
            one.q += size_t(query) * s.q_step();
            one.out += size_t(query) * s.q_step();
            one.queries = 1;
            attend(s, {one}, exact);
        }
        expect(all.result() == together, "a query alone differs (exact: %d)", exact);
    }
}

/* What is not finite must come out, not vanish. */
DEVICE_TEST(bad_values_show)
{
    const Shape s = {1, 1, 64, 0, 0};
    for (int exact = 0; exact < 2; exact++) {
        for (int which = 0; which < 3; which++) {
            Window w(s, 2, 70, 1, false);
            DeviceArray<float> &array = which == 0 ? w.card_q : which == 1 ? w.card_k : w.card_v;
            const float bad = which == 1 ? NAN : INFINITY;
            succeed(cudaMemcpy(array.data + 3, &bad, sizeof bad, cudaMemcpyHostToDevice), "copy");
            attend(s, {w.view()}, exact);
            expect(!std::isfinite(w.result()[3]), "%g in input %d became %g", double(bad), which,
                   double(w.result()[3]));
        }
    }
}

DEVICE_TEST(attention_refuses)
{
    DeviceArray<float> x(64);
    const cuda_attention_window window = {x.data, x.data, x.data, x.data, 1, 1};
    const cuda_attention good = {1, 1, 64, 64, 64, 64, true, &window, 1, nullptr};
    cuda_attention bad = good;
    bad.head_dim = 48;
    expect(cuda_attend(&bad, nullptr) == cudaErrorInvalidValue, "head_dim 48 passed");
    bad.head_dim = 288;
    expect(cuda_attend(&bad, nullptr) == cudaErrorInvalidValue, "head_dim 288 passed");
    bad = good;
    bad.heads = 3;
    bad.kv_heads = 2;
    expect(cuda_attend(&bad, nullptr) == cudaErrorInvalidValue, "3 heads of 2 passed");
    bad = good;
    bad.q_step = 66;
    expect(cuda_attend(&bad, nullptr) == cudaErrorInvalidValue, "step 66 passed");
    bad = good;
    bad.count = CUDA_ATTENTION_WINDOWS + 1;
    expect(cuda_attend(&bad, nullptr) == cudaErrorInvalidValue, "too many windows passed");
}
