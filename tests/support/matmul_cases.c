/* matmul_cases.c: see the header. */
#include "matmul_cases.h"

#include "blocks.h"
#include "compiler.h"
#include "prepare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t case_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int case_below(uint64_t *state, int count)
{
    return (int)(case_random(state) % (uint64_t)count);
}

static float normal(uint64_t *state)
{
    int sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += case_below(state, 1024);
    }
    return (float)(sum - 6138) / 1024.0f;
}

/* Value k of sub-blocks of `size` that each hold one 127 and sum to `sum`: so
 * max|x| is 127 and quantization changes nothing. */
static float even_share(int k, int size, int sum)
{
    int rest = sum - 127, at = k % size;
    return at == 0 ? 127.0f : (float)(rest / (size - 1) + (at <= rest % (size - 1)));
}

/* The same where of sixteen values those in each half have this sum, and so have those at places 0
 * and 1, and at 2 and 3, of each four. */
static float even_halves(int k, int sum)
{
    return even_share(k % 16 < 8 ? k : k ^ 2, 8, sum);
}

static float sparse(uint64_t *state, int k)
{
    static const float odd[] = {1e30f, 1e-30f, 1e-38f, 0x1p-149f, 3e38f, -1e-37f, -0.0f};
    if (k / 256 % 3 == 1 || case_below(state, 4)) {
        return 0.0f;
    }
    return k / 64 % 5 == 2 ? odd[case_below(state, ARRAY_COUNT(odd))] : normal(state);
}

static float input_value(uint64_t *state, enum case_inputs kind, int k, float sign)
{
    static const float not_finite[] = {NAN, INFINITY, -INFINITY};
    switch (kind) {
    case INPUTS_LARGEST:
        return sign * 127;
    case INPUTS_RANDOM_SIGN:
        return case_below(state, 2) ? 127.0f : -127.0f;
    case INPUTS_UNIFORM:
        return (float)(case_below(state, 2001) - 1000) * 0.001f;
    case INPUTS_EDGE_Q4_K: /* 15 * 2184 = 32760 fits int16, 15 * 2185 does not */
        return sign * even_share(k, 32, 2184);
    case INPUTS_OVER_Q4_K:
        return sign * even_share(k, 32, 2185);
    case INPUTS_EDGE_Q5_K: /* 31 * 1057 = 32767 */
        return sign * even_share(k, 32, 1057);
    case INPUTS_OVER_Q5_K:
        return sign * even_share(k, 32, 1058);
    case INPUTS_EDGE_Q6_K: /* 32 * 1023 = 32736 */
        return sign * even_share(k, 16, 1023);
    case INPUTS_OVER_Q6_K:
        return sign * even_share(k, 16, 1024);
    case INPUTS_EDGE_IQ2: /* 54 * 606 = 32724, 54 * 607 = 32778 */
        return sign * even_halves(k, 606);
    case INPUTS_OVER_IQ2:
        return sign * even_halves(k, 607);
    case INPUTS_SPARSE:
        return sparse(state, k);
    case INPUTS_NONFINITE:
        return case_below(state, 500) ? normal(state) : not_finite[case_below(state, 3)];
    default:
        return normal(state);
    }
}

void case_fill_inputs(uint64_t *state, enum case_inputs kind, int token, int width, float *x)
{
    /* A power of two per token, so that scales differ and edges stay exact. */
    float unit = ldexpf(1.0f, case_below(state, 9) - 4), sign = token % 2 ? -1.0f : 1.0f;
    for (int k = 0; k < width; k++) {
        x[k] = unit * input_value(state, kind, k, sign);
    }
}

/* A half float: of ordinary size, or any bits. */
static uint16_t half_scale(uint64_t *state, enum case_weights kind)
{
    uint16_t any = (uint16_t)case_random(state);
    return kind == WEIGHTS_ANY_BITS ? any : (uint16_t)(0x0400 + any % 0x1400);
}

/* A quant byte: random, or `largest`, `smallest`, or one of both. */
static uint8_t quant_byte(uint64_t *state, enum case_weights kind, int largest, int smallest)
{
    switch (kind) {
    case WEIGHTS_LARGEST:
        return (uint8_t)largest;
    case WEIGHTS_SMALLEST:
        return (uint8_t)smallest;
    case WEIGHTS_EXTREMES:
        return (uint8_t)(case_below(state, 2) ? largest : smallest);
    default:
        return (uint8_t)case_random(state);
    }
}

static void fill_bytes(uint64_t *state, enum case_weights kind, int largest, int smallest,
                       size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)out)[i] = quant_byte(state, kind, largest, smallest);
    }
}

/* A run of bytes of a block, and the bytes that make its weights largest and
 * smallest: of the two ends of a weight's range `largest` is the one of larger
 * magnitude. Scales stay at their largest for both. */
struct part {
    uint8_t at, size, largest, smallest;
    bool scales;
};

#define PART(type, field, largest, smallest)                                                       \
    {                                                                                              \
        offsetof(struct block_##type, field), sizeof(((struct block_##type *)0)->field), largest,  \
            smallest, false                                                                        \
    }
#define SCALES(type, field, largest, smallest)                                                     \
    {                                                                                              \
        offsetof(struct block_##type, field), sizeof(((struct block_##type *)0)->field), largest,  \
            smallest, true                                                                         \
    }

enum { MOST_PARTS = 4 };

static const struct part parts_of[DTYPE_LIMIT][MOST_PARTS] = {
    [DTYPE_Q4_0] = {PART(q4_0, q, 0, 0xff)},
    [DTYPE_Q4_1] = {PART(q4_1, q, 0xff, 0)},
    [DTYPE_Q5_0] = {PART(q5_0, high, 0, 0xff), PART(q5_0, q, 0, 0xff)},
    [DTYPE_Q5_1] = {PART(q5_1, high, 0xff, 0), PART(q5_1, q, 0xff, 0)},
    [DTYPE_Q8_0] = {PART(q8_0, q, 0x80, 0x7f)},
    [DTYPE_IQ4_NL] = {PART(iq4_nl, q, 0, 0xff)},
    [DTYPE_Q2_K] = {SCALES(q2_k, scales, 0xff, 0), PART(q2_k, q, 0xff, 0)},
    [DTYPE_Q3_K] = {SCALES(q3_k, scales, 0, 0xff), PART(q3_k, high, 0, 0xff),
                    PART(q3_k, q, 0, 0xff)},
    [DTYPE_Q4_K] = {SCALES(q4_k, scales, 0xff, 0), PART(q4_k, q, 0xff, 0)},
    [DTYPE_Q5_K] = {SCALES(q5_k, scales, 0xff, 0), PART(q5_k, high, 0xff, 0),
                    PART(q5_k, q, 0xff, 0)},
    [DTYPE_Q6_K] = {SCALES(q6_k, scales, 0x80, 0x7f), PART(q6_k, low, 0, 0xff),
                    PART(q6_k, high, 0, 0xff)},
    [DTYPE_IQ4_XS] = {SCALES(iq4_xs, scales_high, 0, 0xff), SCALES(iq4_xs, scales_low, 0, 0xff),
                      PART(iq4_xs, q, 0, 0xff)},
    /* The last entries of the grids have the largest magnitudes. */
    [DTYPE_IQ3_S] = {SCALES(iq3_s, scales, 0xff, 0), PART(iq3_s, q, 0xff, 0xff),
                     PART(iq3_s, high, 0xff, 0xff), PART(iq3_s, signs, 0, 0xff)},
    [DTYPE_IQ3_XXS] = {PART(iq3_xxs, q, 0xff, 0xff), PART(iq3_xxs, tail, 0xf0, 0xff)},
    [DTYPE_IQ2_S] = {SCALES(iq2_s, scales, 0xff, 0), PART(iq2_s, q, 0xff, 0xff),
                     PART(iq2_s, high, 0xff, 0xff), PART(iq2_s, signs, 0, 0xff)},
    [DTYPE_IQ2_XS] = {SCALES(iq2_xs, scales, 0xff, 0), PART(iq2_xs, q, 0xff, 0x01)},
    [DTYPE_IQ2_XXS] = {PART(iq2_xxs, part, 0xff, 0xf0)},
    [DTYPE_IQ1_S] = {PART(iq1_s, q, 0xff, 0), PART(iq1_s, high, 0xff, 0)},
    [DTYPE_IQ1_M] = {SCALES(iq1_m, scales, 0xff, 0), PART(iq1_m, q, 0xff, 0),
                     PART(iq1_m, high, 0x77, 0x88)},
    [DTYPE_MXFP4] = {PART(mxfp4, q, 0x77, 0xff)},
    [DTYPE_TQ1_0] = {PART(tq1_0, q, 0xff, 0), PART(tq1_0, high, 0xff, 0)},
    [DTYPE_TQ2_0] = {PART(tq2_0, q, 0xff, 0)},
};

/* Scales of ordinary size, or any bits; those that lie in nibbles or are an exponent as large
 * as the half floats. */
static void fill_scales(uint64_t *state, const struct dtype_info *info, enum case_weights kind,
                        uint8_t *block)
{
    uint16_t first = half_scale(state, kind), second = half_scale(state, kind);
    uint8_t *at = block + info->first_scale;

    if (info->scales == SCALES_HALVES) {
        memcpy(at, &first, sizeof(first));
        memcpy(block + info->second_scale, &second, sizeof(second));
    } else if (info->scales == SCALES_NIBBLES) {
        for (int i = 0; i < 4; i++) {
            at[2 * i + 1] = (uint8_t)((at[2 * i + 1] & 15) | (first >> 4 * i & 15) << 4);
        }
    } else {
        *at = (uint8_t)(kind == WEIGHTS_ANY_BITS ? first : 114 + first % 10);
    }
}

static void fill_block(uint64_t *state, uint32_t type, enum case_weights kind, uint8_t *block)
{
    const struct dtype_info *info = dtype_info(type);
    for (int i = 0; i < MOST_PARTS; i++) {
        const struct part *p = &parts_of[type][i];
        enum case_weights part_kind =
            p->scales && kind == WEIGHTS_SMALLEST ? WEIGHTS_LARGEST : kind;
        fill_bytes(state, part_kind, p->largest, p->smallest, p->size, block + p->at);
    }
    fill_scales(state, info, kind, block);
}

static void fill_floats(uint64_t *state, uint32_t type, enum case_weights kind, size_t bytes,
                        void *weights)
{
    if (kind == WEIGHTS_ANY_BITS) {
        fill_bytes(state, kind, 0, 0, bytes, weights);
        return;
    }
    size_t size = type == DTYPE_F32 ? 4 : 2;
    for (size_t i = 0; i < bytes / size; i++) {
        uint64_t r = case_random(state);
        float f = ((float)(r >> 40) / (float)(1 << 23) - 1.0f) * 0.1f;
        uint32_t bits;
        memcpy(&bits, &f, sizeof(bits));
        uint16_t half = (uint16_t)((r & 0x8000) | (0x2000 + r % 0x0c00));
        uint16_t upper = (uint16_t)(bits >> 16);
        memcpy((char *)weights + i * size,
               type == DTYPE_F32   ? (void *)&f
               : type == DTYPE_F16 ? (void *)&half
                                   : (void *)&upper,
               size);
    }
}

void case_fill_weights(uint64_t *state, uint32_t type, enum case_weights kind, size_t bytes,
                       void *weights)
{
    if (activation_form_of(type) == ACTIVATION_F32) {
        fill_floats(state, type, kind, bytes, weights);
        return;
    }
    for (size_t at = 0; at < bytes; at += dtype_info(type)->block_bytes) {
        fill_block(state, type, kind, (uint8_t *)weights + at);
    }
}

struct matmul_case case_random_matmul(uint64_t *state, uint32_t type)
{
    struct matmul_case c = {
        .type = type,
        .rows = 1 + case_below(state, 40),
        .tokens = 1 + case_below(state, 33),
        .before = case_below(state, 2) * case_below(state, 9),
        .behind = case_below(state, 2) * case_below(state, 9),
        .blocks_at_once = case_below(state, 4),
        .inputs = (enum case_inputs)case_below(state, INPUTS_KINDS),
        .weights = (enum case_weights)case_below(state, WEIGHTS_KINDS),
        .bias = case_below(state, 2),
        .accumulate = case_below(state, 2),
        .at_start = case_below(state, 2),
        .seed = case_random(state),
    };
    switch (activation_form_of(type)) {
    case ACTIVATION_F32:
        c.width = 1 + case_below(state, 600);
        break;
    case ACTIVATION_Q8_32:
        c.width = 32 * (1 + case_below(state, 30));
        break;
    default:
        c.width = 256 * (1 + case_below(state, 4));
    }
    return c;
}

const char *case_describe(const struct matmul_case *c)
{
    static char text[200];
    snprintf(
        text, sizeof(text),
        "type %u, %d rows, width %d, %d tokens behind %d and before %d, %d blocks at once, inputs "
        "%d, weights %d, bias %d, accumulate %d, at start %d, seed %llu",
        c->type, c->rows, c->width, c->tokens, c->before, c->behind, c->blocks_at_once, c->inputs,
        c->weights, c->bias, c->accumulate, c->at_start, (unsigned long long)c->seed);
    return text;
}

static void *alloc_or_exit(size_t bytes)
{
    void *p = aligned_alloc(64, ROUND_UP(bytes, (size_t)64));
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

struct case_guarded case_guarded_alloc(size_t bytes, bool at_start)
{
    const size_t page = 4096, inner = ROUND_UP(bytes, page);
    struct case_guarded g = {.mapped = inner + 2 * page};
    g.mapping = mmap(NULL, g.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.mapping == MAP_FAILED ||
        mprotect((char *)g.mapping + page, inner, PROT_READ | PROT_WRITE)) {
        fprintf(stderr, "no guarded memory\n");
        exit(1);
    }
    g.data = (char *)g.mapping + page + (at_start ? 0 : inner - bytes);
    return g;
}

void case_guarded_free(struct case_guarded *guarded)
{
    munmap(guarded->mapping, guarded->mapped);
}

size_t case_first_difference(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(a + i, b + i, sizeof(*a)) && !(isnan(a[i]) && isnan(b[i]))) {
            return i;
        }
    }
    return count;
}

/* Inputs of all tokens, those around the item's too, in the form of the type. */
static void make_activations(struct matmul_data *data, uint64_t *state)
{
    const struct matmul_case *c = &data->c;
    unsigned form = activation_form_of(c->type);
    const int tokens = c->before + c->tokens + c->behind;
    data->storage = alloc_or_exit(activations_bytes(tokens, c->width, form));
    float *x = alloc_or_exit((size_t)c->width * sizeof(*x));
    activations_layout(&data->in, data->storage, tokens, c->width, form);
    for (int t = 0; t < tokens; t++) {
        case_fill_inputs(state, c->inputs, t, c->width, x);
        prepare_ref(x, t, &data->in);
    }
    free(x);
}

void case_data_open(struct matmul_data *data, const struct matmul_case *c)
{
    uint64_t state = c->seed;
    size_t bytes = dtype_row_bytes(c->type, (uint64_t)c->width), rows = (size_t)c->rows;
    *data = (struct matmul_data){.c = *c};
    data->weights = case_guarded_alloc(bytes * rows, c->at_start);
    case_fill_weights(&state, c->type, c->weights, bytes * rows, data->weights.data);
    make_activations(data, &state);
    data->bias = alloc_or_exit(rows * sizeof(float));
    case_fill_inputs(&state, INPUTS_NORMAL, 0, c->rows, data->bias);
    data->scratch = alloc_or_exit(matmul_scratch_bytes(c->tokens));
    data->item = (struct matmul_item){
        .weights = data->weights.data,
        .row_bytes = bytes,
        .rows = c->rows,
        .in = &data->in,
        .first_token = c->before,
        .tokens = c->tokens,
        .blocks_at_once = c->blocks_at_once,
        .out_step = rows + 3, /* a gap that must stay as it is */
        .bias = c->bias ? data->bias : NULL,
        .accumulate = c->accumulate,
        .scratch = data->scratch,
    };
    data->outputs = data->item.out_step * (size_t)c->tokens;
}

float *case_data_run(struct matmul_data *data, matmul_kernel *kernel)
{
    uint64_t state = data->c.seed + 1;
    float *out = alloc_or_exit(data->outputs * sizeof(*out));
    case_fill_inputs(&state, INPUTS_NORMAL, 0, (int)data->outputs, out);
    memset(data->scratch, 0xff, matmul_scratch_bytes(data->c.tokens));
    data->item.out = out;
    kernel(&data->item);
    return out;
}

void case_data_close(struct matmul_data *data)
{
    free(data->scratch);
    free(data->bias);
    free(data->storage);
    case_guarded_free(&data->weights);
}

int case_matmul_differs(const struct matmul_case *c, matmul_kernel *const *kernels, int count)
{
    struct matmul_data data;
    int differs = 0;
    case_data_open(&data, c);
    float *expected = case_data_run(&data, kernels[0]);
    for (int i = 1; i < count && !differs; i++) {
        float *found = case_data_run(&data, kernels[i]);
        if (case_first_difference(expected, found, data.outputs) < data.outputs) {
            differs = i;
        }
        free(found);
    }
    free(expected);
    case_data_close(&data);
    return differs;
}
