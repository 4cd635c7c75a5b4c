/*
 * tensor_core.cpp: mma and ldmatrix with the fragment layouts of the PTX ISA
 * (kernels/cuda/ptx.cuh shows them). The card's order of float sums is not
 * published: compare with a bound.
 */
#include "emu_internal.h"
#include "emu_ptx.h"

namespace emu
{
static const MmaRegisters &registers(void **arguments, int lane)
{
    return *static_cast<MmaRegisters *>(arguments[lane]);
}

/* The product of a lane's four elements of D: a [16][K], b [8][K], both row by row along k. */
template <class Sum, class Element, int K>
static void multiply(void **arguments, const Element (&a)[16][K], const Element (&b)[8][K])
{
    for (int lane = 0; lane < 32; lane++) {
        Sum *d = static_cast<Sum *>(registers(arguments, lane).d);
        for (int i = 0; i < 4; i++) {
            const Element *row = a[lane / 4 + (i >> 1) * 8], *column = b[lane % 4 * 2 + (i & 1)];
            Sum sum = 0;
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
    multiply<int>(arguments, a, b);
}

void mma_s8_k32(unsigned, void **arguments)
{
    mma_s8<32>(arguments);
}

void mma_s8_k16(unsigned, void **arguments)
{
    mma_s8<16>(arguments);
}

/* Half of a register to float; a table, since the conversion of CUDA's header is slow on a CPU. */
static float half_value(uint32_t bits)
{
    static const std::vector<float> table = [] {
        std::vector<float> values(65536);
        for (uint32_t i = 0; i < 65536; i++)
            values[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(i)));
        return values;
    }();
    return table[bits & 0xffff];
}

static float bfloat_value(uint32_t bits)
{
    return bits_as<float>(bits << 16);
}

template <class Convert> static void mma_16_bits(void **arguments, Convert convert)
{
    float a[16][16], b[8][16];
    for (int lane = 0; lane < 32; lane++) {
        const MmaRegisters &r = registers(arguments, lane);
        const int group = lane / 4, column = lane % 4 * 2;
        for (int i = 0; i < 8; i++)
            a[group + (i >> 1 & 1) * 8][column + (i & 1) + (i >> 2) * 8] =
                convert(r.a[i >> 1] >> 16 * (i & 1));
        for (int i = 0; i < 4; i++)
            b[group][column + (i & 1) + (i >> 1) * 8] = convert(r.b[i >> 1] >> 16 * (i & 1));
    }
    multiply<float>(arguments, a, b);
}

void mma_f16_k16(unsigned, void **arguments)
{
    mma_16_bits(arguments, half_value);
}

void mma_bf16_k16(unsigned, void **arguments)
{
    mma_16_bits(arguments, bfloat_value);
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
