/*
 * test_prepare.cpp: the inputs of matmuls on the card against the CPU's, in every
 * bit: all kinds of inputs, widths with tails, norm and gate, rows that become
 * several tokens.
 */
#include "cpu_reference.h"
#include "cuda_matmul.h"
#include "cuda_records.h"
#include "device_test.h"

#include <algorithm>
#include <cstring>

using namespace device_test;
typedef std::vector<float> Floats;

enum { ALL_FORMS = 31 };

/* Rows as the CPU's forms. */
struct CpuForms {
    CpuForms(const Floats &x, int tokens, int width)
        : storage(activations_bytes(tokens, width, 7) / sizeof(Line))
    {
        activations_layout(&view, storage.data(), tokens, width, 7);
        cpu_kernels kernels;
        cpu_kernels_init(&kernels, CPU_REF);
        for (int t = 0; t < tokens; t++)
            kernels.prepare(&x[size_t(t) * size_t(width)], t, &view);
    }
    struct alignas(64) Line {
        char bytes[64];
    };
    std::vector<Line> storage;
    activations view;
};

static bool same_bits(float a, float b)
{
    return !memcmp(&a, &b, sizeof a) || (a != a && b != b);
}

static Floats random_rows(case_inputs kind, int rows, int width)
{
    Floats x(size_t(rows) * size_t(width));
    uint64_t state = random_bits();
    for (int t = 0; t < rows; t++)
        case_fill_inputs(&state, kind, t, width, &x[size_t(t) * size_t(width)]);
    return x;
}

/* The forms that a launch made, on the host. */
struct CardForms {
    cuda_activations view;
    std::vector<char> bytes;

    template <class Record>
    const Record &at(void *cuda_activations::*form, int record, int token) const
    {
        const char *begin = static_cast<const char *>(view.*form) - base + bytes.data();
        return reinterpret_cast<const Record *>(
            begin)[size_t(record) * size_t(view.tokens) + size_t(token)];
    }
    const char *base;
};

static CardForms prepare(const cuda_inputs &in, int tokens, int width, unsigned forms)
{
    CardForms card;
    DeviceArray<char> storage(cuda_activations_bytes(tokens, width, forms));
    cuda_activations_layout(&card.view, storage.data, tokens, width, forms);
    succeed(cuda_prepare(&in, &card.view, nullptr), "cuda_prepare");
    card.bytes = storage.get();
    card.base = storage.data;
    return card;
}

static void expect_q8_256(const CardForms &card, const CpuForms &cpu, int b, int t)
{
    const auto &got = card.at<cuda_record_q8_256>(&cuda_activations::q8_256, b, t);
    const size_t row = size_t(b) * size_t(cpu.view.tokens) + size_t(t);
    const int8_t *q = cpu.view.q8_256.q + row * 256;
    expect(same_bits(got.scale, cpu.view.q8_256.scale[row]), "256: token %d, block %d: scale %g", t,
           b, double(got.scale));
    for (int g = 0; g < 16; g++) {
        int sum = 0;
        for (int i = 16 * g; i < 16 * g + 16; i++) {
            sum += q[activation_place(i)];
            expect(got.q[i] == q[activation_place(i)], "256: token %d, block %d: q[%d] is %d", t, b,
                   i, got.q[i]);
        }
        const float sum_on_card = half_to_float(got.sums[g]);
        expect(sum_on_card == float(sum), "256: token %d, block %d: sum %d is %g, not %d", t, b, g,
               double(sum_on_card), sum);
    }
}

static void expect_q8_32(const CardForms &card, const CpuForms &cpu, int b, int t)
{
    const auto &got = card.at<cuda_record_q8_32>(&cuda_activations::q8_32, b, t);
    const size_t row = size_t(b) * size_t(cpu.view.tokens) + size_t(t);
    const int8_t *q = cpu.view.q8_32.q + row * 256;
    for (int j = 0; j < 8; j++) {
        int sum = 0;
        for (int i = 32 * j; i < 32 * j + 32; i++) {
            sum += q[activation_place(i)];
            expect(got.q[i] == q[activation_place(i)], "32: token %d, block %d: q[%d] is %d", t, b,
                   i, got.q[i]);
        }
        expect(got.sum[j] == sum, "32: token %d, block %d: sum %d is %d", t, b, j, got.sum[j]);
        expect(same_bits(got.scale[j], cpu.view.q8_32.scale[row * 8 + size_t(j)]),
               "32: token %d, block %d: scale %d is %g", t, b, j, double(got.scale[j]));
    }
}

/* The power of two by which a row is divided for f16. */
static float f16_unit(const float *x, int width)
{
    float most = 0;
    for (int i = 0; i < width; i++)
        most = std::isfinite(x[i]) ? std::fmax(most, std::fabs(x[i])) : INFINITY;
    if (most == 0 || std::isinf(most))
        return 1;
    return std::ldexp(1.0f, std::max(std::ilogb(most), -112) - 14);
}

static bool same_half(uint16_t a, uint16_t b)
{
    return a == b || ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00);
}

/* The forms of floats, filled up with zeros. */
static void expect_floats(const CardForms &card, const float *x, int width, int t)
{
    const float unit = f16_unit(x, width);
    for (int i = 0; i < (width + 63) / 64 * 64; i++) {
        const float value = i < width ? x[i] : 0.0f;
        const auto &f16 = card.at<cuda_record_half>(&cuda_activations::f16, i / 64, t);
        const auto &bf16 = card.at<cuda_record_half>(&cuda_activations::bf16, i / 64, t);
        const uint16_t bf16_bits = bfloat_from_float(value);
        expect(same_bits(f16.unit, unit) && bf16.unit == 1.0f, "f16: token %d: unit %g, not %g", t,
               double(f16.unit), double(unit));
        expect(same_half(f16.x[i % 64], half_from_float(value / unit)),
               "f16: token %d, value %d: %04x", t, i, f16.x[i % 64]);
        expect(bf16.x[i % 64] == bf16_bits || value != value,
               "bf16: token %d, value %d: %04x, not %04x", t, i, bf16.x[i % 64], bf16_bits);
    }
    for (int i = 0; i < (width + 31) / 32 * 32; i++) {
        const auto &f32 = card.at<cuda_record_f32>(&cuda_activations::f32, i / 32, t);
        expect(same_bits(f32.x[i % 32], i < width ? x[i] : 0.0f), "f32: token %d, value %d: %g", t,
               i, double(f32.x[i % 32]));
    }
}

/* All forms of rows x, which stand in the card's forms as tokens. */
static void expect_forms(const CardForms &card, const Floats &x, int tokens, int width)
{
    const CpuForms cpu(x, tokens, width);
    for (int t = 0; t < tokens; t++) {
        for (int b = 0; b < cpu.view.blocks; b++) {
            expect_q8_256(card, cpu, b, t);
            expect_q8_32(card, cpu, b, t);
        }
        expect_floats(card, &x[size_t(t) * size_t(width)], width, t);
    }
}

static const int widths[] = {1, 13, 32, 255, 256, 300, 768, 2050};

/* Breaks with a value, a scale or a sum that is not the CPU's; at row ends, with
 * NaN, infinities, zeros and tiny or huge values. */
DEVICE_TEST(plain_rows_have_the_cpus_bits)
{
    for (int kind = 0; kind < INPUTS_KINDS; kind++)
        for (const int width : widths) {
            const Floats x = random_rows(case_inputs(kind), 3, width);
            const DeviceArray<float> rows(x);
            cuda_inputs in = {};
            in.x = rows.data;
            in.rows = 3;
            expect_forms(prepare(in, 3, width, ALL_FORMS), x, 3, width);
        }
}

/* Breaks if the sum of squares is made in another order, or a weight is not its value's. */
DEVICE_TEST(normed_rows_have_the_cpus_bits)
{
    cpu_kernels kernels;
    cpu_kernels_init(&kernels, CPU_REF);
    for (int kind = 0; kind < INPUTS_KINDS; kind++)
        for (const int width : widths) {
            const Floats x = random_rows(case_inputs(kind), 2, width);
            const Floats weights = random_rows(INPUTS_NORMAL, 1, width);
            Floats normed(x.size());
            for (size_t at = 0; at < x.size(); at += size_t(width))
                kernels.rms_norm(&x[at], weights.data(), 1e-5f, width, &normed[at]);
            const DeviceArray<float> rows(x), norm(weights);
            cuda_inputs in = {};
            in.x = rows.data;
            in.norm = norm.data;
            in.eps = 1e-5f;
            in.rows = 2;
            expect_forms(prepare(in, 2, width, ALL_FORMS), normed, 2, width);
        }
}

/* Breaks if a row's copy in shared memory is not asked for where 48 KB hold it, but not beside
 * what the kernel has there besides, or where they do not. */
DEVICE_TEST(wide_rows_are_normed)
{
    cpu_kernels kernels;
    cpu_kernels_init(&kernels, CPU_REF);
    for (const int width : {12032, 12288, 12289, int(CUDA_NORM_MAX_WIDTH)}) {
        const Floats x = random_rows(INPUTS_NORMAL, 1, width);
        const Floats weights = random_rows(INPUTS_NORMAL, 1, width);
        Floats normed(x.size());
        kernels.rms_norm(x.data(), weights.data(), 1e-5f, width, normed.data());
        const DeviceArray<float> rows(x), norm(weights);
        cuda_inputs in = {};
        in.x = rows.data;
        in.norm = norm.data;
        in.eps = 1e-5f;
        in.rows = 1;
        expect_forms(prepare(in, 1, width, ALL_FORMS), normed, 1, width);
    }
}

/* Breaks if silu differs from the CPU's in a bit. */
DEVICE_TEST(gated_rows_have_the_cpus_bits)
{
    cpu_kernels kernels;
    cpu_kernels_init(&kernels, CPU_REF);
    for (int kind = 0; kind < INPUTS_KINDS; kind++)
        for (const int width : widths) {
            const Floats gate = random_rows(case_inputs(kind), 2, width);
            const Floats up = random_rows(INPUTS_NORMAL, 2, width);
            Floats product(gate.size());
            for (size_t at = 0; at < gate.size(); at += size_t(width))
                kernels.gated(&gate[at], &up[at], width, &product[at]);
            const DeviceArray<float> gates(gate), ups(up);
            cuda_inputs in = {};
            in.x = gates.data;
            in.up = ups.data;
            in.rows = 2;
            expect_forms(prepare(in, 2, width, ALL_FORMS), product, 2, width);
        }
}

/* Breaks if a row does not reach a slot of its own, or reaches another's. */
DEVICE_TEST(rows_become_the_tokens_of_their_slots)
{
    const int rows = 5, used = 3, width = 300;
    const int32_t slots[rows * used] = {7, 0, 14, 3, 9, 1, 2, 13, 5, 4, 12, 6, 11, 8, 10};
    const Floats x = random_rows(INPUTS_NORMAL, rows, width);
    Floats by_slot(size_t(rows * used * width));
    for (int v = 0; v < rows * used; v++)
        std::copy_n(&x[size_t(v / used * width)], width, &by_slot[size_t(slots[v] * width)]);
    const DeviceArray<float> device(x);
    const DeviceArray<int32_t> places(std::vector<int32_t>(slots, slots + rows * used));
    cuda_inputs in = {};
    in.x = device.data;
    in.rows = rows;
    in.slots = places.data;
    in.used = used;
    expect_forms(prepare(in, rows * used, width, ALL_FORMS), by_slot, rows * used, width);
}

/* Breaks if a form is written that was not asked for, or one is missed. */
DEVICE_TEST(each_form_alone)
{
    const Floats x = random_rows(INPUTS_NORMAL, 2, 300);
    const DeviceArray<float> rows(x);
    cuda_inputs in = {};
    in.x = rows.data;
    in.rows = 2;
    const CpuForms cpu(x, 2, 300);
    for (int t = 0; t < 2; t++)
        for (int b = 0; b < 2; b++) {
            expect_q8_256(prepare(in, 2, 300, CUDA_FORM_Q8_256), cpu, b, t);
            expect_q8_32(prepare(in, 2, 300, CUDA_FORM_Q8_32), cpu, b, t);
        }
    for (const unsigned form : {CUDA_FORM_F16, CUDA_FORM_BF16, CUDA_FORM_F32})
        prepare(in, 2, 300, form);
}

/* Breaks if a wrong call is launched. */
DEVICE_TEST(wrong_inputs_are_refused)
{
    const DeviceArray<float> rows(Floats(600));
    DeviceArray<char> storage(cuda_activations_bytes(2, 300, ALL_FORMS));
    cuda_activations out;
    cuda_activations_layout(&out, storage.data, 2, 300, ALL_FORMS);
    cuda_inputs in = {};
    in.x = in.norm = in.up = rows.data;
    in.rows = 2;
    expect(cuda_prepare(&in, &out, nullptr) != 0, "norm and gate at once");
    in.norm = in.up = nullptr;
    in.rows = 3;
    expect(cuda_prepare(&in, &out, nullptr) != 0, "three rows as two tokens");
    in.rows = 0;
    out.tokens = 0;
    succeed(cuda_prepare(&in, &out, nullptr), "no rows");
}

/* Breaks if a type with kernels has no form, or storage is counted wrongly. */
DEVICE_TEST(forms_of_types)
{
    for (uint32_t type = 0; type < DTYPE_LIMIT; type++) {
        const unsigned form = cuda_forms_of(1ULL << type), cpu = activation_form_of(type);
        expect(!form == !cpu, "type %u: form %u, the CPU's is %u", type, form, cpu);
        expect((cpu == ACTIVATION_Q8_256) == (form == CUDA_FORM_Q8_256) &&
                   (cpu == ACTIVATION_Q8_32) == (form == CUDA_FORM_Q8_32),
               "type %u: form %u, the CPU's is %u", type, form, cpu);
    }
    expect(cuda_activations_bytes(3, 300, CUDA_FORM_Q8_256) == 2 * 3 * sizeof(cuda_record_q8_256),
           "bytes");
}
