/*
 * product.c: products of random matrices, for measurements without a model. The
 * matrices are one piece of random blocks repeated: caches look at addresses,
 * not at contents.
 */
#include "device.h"

#include "clock.h"
#include "dtype.h"
#include "machine.h"
#include "rng.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20, MOST_POOL_BYTES = 1 << 30 };
/* More than the second-level cache of any GPU. */
enum { GPU_POOL_BYTES = 256 << 20 };
/* Beyond the matrices and canvases of any model; sizes stay within size_t. */
enum { MOST_SIZE = 1 << 22 };

struct dllm_product {
    struct dllm_product_options options;
    struct backend *backend;
    struct backend_buffer *x, *out; /* [tokens, width], [tokens, rows] */
    struct backend_activations *activations;
    char *weights; /* [count][matrix_bytes] */
    size_t matrix_bytes;
    int count, next;
};

/* Random bits to a float of ordinary size: a half float of 2^-7 to 2, an f32 or
 * bfloat16 of 2^-63 to 2. */
static void tame_float(char *at)
{
    uint16_t bits;

    memcpy(&bits, at, sizeof bits);
    bits = (uint16_t)((bits & 0x1fff) | 0x2000);
    memcpy(at, &bits, sizeof bits);
}

/* The same for the half float of SCALES_NIBBLES: its highest bits are those of byte 7. */
static void tame_nibbles(char *at)
{
    at[7] = (char)((at[7] & 0x1f) | 0x20);
}

/* 2^-8 to 2^7. */
static void tame_exponent(char *at)
{
    *at = (char)((*at & 15) + 120);
}

static void tame_blocks(uint32_t type, char *blocks, size_t bytes)
{
    const struct dtype_info *info = dtype_info(type);
    size_t upper_half = type == DTYPE_F32 ? sizeof(uint16_t) : 0;

    for (size_t at = 0; at < bytes; at += info->block_bytes) {
        if (info->scales == SCALES_NIBBLES) {
            tame_nibbles(blocks + at + info->first_scale);
        } else if (info->scales == SCALES_EXPONENT) {
            tame_exponent(blocks + at + info->first_scale);
        } else {
            tame_float(blocks + at + upper_half + info->first_scale);
            tame_float(blocks + at + upper_half + info->second_scale);
        }
    }
}

static void fill_random(char *data, size_t bytes)
{
    const uint32_t key[2] = {1, 2};
    uint32_t words[4];

    for (size_t at = 0; at < bytes; at += sizeof words) {
        const uint32_t counter[4] = {(uint32_t)(at / sizeof words)};

        rng_philox4x32(counter, key, words);
        memcpy(data + at, words, MIN(sizeof words, bytes - at));
    }
}

/* What the caches of the device hold. */
static uint64_t cache_bytes(const struct dllm_product *product)
{
    return backend_is_host(product->backend) ? machine_cache_bytes() : GPU_POOL_BYTES;
}

static enum dllm_status make_weights(struct dllm_product *product, struct dllm_error *error)
{
    const struct dllm_product_options *options = &product->options;
    size_t block = dtype_info(options->type)->block_bytes;
    size_t pool = (size_t)MIN(cache_bytes(product) + 1, (uint64_t)MOST_POOL_BYTES), bytes, piece;

    product->matrix_bytes =
        dtype_row_bytes(options->type, (uint64_t)options->width) * (size_t)options->rows;
    product->count = (int)DIV_UP(pool, product->matrix_bytes);
    bytes = product->matrix_bytes * (size_t)product->count;
    piece = MIN(PIECE_BYTES / block * block, bytes);
    product->weights = aligned_alloc(CACHE_LINE, ROUND_UP(bytes, (size_t)CACHE_LINE));
    if (!product->weights)
        return status_no_memory(error, bytes);
    fill_random(product->weights, piece);
    tame_blocks(options->type, product->weights, piece);
    for (size_t at = piece; at < bytes; at += piece)
        memcpy(product->weights + at, product->weights, MIN(piece, bytes - at));
    return DLLM_OK;
}

/* What a GPU has no room for: not a model, and there is no canvas to shorten. */
static enum dllm_status fail_room(const struct dllm_product *product, struct dllm_error *error)
{
    const struct dllm_product_options *options = &product->options;
    double inputs = sizeof(float) * (double)options->tokens * options->width;
    double results = sizeof(float) * (double)options->tokens * options->rows;

    return status_fail(
        error, DLLM_ERROR_DEVICE,
        "the product does not fit on %s: %.1f MB of matrices, so many that no cache "
        "holds them, %.1f MB of inputs and %.1f MB of results are more than its free "
        "memory; take a smaller one, free memory there, or compute on the CPU "
        "(--device cpu)",
        backend_device_name(product->backend),
        (double)product->matrix_bytes * product->count * 1e-6, inputs * 1e-6, results * 1e-6);
}

static enum dllm_status load_weights(const struct dllm_product *product, struct dllm_error *error)
{
    const struct backend_range range = {product->weights,
                                        product->matrix_bytes * (uint64_t)product->count};
    const struct backend_constants constants = {.ranges = &range, .count = 1};

    if (!backend_fits(product->backend, &constants))
        return fail_room(product, error);
    return backend_load(product->backend, &constants, error);
}

static enum dllm_status make_buffers(struct dllm_product *product, struct dllm_error *error)
{
    const struct dllm_product_options *options = &product->options;
    const struct backend_limits limits = {.rows = options->tokens,
                                          .width = options->width,
                                          .keys = 1,
                                          .kv_heads = 1,
                                          .head_dim = 32,
                                          .vocab = 1};

    TRY(backend_reserve(product->backend, &limits, error));
    TRY(backend_buffer_create(product->backend, options->tokens, options->width, &product->x,
                              error));
    TRY(backend_buffer_create(product->backend, options->tokens, options->rows, &product->out,
                              error));
    return backend_activations_create(product->backend, options->tokens, options->width,
                                      (uint64_t)1 << options->type, &product->activations, error);
}

/* About a standard normal variable. Blocks of such inputs are seldom `wide` (tile_k_vnni.h), as
 * those of models are; of evenly spread ones nearly all would be. */
static float normal(uint32_t place)
{
    double sum = 0;

    for (uint32_t draw = 0; draw < 12; draw++)
        sum += rng_uniform(1, 0, place, draw);
    return (float)(sum - 6);
}

/* Inputs, the same for each token, in the type's form. */
static enum dllm_status make_inputs(struct dllm_product *product, struct dllm_error *error)
{
    const struct dllm_product_options *options = &product->options;
    size_t width = (size_t)options->width;
    float *row = malloc(width * sizeof *row);

    if (!row)
        return status_no_memory(error, width * sizeof *row);
    for (size_t i = 0; i < width; i++)
        row[i] = normal((uint32_t)i);
    for (int t = 0; t < options->tokens; t++)
        backend_buffer_write(product->backend, product->x, t, 1, row);
    backend_prepare(product->backend, (struct backend_rows){product->x, 0, options->tokens}, NULL,
                    (uint64_t)1 << options->type, product->activations);
    free(row);
    return DLLM_OK;
}

static enum dllm_status check_size(const char *name, int value, struct dllm_error *error)
{
    if (value >= 1 && value <= MOST_SIZE)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "a product's %s is %d; a number from 1 to %d was expected", name, value,
                       MOST_SIZE);
}

enum dllm_status dllm_product_check(const struct dllm_product_options *options,
                                    struct dllm_error *error)
{
    const struct dtype_info *type = dtype_info(options->type);

    if (!type || !type->matrix)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "type %s cannot be multiplied; expected one of %s",
                           type ? type->name : "unknown", dtype_matrix_names());
    TRY(check_size("rows", options->rows, error));
    TRY(check_size("width", options->width, error));
    TRY(check_size("tokens", options->tokens, error));
    if ((uint32_t)options->width % type->block_weights == 0)
        return DLLM_OK;
    return status_fail(
        error, DLLM_ERROR_USAGE,
        "a product's width is %d; a multiple of %u was expected, since %s has blocks "
        "of that many weights",
        options->width, type->block_weights, type->name);
}

enum dllm_status dllm_product_create(const struct dllm_product_options *options,
                                     struct dllm_product **out, struct dllm_error *error)
{
    enum dllm_status status;
    struct dllm_product *product = NULL;

    *out = NULL;
    TRY(dllm_product_check(options, error));
    product = calloc(1, sizeof *product);
    if (!product)
        return status_no_memory(error, sizeof *product);
    product->options = *options;
    TRY_GOTO(engine_create_backend(options->device, options->threads, options->cpu_level,
                                   &product->backend, error));
    TRY_GOTO(make_weights(product, error));
    TRY_GOTO(load_weights(product, error));
    status = make_buffers(product, error);
    if (status == DLLM_ERROR_DEVICE)
        status = fail_room(product, error);
    TRY_GOTO(status);
    TRY_GOTO(make_inputs(product, error));
    *out = product;
    return DLLM_OK;
fail:
    dllm_product_destroy(product);
    return status;
}

void dllm_product_destroy(struct dllm_product *product)
{
    if (!product)
        return;
    backend_activations_destroy(product->backend, product->activations);
    backend_buffer_destroy(product->backend, product->x);
    backend_buffer_destroy(product->backend, product->out);
    backend_destroy(product->backend);
    free(product->weights);
    free(product);
}

const char *dllm_product_device(const struct dllm_product *product)
{
    return backend_device_name(product->backend);
}

const char *dllm_product_cpu_level(const struct dllm_product *product)
{
    return backend_level_name(product->backend);
}

int dllm_product_threads(const struct dllm_product *product)
{
    return backend_threads(product->backend);
}

double dllm_product_bandwidth(struct dllm_product *product)
{
    return backend_bandwidth(product->backend);
}

/* The next matrix of the pool times the inputs. */
static void multiply(struct dllm_product *product)
{
    const struct dllm_product_options *options = &product->options;
    const struct backend_matrix matrix = {
        .type = options->type,
        .rows = options->rows,
        .width = options->width,
        .data = product->weights + (size_t)product->next * product->matrix_bytes,
    };
    const struct backend_product launch = {&matrix, NULL, product->out, false};

    product->next = (product->next + 1) % product->count;
    backend_matmul(product->backend, product->activations, &launch, 1);
}

/* Seconds of one product, waited for; what it read and computed is in the profile. */
static enum dllm_status time_product(struct dllm_product *product, double *seconds,
                                     struct dllm_error *error)
{
    double start;

    TRY(backend_wait(product->backend, error));
    backend_profile_reset(product->backend);
    start = clock_seconds();
    multiply(product);
    TRY(backend_wait(product->backend, error));
    *seconds = clock_seconds() - start;
    return DLLM_OK;
}

enum dllm_status dllm_product_run(struct dllm_product *product, struct dllm_products *out,
                                  double *ceiling, struct dllm_error *error)
{
    uint32_t type = product->options.type;
    struct backend_profile profile;
    double seconds, before = 0;

    *out = (struct dllm_products){0};
    if (ceiling)
        before = backend_ceiling(product->backend, type);
    TRY(time_product(product, &seconds, error));
    profile = backend_profile_read(product->backend);
    if (backend_is_host(product->backend))
        seconds = profile.matmul;
    if (ceiling)
        *ceiling = (before + backend_ceiling(product->backend, type)) / 2;
    TRY(backend_wait(product->backend, error));
    *out = (struct dllm_products){seconds, profile.int8_operations, profile.float_operations,
                                  profile.weight_bytes};
    return DLLM_OK;
}
