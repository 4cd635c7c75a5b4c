/*
 * test_rows.cpp: rotation, copies and guidance against the CPU's kernels, bit by
 * bit. What would break: a pair that turns with the wrong neighbour or angle, a
 * norm over more than its head, a row or tail left out, an operation fused.
 */
#include "cpu_side.h"
#include "cuda_rows.h"
#include "device_test.h"

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

static void expect_same_bits(const Floats &got, const Floats &want, const char *what)
{
    for (size_t i = 0; i < want.size(); i++)
        expect(memcmp(&got[i], &want[i], sizeof(float)) == 0, "%s: [%zu] is %.9g, not %.9g", what,
               i, double(got[i]), double(want[i]));
}

static cpu_kernels reference_kernels()
{
    cpu_kernels kernels = {};
    rows_kernels_ref(&kernels);
    return kernels;
}

/* One launch's sizes; parts have `heads` and, if it is not 0, `second_heads`. */
struct RopeCase {
    int rows, head_dim, rope_dims, heads, second_heads, spare; /* floats behind each row */
    bool halves, norm, second_norm, positions;
};

/* One matrix, on the card and as the CPU turns it. */
struct Part {
    Part(const RopeCase &c, int its_heads, bool normed)
        : heads(its_heads), step(size_t(its_heads * c.head_dim + c.spare)),
          weight(normed ? random_floats(size_t(c.head_dim), 2) : Floats(1)),
          want(random_floats(step * size_t(c.rows), 3)), on_card(want), card_weight(weight),
          norm(normed)
    {
    }
    cuda_rotation rotation() const
    {
        return {on_card.data, step, heads, norm ? card_weight.data : nullptr, 1e-5f};
    }
    void turn(const RopeCase &c, const Floats &angles, const std::vector<int32_t> &positions)
    {
        for (int row = 0; row < c.rows; row++) {
            rope_row job = {};
            job.x = want.data() + size_t(row) * step;
            job.angles = angles.data() +
                         size_t(c.positions ? positions[size_t(row)] : row) * size_t(c.rope_dims);
            job.heads = heads;
            job.head_dim = c.head_dim;
            job.rope_dims = c.rope_dims;
            job.halves = c.halves;
            job.norm = norm ? weight.data() : nullptr;
            job.eps = 1e-5f;
            reference_kernels().rope(&job);
        }
    }
    int heads;
    size_t step;
    Floats weight, want;
    DeviceArray<float> on_card, card_weight;
    bool norm;
};

static void check_rope(const RopeCase &c)
{
    const int known = c.rows + 3;
    const Floats angles = random_floats(size_t(known * c.rope_dims), 1);
    std::vector<int32_t> positions;
    for (int row = 0; row < c.rows; row++)
        positions.push_back(int32_t(random_bits() % unsigned(known)));
    Part first(c, c.heads, c.norm), second(c, c.second_heads ? c.second_heads : 1, c.second_norm);
    DeviceArray<float> card_angles(angles);
    DeviceArray<int32_t> card_positions(positions);
    const cuda_rotation parts[] = {first.rotation(), second.rotation()};
    const cuda_rope rope = {c.rows,
                            c.head_dim,
                            c.rope_dims,
                            c.halves,
                            card_angles.data,
                            c.positions ? card_positions.data : nullptr,
                            parts,
                            c.second_heads ? 2 : 1};

    succeed(cuda_rotate_heads(&rope, nullptr), "cuda_rotate_heads");
    first.turn(c, angles, positions);
    if (c.second_heads)
        second.turn(c, angles, positions);
    expect_same_bits(first.on_card.get(), first.want, "first part");
    expect_same_bits(second.on_card.get(), second.want, "second part");
}

DEVICE_TEST(rotation_of_adjacent_pairs)
{
    check_rope({1, 32, 32, 1, 0, 0, false, false, false, false});
    check_rope({5, 64, 48, 3, 1, 0, false, false, false, true});
    check_rope({3, 128, 128, 4, 4, 4, false, true, true, true});
}

DEVICE_TEST(rotation_of_halves)
{
    check_rope({1, 32, 2, 1, 0, 1, true, false, false, true});
    check_rope({7, 96, 96, 5, 2, 3, true, true, true, false});
    check_rope({4, 64, 32, 7, 0, 0, true, true, false, true});
    check_rope({2, 256, 200, 3, 1, 0, true, false, false, true});
}

/* A norm for one part must not touch the other. */
DEVICE_TEST(rotation_with_one_norm)
{
    check_rope({3, 64, 40, 3, 2, 0, true, true, false, true});
    check_rope({3, 64, 40, 3, 2, 0, false, false, true, true});
    check_rope({2, 32, 0, 3, 2, 0, false, false, true, true});
}

DEVICE_TEST(rotation_refuses)
{
    DeviceArray<float> x(64);
    const cuda_rotation part = {x.data, 64, 2, nullptr, 0};
    const cuda_rope good = {1, 32, 32, false, x.data, nullptr, &part, 1};
    cuda_rope bad = good;
    bad.rope_dims = 31;
    expect(cuda_rotate_heads(&bad, nullptr) == cudaErrorInvalidValue, "odd rope_dims passed");
    bad = good;
    bad.head_dim = 48;
    expect(cuda_rotate_heads(&bad, nullptr) == cudaErrorInvalidValue, "head_dim 48 passed");
    bad = good;
    bad.count = 3;
    expect(cuda_rotate_heads(&bad, nullptr) == cudaErrorInvalidValue, "three parts passed");
    bad = good;
    bad.head_dim = 64;
    bad.rope_dims = 64;
    expect(cuda_rotate_heads(&bad, nullptr) == cudaErrorInvalidValue, "a short step passed");
    bad = good;
    bad.rows = 0;
    succeed(cuda_rotate_heads(&bad, nullptr), "no rows");
}

static void check_copies(int source_rows, int count, int width)
{
    const Floats x = random_floats(size_t(source_rows * width), 1);
    std::vector<int32_t> rows, distinct;
    for (int t = 0; t < count; t++) {
        rows.push_back(int32_t(random_bits() % unsigned(source_rows)));
        distinct.push_back((t * 3 + 1) % source_rows);
    }
    Floats gathered(size_t(count * width)), scattered = x;
    DeviceArray<float> card_x(x), out(gathered.size()), target(x);
    DeviceArray<int32_t> card_rows(rows), card_distinct(distinct);

    succeed(cuda_gather_rows(card_x.data, card_rows.data, count, width, out.data, nullptr),
            "cuda_gather_rows");
    succeed(cuda_scatter_rows(out.data, card_distinct.data, count, width, target.data, nullptr),
            "cuda_scatter_rows");
    for (int t = 0; t < count; t++) {
        const float *row = &x[size_t(rows[size_t(t)] * width)];
        memcpy(&gathered[size_t(t * width)], row, sizeof(float) * size_t(width));
        memcpy(&scattered[size_t(distinct[size_t(t)] * width)], row, sizeof(float) * size_t(width));
    }
    expect_same_bits(out.get(), gathered, "gathered");
    expect_same_bits(target.get(), scattered, "scattered");
}

DEVICE_TEST(copies_of_rows)
{
    check_copies(1, 1, 1);
    check_copies(10, 7, 3);
    check_copies(10, 10, 257);
    check_copies(7, 5, 1028);
    check_copies(7, 7, 1026);
    DeviceArray<float> x(4);
    DeviceArray<int32_t> rows(std::vector<int32_t>{0});
    succeed(cuda_gather_rows(x.data, rows.data, 0, 4, x.data, nullptr), "no rows");
    expect(cuda_scatter_rows(x.data, rows.data, 1, 0, x.data, nullptr) == cudaErrorInvalidValue,
           "width 0 passed");
}

static void check_guidance(int count, int width, double scale)
{
    Floats logits = random_floats(size_t(2 * count * width), 30);
    DeviceArray<float> card(logits);

    succeed(cuda_guide_logits(card.data, count, width, scale, nullptr), "cuda_guide_logits");
    for (int t = 0; t < count; t++)
        reference_kernels().guide(&logits[size_t(t * width)], &logits[size_t((count + t) * width)],
                                  scale, width);
    expect_same_bits(card.get(), logits, "guided");
}

DEVICE_TEST(guidance)
{
    check_guidance(1, 1, 0.5);
    check_guidance(3, 341, 1.5);
    check_guidance(2, 512, 0);
    check_guidance(5, 1003, 0.1);
}
