/*
 * test_routing.cpp: who visits whom, against a sorted list and the CPU's own
 * exponential, bit by bit. What would break: ties by chance, shares of the wrong
 * expert, slots taken twice or in an order that depends on the threads.
 */
#include "cpu_side.h"
#include "cuda_rows.h"
#include "device_test.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

using namespace device_test;
typedef std::vector<float> Floats;
typedef std::vector<int32_t> Ints;

/* A routing on the card, its arrays of exactly the size they need. */
struct CardRouting {
    CardRouting(int rows, int experts, int used)
        : expert(size_t(rows * used)), slot(size_t(rows * used)), first(size_t(experts + 1)),
          row(size_t(rows * used)),
          share(size_t(rows * used)), view{rows,       experts,   used,       expert.data,
                                           share.data, slot.data, first.data, row.data}
    {
    }
    DeviceArray<int32_t> expert, slot, first, row;
    DeviceArray<float> share;
    cuda_routing view;
};

static std::unique_ptr<CardRouting> route(const Floats &scores, int rows, int experts, int used,
                                          bool renormalise)
{
    std::unique_ptr<CardRouting> routing(new CardRouting(rows, experts, used));
    DeviceArray<float> card(scores);

    succeed(cuda_route_rows(card.data, renormalise, &routing->view, nullptr), "cuda_route_rows");
    succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return routing;
}

/* Experts of a row in order: highest score first, the lower index of equals. */
static Ints ordered_experts(const float *scores, int experts)
{
    Ints order(static_cast<size_t>(experts));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
    return order;
}

static Floats shares(const float *scores, int experts, const Ints &order, int used,
                     bool renormalise)
{
    const double highest = double(scores[order[0]]);
    double all = 0, kept = 0;
    Floats result;
    for (int e = 0; e < experts; e++)
        all += softmax_exp(double(scores[e]) - highest);
    for (int i = 0; i < used; i++)
        kept += softmax_exp(double(scores[order[size_t(i)]]) - highest) / all;
    for (int i = 0; i < used; i++) {
        const double part = softmax_exp(double(scores[order[size_t(i)]]) - highest) / all;
        result.push_back(float(renormalise ? part / kept : part));
    }
    return result;
}

/* Slots ascend by expert, then by row. */
static void check_slots(const CardRouting &routing)
{
    const Ints expert = routing.expert.get(), slot = routing.slot.get(),
               first = routing.first.get(), row = routing.row.get();
    Ints visits(expert.size());
    std::iota(visits.begin(), visits.end(), 0);
    std::stable_sort(visits.begin(), visits.end(),
                     [&](int32_t a, int32_t b) { return expert[size_t(a)] < expert[size_t(b)]; });
    for (size_t s = 0; s < visits.size(); s++) {
        const size_t v = size_t(visits[s]);
        expect(slot[v] == int32_t(s), "visit %zu has slot %d, not %zu", v, slot[v], s);
        expect(row[s] == int32_t(v) / routing.view.used, "slot %zu belongs to row %d", s, row[s]);
    }
    for (int e = 0; e <= routing.view.experts; e++) {
        const auto before =
            std::count_if(expert.begin(), expert.end(), [e](int32_t other) { return other < e; });
        expect(first[size_t(e)] == int32_t(before), "expert %d starts at %d, not %d", e,
               first[size_t(e)], int32_t(before));
    }
}

static void check_routing(const Floats &scores, int rows, int experts, int used, bool renormalise)
{
    const auto routing = route(scores, rows, experts, used, renormalise);
    const Ints expert = routing->expert.get();
    const Floats share = routing->share.get();
    for (int t = 0; t < rows; t++) {
        const float *row = &scores[size_t(t * experts)];
        const Ints order = ordered_experts(row, experts);
        const Floats want = shares(row, experts, order, used, renormalise);
        for (int i = 0; i < used; i++) {
            const size_t v = size_t(t * used + i);
            expect(expert[v] == order[size_t(i)], "row %d visits %d, not %d", t, expert[v],
                   order[size_t(i)]);
            expect(memcmp(&share[v], &want[size_t(i)], sizeof(float)) == 0,
                   "row %d, visit %d: share %.9g, not %.9g", t, i, double(share[v]),
                   double(want[size_t(i)]));
        }
    }
    check_slots(*routing);
}

static Floats random_scores(int rows, int experts, double scale, int levels)
{
    Floats scores(size_t(rows * experts));
    for (float &score : scores)
        score =
            levels ? float(int(random_bits() % unsigned(levels))) : float(scale * random_signed());
    return scores;
}

DEVICE_TEST(routing_of_random_scores)
{
    check_routing(random_scores(1, 1, 1, 0), 1, 1, 1, false);
    check_routing(random_scores(5, 6, 3, 0), 5, 6, 3, true);
    check_routing(random_scores(37, 64, 4, 0), 37, 64, 8, false);
    check_routing(random_scores(67, 128, 4, 0), 67, 128, 8, true);
    check_routing(random_scores(3, 33, 400, 0), 3, 33, 33, true);
    check_routing(random_scores(2, CUDA_MAX_EXPERTS, 4, 0), 2, CUDA_MAX_EXPERTS, 5, false);
}

/* Rows with the same few scores over and over, -0 beside 0, and experts without visits. */
DEVICE_TEST(ties_go_to_the_lower_index)
{
    check_routing(random_scores(41, 40, 0, 3), 41, 40, 6, true);
    check_routing(Floats(7 * 64, 2.5f), 7, 64, 4, false);
    check_routing({0.0f, -0.0f, 0.0f, -1, -0.0f, 0}, 1, 6, 4, false);
    check_routing({0, -INFINITY, -INFINITY, 1, -INFINITY, -INFINITY}, 1, 6, 4, true);
}

DEVICE_TEST(a_bad_score_makes_every_share_bad)
{
    Floats scores = random_scores(3, 40, 2, 0);
    scores[5] = NAN;
    scores[40 + 39] = INFINITY;
    for (int i = 0; i < 40; i++)
        scores[size_t(80 + i)] = NAN;
    const auto routing = route(scores, 3, 40, 6, true);
    const Ints expert = routing->expert.get();
    for (const float share : routing->share.get())
        expect(std::isnan(share), "a share is %g", double(share));
    for (int t = 0; t < 3; t++) {
        Ints row(expert.begin() + t * 6, expert.begin() + t * 6 + 6);
        std::sort(row.begin(), row.end());
        expect(row.front() >= 0 && row.back() < 40, "an expert out of range");
        expect(std::adjacent_find(row.begin(), row.end()) == row.end(), "an expert twice");
    }
    check_slots(*routing);
}

DEVICE_TEST(routing_refuses)
{
    CardRouting routing(1, 4, 2);
    DeviceArray<float> scores(4);
    cuda_routing bad = routing.view;
    bad.used = 5;
    expect(cuda_route_rows(scores.data, false, &bad, nullptr) == cudaErrorInvalidValue,
           "more used than experts passed");
    bad = routing.view;
    bad.experts = CUDA_MAX_EXPERTS + 1;
    expect(cuda_route_rows(scores.data, false, &bad, nullptr) == cudaErrorInvalidValue,
           "too many experts passed");
    bad = routing.view;
    bad.rows = 0;
    succeed(cuda_route_rows(scores.data, false, &bad, nullptr), "no rows");
    for (const int32_t first : routing.first.get())
        expect(first == 0, "an expert without visits starts at %d", first);
}

static void check_mix(int rows, int experts, int used, int width)
{
    const auto routing = route(random_scores(rows, experts, 3, 0), rows, experts, used, true);
    const Ints slot = routing->slot.get();
    const Floats share = routing->share.get();
    Floats y(size_t(rows * used * width)), x(size_t(rows * width));
    for (float &value : y)
        value = float(random_signed());
    for (float &value : x)
        value = float(random_signed());
    DeviceArray<float> card_y(y), card_x(x);

    succeed(cuda_mix_visits(card_y.data, &routing->view, width, card_x.data, nullptr),
            "cuda_mix_visits");
    for (int t = 0; t < rows; t++)
        for (int v = t * used; v < (t + 1) * used; v++)
            for (int i = 0; i < width; i++)
                x[size_t(t * width + i)] +=
                    share[size_t(v)] * y[size_t(slot[size_t(v)] * width + i)];
    const Floats got = card_x.get();
    for (size_t i = 0; i < x.size(); i++)
        expect(memcmp(&got[i], &x[i], sizeof(float)) == 0, "[%zu] is %.9g, not %.9g", i,
               double(got[i]), double(x[i]));
}

DEVICE_TEST(mix_of_visits)
{
    check_mix(1, 1, 1, 1);
    check_mix(5, 7, 3, 100);
    check_mix(9, 16, 4, 333);
}
