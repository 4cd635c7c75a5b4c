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

static void fill_q4_k(uint64_t *state, enum case_weights kind, struct block_q4_k *out)
{
    enum case_weights scales = kind == WEIGHTS_SMALLEST ? WEIGHTS_LARGEST : kind;
    out->d = half_scale(state, kind);
    out->dmin = half_scale(state, kind);
    fill_bytes(state, scales, 0xff, 0, sizeof(out->scales), out->scales);
    fill_bytes(state, kind, 0xff, 0, sizeof(out->q), out->q);
}

static void fill_q5_k(uint64_t *state, enum case_weights kind, struct block_q5_k *out)
{
    enum case_weights scales = kind == WEIGHTS_SMALLEST ? WEIGHTS_LARGEST : kind;
    out->d = half_scale(state, kind);
    out->dmin = half_scale(state, kind);
    fill_bytes(state, scales, 0xff, 0, sizeof(out->scales), out->scales);
    fill_bytes(state, kind, 0xff, 0, sizeof(out->high), out->high);
    fill_bytes(state, kind, 0xff, 0, sizeof(out->q), out->q);
}

/* The largest product of a Q6_K weight is q = 0 (-32) by a scale of -128. */
static void fill_q6_k(uint64_t *state, enum case_weights kind, struct block_q6_k *out)
{
    enum case_weights scales = kind == WEIGHTS_SMALLEST ? WEIGHTS_LARGEST : kind;
    fill_bytes(state, kind, 0, 0xff, sizeof(out->low), out->low);
    fill_bytes(state, kind, 0, 0xff, sizeof(out->high), out->high);
    fill_bytes(state, scales, 0x80, 0x7f, sizeof(out->scales), out->scales);
    out->d = half_scale(state, kind);
}

static void fill_q8_0(uint64_t *state, enum case_weights kind, struct block_q8_0 *out)
{
    out->d = half_scale(state, kind);
    fill_bytes(state, kind, 0x80, 0x7f, sizeof(out->q), out->q);
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
    char *end = (char *)weights + bytes;
    for (char *at = weights; at < end;) {
        union {
            struct block_q4_k q4;
            struct block_q5_k q5;
            struct block_q6_k q6;
            struct block_q8_0 q8;
        } block;
        size_t size = type == DTYPE_Q4_K   ? sizeof(block.q4)
                      : type == DTYPE_Q5_K ? sizeof(block.q5)
                      : type == DTYPE_Q6_K ? sizeof(block.q6)
                                           : sizeof(block.q8);
        switch (type) {
        case DTYPE_Q4_K:
            fill_q4_k(state, kind, &block.q4);
            break;
        case DTYPE_Q5_K:
            fill_q5_k(state, kind, &block.q5);
            break;
        case DTYPE_Q6_K:
            fill_q6_k(state, kind, &block.q6);
            break;
        default:
            fill_q8_0(state, kind, &block.q8);
        }
        memcpy(at, &block, size);
        at += size;
    }
}

struct matmul_case case_random_matmul(uint64_t *state, uint32_t type)
{
    struct matmul_case c = {
        .type = type,
        .rows = 1 + case_below(state, 40),
        .tokens = 1 + case_below(state, 33),
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
    snprintf(text, sizeof(text),
             "type %u, %d rows, width %d, %d tokens, inputs %d, weights %d, bias %d, "
             "accumulate %d, at start %d, seed %llu",
             c->type, c->rows, c->width, c->tokens, c->inputs, c->weights, c->bias, c->accumulate,
             c->at_start, (unsigned long long)c->seed);
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

/* Inputs of all tokens in the form of the type. */
static void make_activations(struct matmul_data *data, uint64_t *state)
{
    const struct matmul_case *c = &data->c;
    unsigned form = activation_form_of(c->type);
    data->storage = alloc_or_exit(activations_bytes(c->tokens, c->width, form));
    float *x = alloc_or_exit((size_t)c->width * sizeof(*x));
    activations_layout(&data->in, data->storage, c->tokens, c->width, form);
    for (int t = 0; t < c->tokens; t++) {
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

bool case_matmul_equal(const struct matmul_case *c, matmul_kernel *kernel)
{
    struct cpu_kernels reference;
    struct matmul_data data;
    cpu_kernels_init(&reference, CPU_REF);
    case_data_open(&data, c);
    float *expected = case_data_run(&data, reference.matmul[c->type]);
    float *found = case_data_run(&data, kernel);
    bool equal = case_first_difference(expected, found, data.outputs) == data.outputs;
    free(found);
    free(expected);
    case_data_close(&data);
    return equal;
}
