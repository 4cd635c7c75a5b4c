/*
 * tensor_core.cpp: mma and ldmatrix with the fragment layouts of the PTX ISA
 * (kernels/cuda/ptx.cuh shows them).
 *
 * Sums of floats are as rough as measurements found them on the roughest card from 8.0 on, an
 * A100 (Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021; Khattak and Mikaitis,
 * "Accurate models of NVIDIA tensor cores", 2025): eight products and the sum so far are cut
 * off 24 bits below the largest exponent among them and added up, and the result is cut to
 * f32. Other cards take sixteen products at once, with a bit more: compare with a bound.
 */
#include "emu_internal.h"
#include "emu_ptx.h"

#include <algorithm>

namespace emu
{
static const MmaRegisters &registers(void **arguments, int lane)
{
    return *static_cast<MmaRegisters *>(arguments[lane]);
}

/* The product of a lane's four elements of D: a [16][K], b [8][K], both row by row along k. */
template <int K>
static void multiply(void **arguments, const int8_t (&a)[16][K], const int8_t (&b)[8][K])
{
    for (int lane = 0; lane < 32; lane++) {
        int *d = static_cast<int *>(registers(arguments, lane).d);
        for (int i = 0; i < 4; i++) {
            const int8_t *row = a[lane / 4 + (i >> 1) * 8], *column = b[lane % 4 * 2 + (i & 1)];
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += row[k] * column[k];
            d[i] += sum;
        }
    }
}

static int8_t byte_of(const uint32_t *registers, int i)
{
    return int8_t(registers[i >> 2] >> 8 * (i & 3));
}

template <int K> static void mma_s8(void **arguments)
{
    int8_t a[16][K], b[8][K];
    for (int lane = 0; lane < 32; lane++) {
        const MmaRegisters &r = registers(arguments, lane);
        const int group = lane / 4, column = lane % 4 * 4;
        for (int i = 0; i < K / 2; i++)
            a[group + (i >> 2 & 1) * 8][column + (i & 3) + (i >> 3) * 16] = byte_of(r.a, i);
        for (int i = 0; i < K / 4; i++)
            b[group][column + (i & 3) + (i >> 2) * 16] = byte_of(r.b, i);
    }
    multiply(arguments, a, b);
}

void mma_s8_k32(unsigned, void **arguments)
{
    mma_s8<32>(arguments);
}

void mma_s8_k16(unsigned, void **arguments)
{
    mma_s8<16>(arguments);
}

/* A float as mantissa * 2^(exponent - ONE_BITS). Zeros and what is not finite have mantissa 0 and
 * an exponent that tells: NOT_FINITE / 2 and more is that of a product with one of the latter. */
struct Operand {
    int mantissa, exponent;
    float value;
};
constexpr int ONE_BITS = 10, NOT_FINITE = 1 << 20, ZERO = -(1 << 19);

/* Of a format of 16 bits with so many bits of mantissa. */
static Operand make_operand(uint32_t bits, int mantissa_bits, float value)
{
    const int fields = int(bits & 0x7fff) >> mantissa_bits, bias = (1 << (14 - mantissa_bits)) - 1;
    const int fraction = int(bits) & ((1 << mantissa_bits) - 1);
    const int mantissa = (fields ? fraction | 1 << mantissa_bits : fraction)
                         << (ONE_BITS - mantissa_bits);
    if (!std::isfinite(value))
        return {0, NOT_FINITE, value};
    if (value == 0)
        return {0, ZERO, value};
    return {bits & 0x8000 ? -mantissa : mantissa, (fields ? fields : 1) - bias, value};
}

static std::vector<Operand> make_operands(int mantissa_bits, float (*value_of)(uint32_t))
{
    std::vector<Operand> operands;
    for (uint32_t bits = 0; bits < 65536; bits++)
        operands.push_back(make_operand(bits, mantissa_bits, value_of(bits)));
    return operands;
}

/* By the bits of a number. */
static const Operand *half_operands()
{
    static const std::vector<Operand> table = make_operands(10, [](uint32_t half) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(half)));
    });
    return table.data();
}

static const Operand *bfloat_operands()
{
    static const std::vector<Operand> table =
        make_operands(7, [](uint32_t half) { return bits_as<float>(half << 16); });
    return table.data();
}

/* x / 2^bits, towards zero; bits: 0 or more. */
static int32_t shifted_down(int32_t x, int bits)
{
    const uint32_t magnitude = uint32_t(x < 0 ? -x : x) >> std::min(bits, 31);
    return x < 0 ? -int32_t(magnitude) : int32_t(magnitude);
}

/* x * 2^exponent to the nearest float that is not larger; exponent: of a normal double. */
static float cut_to_float(int32_t x, int exponent)
{
    const auto scale = bits_as<double>(uint64_t(1023 + exponent) << 52);
    const double exact = double(x) * scale;
    const auto nearest = float(exact);
    if (std::fabs(double(nearest)) <= std::fabs(exact) || !std::isfinite(nearest))
        return nearest;
    return bits_as<float>(bits_as<uint32_t>(nearest) - 1);
}

constexpr int SUMMED_AT_ONCE = 8, KEPT_BITS = 24;

static float sum_of_floats(float sum, const Operand *a, const Operand *b)
{
    for (int k = 0; k < SUMMED_AT_ONCE; k++)
        sum += a[k].value * b[k].value;
    return sum;
}

/* A finite float as mantissa * 2^(exponent + 1 - KEPT_BITS), the mantissa's highest bit number 23.
 */
struct Sum {
    int mantissa, exponent;
};

static Sum split_sum(float sum)
{
    const auto bits = bits_as<uint32_t>(sum);
    const int fields = int(bits >> 23 & 255), fraction = int(bits & 0x7fffff);
    int exponent = fields - 127, mantissa = fraction | 1 << 23;
    if (sum == 0)
        return {0, ZERO};
    if (fields == 0) /* subnormal */
        mantissa = int(std::ldexp(std::frexp(std::fabs(sum), &exponent), KEPT_BITS)), exponent--;
    return {sum < 0 ? -mantissa : mantissa, exponent};
}

/* sum + a . b, as the head of the file says. */
static float add_products(float sum, const Operand *a, const Operand *b)
{
    const Sum before = split_sum(sum);
    int exponents[SUMMED_AT_ONCE], top = before.exponent, most = ZERO;
    for (int k = 0; k < SUMMED_AT_ONCE; k++) {
        exponents[k] = a[k].exponent + b[k].exponent;
        most = std::max(most, exponents[k]);
    }
    if (most >= NOT_FINITE / 2 || !std::isfinite(sum))
        return sum_of_floats(sum, a, b);
    top = std::max(top, most);
    if (top < ZERO / 2)
        return 0;
    /* At most 2^25, and eight times 2^26. */
    int32_t total = shifted_down(2 * before.mantissa, top - before.exponent);
    for (int k = 0; k < SUMMED_AT_ONCE; k++)
        total += shifted_down(a[k].mantissa * b[k].mantissa * (1 << (KEPT_BITS - 2 * ONE_BITS)),
                              top - exponents[k]);
    return cut_to_float(total, top - KEPT_BITS);
}

static void multiply_floats(void **arguments, const Operand (&a)[16][16], const Operand (&b)[8][16])
{
    for (int lane = 0; lane < 32; lane++) {
        float *d = static_cast<float *>(registers(arguments, lane).d);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 16; k += SUMMED_AT_ONCE)
                d[i] = add_products(d[i], a[lane / 4 + (i >> 1) * 8] + k,
                                    b[lane % 4 * 2 + (i & 1)] + k);
    }
}

static void mma_16_bits(void **arguments, const Operand *operands)
{
    Operand a[16][16], b[8][16];
    for (int lane = 0; lane < 32; lane++) {
        const MmaRegisters &r = registers(arguments, lane);
        const int group = lane / 4, column = lane % 4 * 2;
        for (int i = 0; i < 8; i++)
            a[group + (i >> 1 & 1) * 8][column + (i & 1) + (i >> 2) * 8] =
                operands[r.a[i >> 1] >> 16 * (i & 1) & 0xffff];
        for (int i = 0; i < 4; i++)
            b[group][column + (i & 1) + (i >> 1) * 8] =
                operands[r.b[i >> 1] >> 16 * (i & 1) & 0xffff];
    }
    multiply_floats(arguments, a, b);
}

void mma_f16_k16(unsigned, void **arguments)
{
    mma_16_bits(arguments, half_operands());
}

void mma_bf16_k16(unsigned, void **arguments)
{
    mma_16_bits(arguments, bfloat_operands());
}

/* Shared memory serves the 8 rows of a matrix at once when they lie in 8 different groups of 4
 * banks; each further row in a group is one more phase. */
static int extra_phases(void **arguments, int matrix)
{
    int rows[8] = {}, most = 0;
    for (int i = 0; i < 8; i++) {
        const auto &load = *static_cast<MatrixLoad *>(arguments[matrix * 8 + i]);
        const int group = int(reinterpret_cast<uintptr_t>(load.row) >> 4 & 7);
        if (++rows[group] > most)
            most = rows[group];
    }
    return most - 1;
}

/* A lane reads its row and hands it to others: between the write and either a barrier must lie. */
static void watch_row(const void *row, int lane)
{
    for (int reader : {lane, (lane + 1) & 31}) {
        const Thread &thread = warp_lane(reader);
        if (watcher)
            watcher->access(row, 16, false, false, thread.number, thread.caller);
    }
}

void load_matrices(unsigned, void **arguments)
{
    uint16_t values[4][8][8];
    const int matrices = static_cast<MatrixLoad *>(arguments[0])->matrices;
    for (int lane = 0; lane < matrices * 8; lane++) {
        const void *row = static_cast<MatrixLoad *>(arguments[lane])->row;
        if (reinterpret_cast<uintptr_t>(row) & 15)
            die("ldmatrix: the address of lane %d is no multiple of 16", lane);
        watch_row(row, lane);
        memcpy(values[lane / 8][lane % 8], row, 16);
    }
    for (int m = 0; m < matrices; m++) {
        statistics.matrix_phases++;
        statistics.matrix_extra_phases += unsigned(extra_phases(arguments, m));
    }
    for (int lane = 0; lane < 32; lane++) {
        const auto &load = *static_cast<MatrixLoad *>(arguments[lane]);
        const int a = lane / 4, b = lane % 4 * 2;
        for (int m = 0; m < matrices; m++)
            load.r[m] = load.transposed ? values[m][b][a] | uint32_t(values[m][b + 1][a]) << 16
                                        : values[m][a][b] | uint32_t(values[m][a][b + 1]) << 16;
    }
}
} // namespace emu
