/*
 * rows_body.h: the kernels that go over one row: norm, gate, rope, guidance,
 * sums.
 * Included once per level after a lanes_*.h, with ROWS_LEVEL naming it.
 */
#include "kernels.h"
#include "lanes_math.h"

#define ROWS_PASTE(a, b)         a##b
#define ROWS_NAME(prefix, level) ROWS_PASTE(prefix, level)

/* Sum of squares: sixteen fma chains, then lanes_sum. Sixteen short chains keep
 * the rounding error of f32 near that of a pairwise sum. */
static float sum_of_squares(const float *x, int width)
{
    struct lanes sum = lanes_set1(0);
    int i = 0;

    for (; i + LANES <= width; i += LANES) {
        struct lanes v = lanes_load(x + i);

        sum = lanes_fma(v, v, sum);
    }
    if (i < width) {
        struct lanes v = lanes_load_part(x + i, width - i, 0);

        sum = lanes_fma(v, v, sum);
    }
    return lanes_sum(sum);
}

static void rms_norm_row(const float *x, const float *weight, float eps, int width, float *y)
{
    float scale = 1.0f / sqrtf(sum_of_squares(x, width) / (float)width + eps);

    for (int i = 0; i < width; i++)
        y[i] = x[i] * scale * weight[i];
}

ALWAYS_INLINE struct lanes gate_lanes(struct lanes gate, struct lanes up)
{
    struct lanes e = lanes_exp(lanes_sub(lanes_set1(0), gate));

    return lanes_mul(lanes_div(gate, lanes_add(lanes_set1(1), e)), up);
}

static void gated_row(const float *gate, const float *up, int width, float *y)
{
    int i = 0;

    for (; i + LANES <= width; i += LANES)
        lanes_store(y + i, gate_lanes(lanes_load(gate + i), lanes_load(up + i)));
    if (i < width) {
        struct lanes g = lanes_load_part(gate + i, width - i, 0);
        struct lanes u = lanes_load_part(up + i, width - i, 0);

        lanes_store_part(y + i, gate_lanes(g, u), width - i);
    }
}

static void rope_halves(float *x, const float *angles, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        float a = x[i], b = x[i + pairs], c = angles[2 * i], s = angles[2 * i + 1];

        x[i] = a * c - b * s;
        x[i + pairs] = a * s + b * c;
    }
}

/* Rounded by itself, whatever is done with it. */
ALWAYS_INLINE float product(float x, float y)
{
    float result = x * y;

    HIDE_FLOAT(result);
    return result;
}

static void rope_adjacent(float *x, const float *angles, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        float a = x[2 * i], b = x[2 * i + 1], c = angles[2 * i], s = angles[2 * i + 1];

        x[2 * i] = product(a, c) - product(b, s);
        x[2 * i + 1] = product(a, s) + product(b, c);
    }
}

static void rope_heads(const struct rope_row *row)
{
    for (int h = 0; h < row->heads; h++) {
        float *x = row->x + (size_t)h * (size_t)row->head_dim;

        if (row->norm)
            rms_norm_row(x, row->norm, row->eps, row->head_dim, x);
        if (row->halves)
            rope_halves(x, row->angles, row->rope_dims / 2);
        else
            rope_adjacent(x, row->angles, row->rope_dims / 2);
    }
}

static void guide_row(float *y, const float *u, double scale, int width)
{
    for (int i = 0; i < width; i++)
        y[i] = (float)((double)u[i] + (scale + 1) * ((double)y[i] - (double)u[i]));
}

static void add_scaled_row(float *y, const float *x, float scale, int width)
{
    const struct lanes s = lanes_set1(scale);
    int i = 0;

    for (; i + LANES <= width; i += LANES)
        lanes_store(y + i, lanes_add(lanes_load(y + i), lanes_mul(s, lanes_load(x + i))));
    if (i < width) {
        struct lanes sum = lanes_load_part(y + i, width - i, 0);

        sum = lanes_add(sum, lanes_mul(s, lanes_load_part(x + i, width - i, 0)));
        lanes_store_part(y + i, sum, width - i);
    }
}

void ROWS_NAME(rows_kernels_, ROWS_LEVEL)(struct cpu_kernels *kernels)
{
    kernels->rms_norm = rms_norm_row;
    kernels->gated = gated_row;
    kernels->rope = rope_heads;
    kernels->guide = guide_row;
    kernels->add_scaled = add_scaled_row;
}
