/*
 * forward.h: the transformer, once: a pass over one or several canvases and
 * logits for the rows that are asked for. Only those rows go past the last
 * layer's attention.
 */
#ifndef FORWARD_H
#define FORWARD_H

#include "placement.h"
#include "weights.h"

struct kvcache;

struct model {
    struct hparams hparams;
    struct weights weights;
};

/* The workspace of passes up to given sizes. */
struct forward;

struct forward_limits {
    int canvases;  /* in one pass, at least 1 */
    int length;    /* positions of each */
    int rows;      /* of logits at once, of all canvases together */
    bool cached;   /* passes may leave positions out */
    int positions; /* that run through the layers in one pass; 0: all of all canvases */
    bool guests;   /* canvases bring what they keep; the workspace keeps nothing of them */
};

/* The backends and the model must outlive it. Where they are two, the calls that give
 * results are those of placement->main, and so is the buffer of logits. */
enum dllm_status forward_create(const struct placement *placement, const struct model *model,
                                const struct forward_limits *limits, struct forward **out,
                                struct dllm_error *error);
void forward_destroy(struct forward *forward);

/* The sizes it was made for. */
struct forward_limits forward_limits_of(const struct forward *forward);

/* Bytes that forward_create would take of a backend's memory, NULL: of all; without
 * allocating. */
uint64_t forward_bytes(const struct placement *placement, const struct backend *of,
                       const struct model *model, const struct forward_limits *limits);

/* A canvas of a pass. Only positions [low, high) run through the layers, and
 * attend to all: to the others as they were at the last pass that ran them, which
 * `cache` keeps, or without one the workspace (for the canvas at the same place in
 * the list). Where nothing keeps all layers (limits.cached, kvcache.h) the window is
 * the whole canvas. Bits do not depend on the canvases beside it. */
struct forward_canvas {
    const int32_t *ids; /* [length] */
    int length;
    int low, high;
    const int32_t *rows;   /* [count] whose logits are wanted, ascending, inside the window */
    int count;             /* at most high - low */
    struct kvcache *cache; /* NULL: the workspace's, if it has any */
};

/* The residual stream behind the embedding (layer -1) or a layer: rows of the buffer
 * [rows, hidden]; behind the last one only those whose logits are wanted. */
struct forward_layer {
    int layer, rows;
    struct backend *backend; /* whose buffer it is */
    const struct backend_buffer *x;
};

/* Sees it. */
typedef void forward_layer_callback(void *context, const struct forward_layer *layer);

/* From now on passes show their layers; NULL ends that. */
void forward_watch(struct forward *forward, forward_layer_callback *on_layer, void *context);

/* Runs the pass and keeps the hidden state of the rows before the output norm:
 * those of the first canvas, then those of the second and so on. */
void forward_run(struct forward *forward, const struct forward_canvas *canvases, int count);

/* Logits of kept rows [first, first + count), count <= limits.rows, into a
 * buffer [count, vocab] of the workspace, valid until the next call. */
struct backend_buffer *forward_logits(struct forward *forward, int first, int count);

/* Guidance, after a pass over a canvas and a second one with its prompt masked:
 * u + (scale + 1)(l - u), l the logits of kept rows [first, first + count) and u of
 * [unguided, unguided + count), 2 count <= limits.rows, valid until the next call. */
struct backend_buffer *forward_logits_guided(struct forward *forward, int first, int unguided,
                                             int count, double scale);

#endif
