/*
 * test_ptx.cpp: the wrappers of ptx.cuh one by one. The layouts are written out
 * here a second time, from the tables of the PTX ISA and element by element, so
 * that they can differ from the emulator's.
 */
#include "cuda_probe.h"
#include "device_test.h"

#include <cstring>

using namespace device_test;
typedef std::vector<uint32_t> Words;

static Words probe(const Words &in, cuda_probe which)
{
    DeviceArray<uint32_t> input(in), output(128);
    succeed(cuda_probe_run(output.data, input.data, which, nullptr), "cuda_probe_run");
    return output.get();
}

static Words random_words()
{
    Words words(192);
    for (uint32_t &word : words)
        word = random_bits();
    return words;
}

/* Where C[row][column] lies in the results. */
static int result_of(int row, int column)
{
    return (row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2;
}

/* A[row][k] and B[k][column] of an s8 mma. */
static int s8_a(const Words &in, int row, int k)
{
    const int lane = row % 8 * 4 + k % 16 / 4, word = row / 8 + k / 16 * 2;
    return int8_t(in[size_t(lane * 4 + word)] >> 8 * (k % 4));
}

static int s8_b(const Words &in, int k, int column)
{
    const int lane = column * 4 + k % 16 / 4;
    return int8_t(in[size_t(128 + lane * 2 + k / 16)] >> 8 * (k % 4));
}

static void check_s8(cuda_probe which, int depth)
{
    const Words in = random_words(), out = probe(in, which);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            int sum = 0;
            for (int k = 0; k < depth; k++)
                sum += s8_a(in, row, k) * s8_b(in, k, column);
            const int got = int(out[size_t(result_of(row, column))]);
            expect(got == sum, "C[%d][%d] is %d, not %d", row, column, got, sum);
        }
}

DEVICE_TEST(mma_s8_of_depth_32)
{
    check_s8(CUDA_PROBE_MMA_S8_16832, 32);
}

DEVICE_TEST(mma_s8_of_depth_16)
{
    check_s8(CUDA_PROBE_MMA_S8_16816, 16);
}

/* The 16-bit floats of both operands in the same way. */
static uint16_t half_a(const Words &in, int row, int k)
{
    const int lane = row % 8 * 4 + k % 8 / 2, word = row / 8 + k / 8 * 2;
    return uint16_t(in[size_t(lane * 4 + word)] >> 16 * (k % 2));
}

static uint16_t half_b(const Words &in, int k, int column)
{
    const int lane = column * 4 + k % 8 / 2;
    return uint16_t(in[size_t(128 + lane * 2 + k / 8)] >> 16 * (k % 2));
}

static void check_floats(cuda_probe which, uint16_t (*pack)(double), double (*unpack)(uint16_t))
{
    Words in(192);
    for (uint32_t &word : in)
        word = pack(random_signed()) | uint32_t(pack(random_signed())) << 16;
    const Words out = probe(in, which);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            double sum = 0;
            for (int k = 0; k < 16; k++)
                sum += unpack(half_a(in, row, k)) * unpack(half_b(in, k, column));
            float got;
            memcpy(&got, &out[size_t(result_of(row, column))], 4);
            /* 16 products of at most 1, summed in f32 in an unpublished order. */
            expect(std::fabs(sum - double(got)) < 2e-5, "C[%d][%d] is %g, not %g", row, column,
                   double(got), sum);
        }
}

DEVICE_TEST(mma_f16)
{
    check_floats(CUDA_PROBE_MMA_F16, to_half, from_half);
}

DEVICE_TEST(mma_bf16)
{
    check_floats(CUDA_PROBE_MMA_BF16, to_bfloat, from_bfloat);
}

static void check_ldmatrix(cuda_probe which, int matrices, bool transposed)
{
    const Words in = random_words(), out = probe(in, which);
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < 4; m++)
            for (int half = 0; half < 2; half++) {
                int row = lane / 4, column = lane % 4 * 2 + half;
                if (transposed)
                    std::swap(row, column);
                const uint32_t word = in[size_t(m * 32 + row * 4 + column / 2)];
                const uint16_t want = m < matrices ? uint16_t(word >> 16 * (column % 2)) : 0;
                const uint16_t got = uint16_t(out[size_t(lane * 4 + m)] >> 16 * half);
                expect(got == want, "lane %d, matrix %d, half %d: %04x, not %04x", lane, m, half,
                       got, want);
            }
}

DEVICE_TEST(ldmatrix_of_four)
{
    check_ldmatrix(CUDA_PROBE_LDMATRIX_X4, 4, false);
    check_ldmatrix(CUDA_PROBE_LDMATRIX_X4_TRANS, 4, true);
}

DEVICE_TEST(ldmatrix_of_two)
{
    check_ldmatrix(CUDA_PROBE_LDMATRIX_X2, 2, false);
    check_ldmatrix(CUDA_PROBE_LDMATRIX_X2_TRANS, 2, true);
}

DEVICE_TEST(cp_async_copies_or_clears)
{
    for (int which = CUDA_PROBE_CP_ASYNC_16; which <= CUDA_PROBE_CP_ASYNC_4; which++) {
        const Words in = random_words(), out = probe(in, cuda_probe(which));
        for (size_t i = 0; i < 128; i++) {
            const uint32_t want = i / 4 % 2 == 0 ? in[i] : 0;
            expect(out[i] == want, "probe %d, word %zu: %08x, not %08x", which, i, out[i], want);
        }
    }
}

DEVICE_TEST(cp_async_copies_a_part)
{
    const Words in = random_words(), out = probe(in, CUDA_PROBE_CP_ASYNC_PART);
    const uint8_t *from = (const uint8_t *)in.data(), *to = (const uint8_t *)out.data();
    for (int i = 0; i < 512; i++) {
        const int want = i % 16 < i / 16 % 17 ? from[i] : 0;
        expect(to[i] == want, "lane %d, byte %d: %02x, not %02x", i / 16, i % 16, to[i], want);
    }
}

DEVICE_TEST(ex2_within_its_bound)
{
    Words in(192);
    std::vector<float> x(128);
    for (size_t i = 0; i < 128; i++)
        x[i] = float(random_signed() * 60);
    x[0] = 0, x[1] = -INFINITY, x[2] = -140, x[3] = 1; /* -140: subnormal, flushed to zero */
    memcpy(in.data(), x.data(), 512);
    const Words out = probe(in, CUDA_PROBE_EX2);
    for (size_t i = 0; i < 128; i++) {
        float got;
        memcpy(&got, &out[i], 4);
        const double want = i == 2 ? 0 : std::exp2(double(x[i]));
        /* The PTX ISA gives 2^-22; the result is rounded to f32 besides. */
        expect(std::fabs(double(got) - want) <= want * 3.6e-7, "2^%g is %g, not %g", double(x[i]),
               double(got), want);
    }
}
