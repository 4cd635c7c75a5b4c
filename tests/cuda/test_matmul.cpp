/*
 * test_matmul.cpp: products on the card against the CPU's, in every bit but with
 * F16 and BF16 weights: all types, kinds of inputs and of weights, sizes off the
 * tiles, several products in a launch, experts; and embedding rows.
 */
#include "cpu_reference.h"
#include "cuda_matmul.h"
#include "device_test.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

using namespace device_test;
typedef std::vector<float> Floats;
typedef std::vector<uint8_t> Bytes;

static const uint32_t types[] = {
    DTYPE_F32,   DTYPE_F16,     DTYPE_BF16,  DTYPE_Q4_0,   DTYPE_Q4_1,
    DTYPE_Q5_0,  DTYPE_Q5_1,    DTYPE_Q8_0,  DTYPE_Q2_K,   DTYPE_Q3_K,
    DTYPE_Q4_K,  DTYPE_Q5_K,    DTYPE_Q6_K,  DTYPE_IQ4_NL, DTYPE_IQ4_XS,
    DTYPE_IQ3_S, DTYPE_IQ3_XXS, DTYPE_IQ2_S, DTYPE_IQ2_XS, DTYPE_IQ2_XXS,
    DTYPE_IQ1_S, DTYPE_IQ1_M,   DTYPE_MXFP4, DTYPE_TQ1_0,  DTYPE_TQ2_0};

/* One product: sizes, and what it is made from. */
struct Case {
    uint32_t type;
    int rows, width, tokens;
    case_inputs inputs;
    case_weights weights;
    bool bias, accumulate;
};

static Floats random_floats(case_inputs kind, int rows, int width)
{
    Floats x(size_t(rows) * size_t(width));
    uint64_t state = random_bits();
    for (int t = 0; t < rows; t++)
        case_fill_inputs(&state, kind, t, width, &x[size_t(t) * size_t(width)]);
    return x;
}

static Bytes random_weights(uint32_t type, case_weights kind, int rows, int width)
{
    Bytes bytes(size_t(rows) * dtype_row_bytes(type, uint64_t(width)));
    uint64_t state = random_bits();
    case_fill_weights(&state, type, kind, bytes.size(), bytes.data());
    return bytes;
}

/* A matrix, what is added to its products, and where they go, with a gap behind each token. */
struct Product {
    Product(uint32_t its_type, case_weights kind, int its_rows, int width, int tokens,
            bool has_bias, bool accumulates, int experts = 1)
        : type(its_type), rows(its_rows), step(size_t(rows) + 3),
          weights(random_weights(type, kind, rows * experts, width)),
          bias(random_floats(INPUTS_NORMAL, 1, rows)),
          before(random_floats(INPUTS_NORMAL, tokens, int(step))), device_weights(weights),
          device_bias(bias), device_out(before)
    {
        product.type = type;
        product.rows = rows;
        product.weights = device_weights.data;
        product.bias = has_bias ? device_bias.data : nullptr;
        product.out = device_out.data;
        product.out_step = step;
        product.accumulate = accumulates;
    }

    uint32_t type;
    int rows;
    size_t step;
    Bytes weights;
    Floats bias, before;
    DeviceArray<uint8_t> device_weights;
    DeviceArray<float> device_bias, device_out;
    cuda_product product;
};

/* Rows of inputs, on the host and prepared on the card. */
struct Inputs {
    Inputs(Floats rows, int tokens, int its_width, unsigned forms)
        : x(std::move(rows)), width(its_width), device(x),
          storage(cuda_activations_bytes(tokens, width, forms))
    {
        cuda_inputs in = {};
        in.x = device.data;
        in.rows = tokens;
        cuda_activations_layout(&view, storage.data, tokens, width, forms);
        succeed(cuda_prepare(&in, &view, nullptr), "cuda_prepare");
    }

    Floats x;
    int width;
    DeviceArray<float> device;
    DeviceArray<char> storage;
    cuda_activations view;
};

/* What the CPU computes for `count` tokens from `first` on with expert e's matrix. */
static void multiply_on_cpu(const Product &p, const Inputs &in, int e, int first, int count,
                            Floats &out)
{
    struct alignas(64) Line {
        char bytes[64];
    };
    const unsigned form = activation_form_of(p.type);
    std::vector<Line> storage(activations_bytes(count, in.width, form) / 64 + 1);
    std::vector<Line> scratch(matmul_scratch_bytes(count) / 64 + 1);
    activations view;
    cpu_kernels kernels;
    matmul_item item = {};
    cpu_kernels_init(&kernels, CPU_REF);
    activations_layout(&view, storage.data(), count, in.width, form);
    for (int t = 0; t < count; t++)
        kernels.prepare(&in.x[size_t(first + t) * size_t(in.width)], t, &view);
    item.row_bytes = dtype_row_bytes(p.type, uint64_t(in.width));
    item.weights = p.weights.data() + size_t(e) * size_t(p.rows) * item.row_bytes;
    item.rows = p.rows;
    item.in = &view;
    item.tokens = count;
    item.out = &out[size_t(first) * p.step];
    item.out_step = p.step;
    item.bias = p.product.bias ? p.bias.data() : nullptr;
    item.accumulate = p.product.accumulate;
    item.scratch = scratch.data();
    kernels.matmul[p.type](&item);
}

static void expect_equal(const Floats &want, const Floats &got, size_t step, const char *what)
{
    const size_t at = case_first_difference(want.data(), got.data(), want.size());
    if (at == want.size())
        return;
    expect(false, "%s: token %zu, row %zu: %.9g, not %.9g", what, at / step, at % step,
           double(got[at]), double(want[at]));
}

static const char *describe(const Case &c)
{
    static char text[160];
    snprintf(text, sizeof text,
             "type %u, %d rows, width %d, %d tokens, inputs %d, weights %d, bias %d, accumulate %d",
             c.type, c.rows, c.width, c.tokens, c.inputs, c.weights, c.bias, c.accumulate);
    return text;
}

/* An input as a product with F16 or BF16 weights takes it; unit: of its row. */
static double rounded_input(uint32_t type, float x, float unit)
{
    if (type == DTYPE_BF16)
        return double(bfloat_to_float(bfloat_from_float(x)));
    return double(half_to_float(half_from_float(x / unit))) * double(unit);
}

static float row_unit(const float *x, int width)
{
    float most = 0;
    for (int i = 0; i < width; i++)
        most = std::fmax(most, std::fabs(x[i]));
    return most == 0 ? 1 : std::ldexp(1.0f, std::ilogb(most) - 14);
}

/* Sums of a tensor core are f32 of unknown order, each rounding may cut: one unit
 * of 2^-23 of the sum of magnitudes per product of 16, and some for unit, bias and
 * accumulation. */
static void expect_near(const Product &p, const Inputs &in, const Floats &got, const char *what)
{
    const int width = in.width, tokens = in.view.tokens;
    const size_t row_bytes = dtype_row_bytes(p.type, uint64_t(width));
    Floats w(static_cast<size_t>(width));
    for (int r = 0; r < p.rows; r++) {
        dequantize_row(p.type, &p.weights[size_t(r) * row_bytes], width, w.data());
        for (int t = 0; t < tokens; t++) {
            const float *x = &in.x[size_t(t) * size_t(width)], unit = row_unit(x, width);
            const size_t at = size_t(t) * p.step + size_t(r);
            double sum = 0, size = 0;
            for (int i = 0; i < width; i++) {
                const double product = double(w[size_t(i)]) * rounded_input(p.type, x[i], unit);
                sum += product;
                size += std::fabs(product);
            }
            if (p.product.bias)
                sum += double(p.bias[size_t(r)]), size += std::fabs(double(p.bias[size_t(r)]));
            if (p.product.accumulate)
                sum += double(p.before[at]), size += std::fabs(double(p.before[at]));
            expect(std::fabs(double(got[at]) - sum) <= (width / 16 + 20) * 0x1p-23 * size + 1e-30,
                   "%s: token %d, row %d: %.9g, not %.9g", what, t, r, double(got[at]), sum);
        }
    }
}

static void check_case(const Case &c)
{
    const Inputs in(random_floats(c.inputs, c.tokens, c.width), c.tokens, c.width,
                    cuda_forms_of(1ULL << c.type));
    const Product p(c.type, c.weights, c.rows, c.width, c.tokens, c.bias, c.accumulate);
    succeed(cuda_matmul(&in.view, &p.product, 1, nullptr), describe(c));
    const Floats got = p.device_out.get();
    if (c.type == DTYPE_F16 || c.type == DTYPE_BF16) {
        expect_near(p, in, got, describe(c));
        return;
    }
    Floats want = p.before;
    multiply_on_cpu(p, in, 0, 0, c.tokens, want);
    expect_equal(want, got, p.step, describe(c));
}

/* A width with a tail where the type allows one. */
static int width_of(uint32_t type, int blocks)
{
    const int block = int(dtype_info(type)->block_weights);
    return block == 256 ? 256 * blocks : block == 32 ? 256 * blocks - 96 : 256 * blocks - 83;
}

/* Breaks with a wrong decoder, fragment, scale, minimum or sum: every kind of input
 * meets two kinds of weight. */
DEVICE_TEST(every_type_has_the_cpus_bits)
{
    for (const uint32_t type : types)
        for (int inputs = 0; inputs < INPUTS_KINDS; inputs++) {
            const bool floats = type == DTYPE_F16 || type == DTYPE_BF16;
            if (floats && inputs >= INPUTS_SPARSE)
                continue;
            const int kinds = floats ? WEIGHTS_ANY_BITS : WEIGHTS_KINDS;
            for (const int weights : {inputs % kinds, (inputs + 1 + inputs / kinds) % kinds})
                check_case({type, 19, width_of(type, 2), 9, case_inputs(inputs),
                            case_weights(weights), inputs % 2 == 1, weights % 2 == 1});
        }
}

/* Breaks at an edge of a tile: rows and tokens just below, at and above those of all
 * tiles, one block to many; large ones for a type of each kind of kernel. */
DEVICE_TEST(sizes_off_the_tiles)
{
    static const int small[][3] = {{1, 1, 1},  {7, 8, 3},   {15, 16, 6},
                                   {33, 9, 4}, {17, 17, 3}, {65, 31, 1}};
    static const int large[][3] = {{63, 33, 5},  {96, 63, 1},  {129, 65, 2},
                                   {97, 161, 1}, {40, 148, 1}, {200, 16, 1}};
    for (const uint32_t type : types)
        for (const int *size : small)
            check_case({type, size[0], width_of(type, size[2]), size[1], INPUTS_NORMAL,
                        WEIGHTS_RANDOM, true, true});
    for (const uint32_t type : {DTYPE_F32, DTYPE_F16, DTYPE_Q8_0, DTYPE_Q5_1, DTYPE_Q2_K,
                                DTYPE_Q3_K, DTYPE_Q4_K, DTYPE_Q6_K, DTYPE_IQ3_S})
        for (const int *size : large)
            check_case({type, size[0], width_of(type, size[2]), size[1], INPUTS_NORMAL,
                        WEIGHTS_RANDOM, true, true});
}

/* Breaks if a tile of 128 tokens, which launches of many blocks have, misplaces a row, a token
 * or a piece of the width. */
DEVICE_TEST(tiles_of_128_tokens)
{
    check_case({DTYPE_F16, 64 * 128 - 37, 72, 250, INPUTS_NORMAL, WEIGHTS_RANDOM, true, true});
    check_case({DTYPE_BF16, 128 * 128 - 5, 33, 127, INPUTS_NORMAL, WEIGHTS_RANDOM, false, false});
}

/* Breaks if a row of floats that is no multiple of 16 bytes long is misread, or one that is. */
DEVICE_TEST(float_rows_of_any_length)
{
    for (const uint32_t type : {DTYPE_F32, DTYPE_F16, DTYPE_BF16})
        for (int width = 1; width < 140; width += width < 20 ? 1 : 7)
            check_case({type, 5, width, 3, INPUTS_NORMAL, WEIGHTS_RANDOM, false, false});
}

/* Breaks if rows of floats on multiples of 16 bytes, which have a way of their own, are
 * misread in any row, token or part of the width. */
DEVICE_TEST(float_rows_on_boundaries)
{
    for (const uint32_t type : {DTYPE_F32, DTYPE_F16, DTYPE_BF16})
        for (const int inputs : {INPUTS_NORMAL, INPUTS_LARGEST, INPUTS_UNIFORM})
            for (const auto &size : {std::pair(19, 9), std::pair(70, 40), std::pair(129, 65)})
                check_case({type, size.first, 328, size.second, case_inputs(inputs), WEIGHTS_RANDOM,
                            true, false});
}

/* Breaks if products of a launch get each other's rows, bias or outputs, or types
 * of one call get each other's inputs. */
DEVICE_TEST(several_products_in_a_call)
{
    const uint32_t mixed[] = {DTYPE_Q4_K, DTYPE_Q6_K, DTYPE_Q4_K, DTYPE_Q8_0};
    const int rows[] = {130, 40, 33, 70};
    for (const int tokens : {5, 70}) {
        uint64_t set = 0;
        for (const uint32_t type : mixed)
            set |= 1ULL << type;
        const Inputs in(random_floats(INPUTS_NORMAL, tokens, 512), tokens, 512, cuda_forms_of(set));
        std::vector<std::unique_ptr<Product>> products;
        cuda_product list[CUDA_MAX_PRODUCTS];
        for (int i = 0; i < CUDA_MAX_PRODUCTS; i++) {
            products.push_back(std::make_unique<Product>(mixed[i], WEIGHTS_RANDOM, rows[i], 512,
                                                         tokens, i % 2 == 0, i % 2 == 1));
            list[i] = products.back()->product;
        }
        succeed(cuda_matmul(&in.view, list, CUDA_MAX_PRODUCTS, nullptr), "cuda_matmul");
        for (const auto &p : products) {
            Floats want = p->before;
            multiply_on_cpu(*p, in, 0, 0, tokens, want);
            expect_equal(want, p->device_out.get(), p->step, "one of four");
        }
    }
}

/* Tokens of each expert: none, one, more than a tile. */
static std::vector<int32_t> random_first(int experts, int tokens)
{
    std::vector<int32_t> first(size_t(experts) + 1);
    first.back() = tokens;
    for (int e = 1; e < experts; e++)
        first[size_t(e)] = int32_t(random_bits() % uint32_t(tokens + 1));
    std::sort(first.begin(), first.end());
    return first;
}

static void check_experts(uint32_t type, int experts, int tokens)
{
    const int width = width_of(type, 1), rows = 21;
    const std::vector<int32_t> first = random_first(experts, tokens);
    const DeviceArray<int32_t> device_first(first);
    const Inputs in(random_floats(INPUTS_NORMAL, tokens, width), tokens, width,
                    cuda_forms_of(1ULL << type));
    const Product a(type, WEIGHTS_RANDOM, rows, width, tokens, false, true, experts);
    const Product b(type, WEIGHTS_RANDOM, 2, width, tokens, false, false, experts);
    const cuda_product list[] = {a.product, b.product};
    for (const int most : {tokens, tokens / 4 + 1}) {
        cuda_visits visits = {device_first.data, experts, 0};
        for (int e = 0; e < experts; e++)
            visits.most = std::max(visits.most, first[size_t(e) + 1] - first[size_t(e)]);
        visits.most = std::max(visits.most, most);
        succeed(cudaMemcpy(a.device_out.data, a.before.data(), a.before.size() * sizeof(float),
                           cudaMemcpyHostToDevice),
                "cudaMemcpy");
        succeed(cuda_matmul_visits(&in.view, &visits, list, 2, nullptr), "cuda_matmul_visits");
        for (const Product *p : {&a, &b}) {
            Floats want = p->before;
            for (int e = 0; e < experts; e++)
                if (first[size_t(e)] < first[size_t(e) + 1])
                    multiply_on_cpu(*p, in, e, first[size_t(e)],
                                    first[size_t(e) + 1] - first[size_t(e)], want);
            expect_equal(want, p->device_out.get(), p->step, "experts");
        }
    }
}

/* Breaks if a token meets another expert's matrix, or a tile or an expert is left out. */
DEVICE_TEST(experts_meet_their_tokens)
{
    for (const uint32_t type : types)
        if (type != DTYPE_F16 && type != DTYPE_BF16)
            check_experts(type, 5, 23);
    for (const int experts : {1, 31, 32, 33, 70})
        for (const int tokens : {1, 40, 100})
            check_experts(DTYPE_Q4_K, experts, tokens);
}

/* Breaks if a decoder is wrong, or a row is read past its end. */
DEVICE_TEST(embedding_rows_have_the_cpus_bits)
{
    const std::vector<int32_t> ids = {4, 0, 6, 6, 3};
    for (const uint32_t type : types)
        for (int kind = 0; kind < WEIGHTS_KINDS; kind++)
            for (const int blocks : {1, 3}) {
                const int width = width_of(type, blocks);
                const Bytes weights = random_weights(type, case_weights(kind), 7, width);
                const DeviceArray<uint8_t> device(weights);
                const DeviceArray<int32_t> device_ids(ids);
                const DeviceArray<float> x(ids.size() * size_t(width));
                const cuda_embedding embedding = {
                    type, width, device.data, device_ids.data, int(ids.size()), x.data};
                Floats want(x.size);
                succeed(cuda_embed(&embedding, nullptr), "cuda_embed");
                for (size_t t = 0; t < ids.size(); t++)
                    dequantize_row(
                        type, &weights[size_t(ids[t]) * dtype_row_bytes(type, uint64_t(width))],
                        width, &want[t * size_t(width)]);
                expect_equal(want, x.get(), size_t(width), dtype_info(type)->name);
            }
}

/* Breaks if a wrong call is launched. */
DEVICE_TEST(wrong_products_are_refused)
{
    const Inputs in(random_floats(INPUTS_NORMAL, 2, 256), 2, 256, CUDA_FORM_Q8_256);
    const Product p(DTYPE_Q4_K, WEIGHTS_RANDOM, 4, 256, 2, false, false);
    cuda_product wrong = p.product;
    cuda_activations odd = in.view;
    wrong.type = DTYPE_Q8_0;
    expect(cuda_matmul(&in.view, &wrong, 1, nullptr) != 0, "a form that is missing");
    wrong.type = 9;
    expect(cuda_matmul(&in.view, &wrong, 1, nullptr) != 0, "a type without kernels");
    wrong = p.product;
    wrong.out_step = 3;
    expect(cuda_matmul(&in.view, &wrong, 1, nullptr) != 0, "outputs that overlap");
    odd.width = 250;
    expect(cuda_matmul(&odd, &p.product, 1, nullptr) != 0, "a width of no whole blocks");
    expect(cuda_matmul(&in.view, &p.product, 0, nullptr) != 0, "no products");
    odd = in.view;
    odd.tokens = 0;
    succeed(cuda_matmul(&odd, &p.product, 1, nullptr), "no tokens");
}
