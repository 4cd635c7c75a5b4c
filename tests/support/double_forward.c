/* double_forward.c: no tiles, no tricks; experts all run, those not chosen count nothing. */
#include "double_forward.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LENGTH = DOUBLE_TOKENS, WIDEST = DOUBLE_WIDEST };

static double at(const struct backend_matrix *m, int row, int column)
{
    return (double)((const float *)m->data)[(size_t)row * (size_t)m->width + (size_t)column];
}

/* out[t] = matrix * in[t] + bias for LENGTH tokens. */
static void slow_matmul(const struct backend_matrix *m, const float *bias, const double *in,
                        double *out)
{
    for (int t = 0; t < LENGTH; t++)
        for (int r = 0; r < m->rows; r++) {
            double sum = bias ? (double)bias[r] : 0;

            for (int c = 0; c < m->width; c++)
                sum += at(m, r, c) * in[t * m->width + c];
            out[t * m->rows + r] = sum;
        }
}

static void slow_norm(const double *x, const float *weight, double eps, int width, double *out)
{
    for (int t = 0; t < LENGTH; t++) {
        double squares = 0;

        for (int i = 0; i < width; i++)
            squares += x[t * width + i] * x[t * width + i];
        for (int i = 0; i < width; i++)
            out[t * width + i] = x[t * width + i] / sqrt(squares / width + eps) * (double)weight[i];
    }
}

static void slow_rope(const struct hparams *h, int heads, double *x)
{
    int pairs = h->rope_dims / 2;
    bool halves = h->arch->pairing == ROPE_HALVES;

    for (int t = 0; t < LENGTH; t++)
        for (int head = 0; head < heads; head++)
            for (int i = 0; i < pairs; i++) {
                double *p = x + (t * heads + head) * h->head_dim;
                double *a = p + (halves ? i : 2 * i), *b = halves ? a + pairs : a + 1;
                double angle = t * pow(h->rope_base, -2.0 * i / h->rope_dims);
                double x0 = *a, x1 = *b;

                *a = x0 * cos(angle) - x1 * sin(angle);
                *b = x0 * sin(angle) + x1 * cos(angle);
            }
}

static void slow_attention(const struct hparams *h, const double *q, const double *k,
                           const double *v, double *out)
{
    int dim = h->head_dim, kv_width = h->kv_heads * dim, q_width = h->heads * dim;

    for (int t = 0; t < LENGTH; t++)
        for (int head = 0; head < h->heads; head++) {
            int shared = head / (h->heads / h->kv_heads) * dim;
            double score[LENGTH], sum = 0;

            for (int s = 0; s < LENGTH; s++) {
                score[s] = 0;
                for (int d = 0; d < dim; d++)
                    score[s] += q[t * q_width + head * dim + d] * k[s * kv_width + shared + d];
                score[s] = exp(score[s] / sqrt(dim));
                sum += score[s];
            }
            for (int d = 0; d < dim; d++) {
                double o = 0;

                for (int s = 0; s < LENGTH; s++)
                    o += score[s] / sum * v[s * kv_width + shared + d];
                out[t * q_width + head * dim + d] = o;
            }
        }
}

/* out[t] = RMS norm of each head. */
static void slow_head_norms(const struct hparams *h, const float *weight, int heads, double *x)
{
    for (int t = 0; weight && t < LENGTH * heads; t++) {
        double *head = x + t * h->head_dim, squares = 0;

        for (int i = 0; i < h->head_dim; i++)
            squares += head[i] * head[i];
        for (int i = 0; i < h->head_dim; i++)
            head[i] *= (double)weight[i] / sqrt(squares / h->head_dim + (double)h->rms_eps);
    }
}

static void slow_feed_forward(const struct hparams *h, const struct layer_weights *w, double *in,
                              double *out)
{
    static double gate[LENGTH * WIDEST], up[LENGTH * WIDEST];

    slow_matmul(&w->gate, NULL, in, gate);
    slow_matmul(&w->up, NULL, in, up);
    for (int i = 0; i < LENGTH * h->ffn; i++)
        gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    slow_matmul(&w->down, NULL, gate, out);
}

/* How many experts have a higher score, or the same and a lower index. */
static int rank_of(const double *scores, int experts, int e)
{
    int rank = 0;

    for (int i = 0; i < experts; i++)
        rank += scores[i] > scores[e] || (i < e && scores[i] == scores[e]);
    return rank;
}

static double share_of(const struct hparams *h, const double *scores, int e)
{
    double all = 0, kept = 0;

    for (int i = 0; i < h->experts; i++) {
        all += exp(scores[i]);
        if (rank_of(scores, h->experts, i) < h->experts_used)
            kept += exp(scores[i]);
    }
    if (rank_of(scores, h->experts, e) >= h->experts_used)
        return 0;
    return exp(scores[e]) / (h->arch->renormalise ? kept : all);
}

/* Every expert over every token, added by its share. */
static void slow_experts(const struct hparams *h, const struct layer_weights *w, double *in,
                         double *out)
{
    static double scores[LENGTH * WIDEST], one[LENGTH * WIDEST];
    struct layer_weights expert = *w;

    slow_matmul(&w->router, NULL, in, scores);
    memset(out, 0, sizeof *out * (size_t)(LENGTH * h->hidden));
    for (int e = 0; e < h->experts; e++) {
        size_t at = (size_t)e * (size_t)h->hidden * (size_t)h->ffn;

        expert.gate.data = (const float *)w->gate.data + at;
        expert.up.data = (const float *)w->up.data + at;
        expert.down.data = (const float *)w->down.data + at;
        slow_feed_forward(h, &expert, in, one);
        for (int i = 0; i < LENGTH * h->hidden; i++)
            out[i] += share_of(h, scores + i / h->hidden * h->experts, e) * one[i];
    }
}

/* Keys and values of a layer as they were when a position was last in the window. */
struct slow_cache {
    double k[LENGTH * WIDEST], v[LENGTH * WIDEST];
};

/* Everything is computed for all positions; those outside [low, high) are right
 * in the cache alone. */
static void slow_layer(const struct hparams *h, const struct layer_weights *w, int low, int high,
                       struct slow_cache *cache, double *x)
{
    static double in[LENGTH * WIDEST], q[LENGTH * WIDEST], k[LENGTH * WIDEST], v[LENGTH * WIDEST];

    slow_norm(x, w->attn_norm, (double)h->rms_eps, h->hidden, in);
    slow_matmul(&w->q, w->q_bias, in, q);
    slow_matmul(&w->k, w->k_bias, in, k);
    slow_matmul(&w->v, w->v_bias, in, v);
    slow_head_norms(h, w->q_norm, h->heads, q);
    slow_head_norms(h, w->k_norm, h->kv_heads, k);
    slow_rope(h, h->heads, q);
    slow_rope(h, h->kv_heads, k);
    for (int i = low * h->kv_heads * h->head_dim; i < high * h->kv_heads * h->head_dim; i++) {
        cache->k[i] = k[i];
        cache->v[i] = v[i];
    }
    slow_attention(h, q, cache->k, cache->v, in);
    slow_matmul(&w->output, NULL, in, q);
    for (int i = 0; i < LENGTH * h->hidden; i++)
        x[i] += q[i];
    slow_norm(x, w->ffn_norm, (double)h->rms_eps, h->hidden, in);
    if (h->experts)
        slow_experts(h, w, in, q);
    else
        slow_feed_forward(h, w, in, q);
    for (int i = 0; i < LENGTH * h->hidden; i++)
        x[i] += q[i];
}

void double_forward(const struct model *model, const int32_t *ids, int low, int high, double *out)
{
    static struct slow_cache caches[DOUBLE_LAYERS];
    static double x[LENGTH * WIDEST], in[LENGTH * WIDEST];
    const struct hparams *h = &model->hparams;
    const struct weights *w = &model->weights;

    for (int t = 0; t < LENGTH; t++)
        for (int i = 0; i < h->hidden; i++)
            x[t * h->hidden + i] = at(&w->embedding, ids[t], i);
    for (int i = 0; i < h->layers; i++)
        slow_layer(h, &w->layers[i], low, high, &caches[i], x);
    slow_norm(x, w->output_norm, (double)h->rms_eps, h->hidden, in);
    slow_matmul(&w->head, NULL, in, out);
}
