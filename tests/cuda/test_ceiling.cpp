/*
 * test_ceiling.cpp: the loops that speeds are compared with do all of the work that their
 * rates are computed from. The operands are made here a second time and multiplied element
 * by element.
 *
 * What would break: a loop or a chain that is left out, a part of the memory that is not
 * read or read twice, a thread whose results go nowhere.
 */
#include "cuda_ceiling.h"
#include "device_test.h"

using namespace device_test;

enum { THREADS = CUDA_CEILING_THREADS, CHAINS = CUDA_CEILING_CHAINS };

static uint32_t operand(int lane, int i)
{
    const uint32_t x = uint32_t(13 * lane + i + 1) * 2654435761u;
    return x ^ (x >> 16);
}

/* Element (row, k) of A, and (k, column) of chain c's B, in s8. */
static double s8_a(int row, int k)
{
    const int lane = row % 8 * 4 + k % 16 / 4;
    return int8_t(operand(lane, row / 8 + k / 16 * 2) >> 8 * (k % 4));
}

static double s8_b(int c, int k, int column)
{
    return int8_t(operand(column * 4 + k % 16 / 4, 4 + c + k / 16) >> 8 * (k % 4));
}

/* The same in f16. */
static double half_of(uint32_t word, int which)
{
    return from_half(uint16_t(((word & 0x83ff83ffu) | 0x30003000u) >> 16 * which));
}

static double half_a(int row, int k)
{
    const int lane = row % 8 * 4 + k % 8 / 2;
    return half_of(operand(lane, row / 8 + k / 8 * 2), k % 2);
}

static double half_b(int c, int k, int column)
{
    return half_of(operand(column * 4 + k % 8 / 2, 4 + c + k / 8), k % 2);
}

/* What a lane has of all chains after one loop. */
static double sum_of_lane(int lane, int depth, double (*a)(int, int), double (*b)(int, int, int))
{
    double sum = 0;
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < depth; k++)
                sum += a(lane / 4 + 8 * (i / 2), k) * b(c, k, lane % 4 * 2 + i % 2);
    return sum;
}

DEVICE_TEST(ceiling_int8_does_all_loops)
{
    for (int loops : {1, 2, 7}) {
        DeviceArray<uint32_t> sums(2 * THREADS);
        succeed(cuda_ceiling_int8(2, loops, sums.data, nullptr), "cuda_ceiling_int8");
        const std::vector<uint32_t> got = sums.get();
        for (int t = 0; t < 2 * THREADS; t++) {
            const double want = loops * sum_of_lane(t % 32, 32, s8_a, s8_b);
            expect(int32_t(got[size_t(t)]) == int32_t(want), "%d loops, thread %d: %d, not %.0f",
                   loops, t, int(got[size_t(t)]), want);
        }
    }
}

DEVICE_TEST(ceiling_f16_does_all_loops)
{
    for (int loops : {1, 2, 7}) {
        DeviceArray<float> sums(2 * THREADS);
        succeed(cuda_ceiling_f16(2, loops, sums.data, nullptr), "cuda_ceiling_f16");
        std::vector<double> want(2 * THREADS);
        for (int t = 0; t < 2 * THREADS; t++)
            want[size_t(t)] = loops * sum_of_lane(t % 32, 16, half_a, half_b);
        /* 3,584 products at most in f32, each step's order and rounding the card's own. */
        expect_close("sums", want, sums.get(), 1e-4);
    }
}

/* Sizes around what the blocks read in a step of one load, and of four. */
DEVICE_TEST(ceiling_read_reads_everything)
{
    const size_t step = 2 * THREADS, loads = 4;
    for (size_t units : {size_t(1), step - 1, step + 5, loads * step, 2 * loads * step + step + 1})
        for (int loops : {1, 3}) {
            std::vector<uint32_t> data(units * 4);
            uint32_t want = 0, got = 0;
            for (uint32_t &word : data)
                want += word = random_bits();
            DeviceArray<uint32_t> input(data), sums(2 * THREADS);
            succeed(cuda_ceiling_read(input.data, units * 16, 2, loops, sums.data, nullptr),
                    "cuda_ceiling_read");
            for (uint32_t sum : sums.get())
                got += sum;
            expect(got == want * uint32_t(loops), "%zu units, %d loops: %08x, not %08x", units,
                   loops, got, want * uint32_t(loops));
        }
}

/* The rates are these numbers times loops. */
DEVICE_TEST(ceiling_counts_operations)
{
    const int warps = THREADS / 32;
    expect(CUDA_CEILING_INT8_OPERATIONS == warps * CHAINS * 16 * 8 * 32 * 2, "int8");
    expect(CUDA_CEILING_F16_OPERATIONS == warps * CHAINS * 16 * 8 * 16 * 2, "f16");
}

DEVICE_TEST(ceiling_refuses_what_is_no_work)
{
    DeviceArray<uint32_t> data(THREADS);
    expect(cuda_ceiling_int8(0, 1, data.data, nullptr) == cudaErrorInvalidValue, "no blocks");
    expect(cuda_ceiling_f16(1, 0, (float *)data.data, nullptr) == cudaErrorInvalidValue,
           "no loops");
    expect(cuda_ceiling_read(data.data, 40, 1, 1, data.data, nullptr) == cudaErrorInvalidValue,
           "40 bytes");
    expect(cuda_ceiling_read(data.data + 1, 16, 1, 1, data.data, nullptr) == cudaErrorInvalidValue,
           "not on a multiple of 16");
}
