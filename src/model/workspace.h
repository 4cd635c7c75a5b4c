/*
 * workspace.h: the buffers of forward passes, as forward.c and workspace.c
 * share them.
 */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "feed_forward.h"
#include "forward.h"
#include "kvcache.h"

/* What decides the operations of a pass, of each canvas. */
struct canvas_shape {
    unsigned long cache; /* serial of the one it brought, 0: none */
    int length, low, high;
};

/* "Rows" are those of all canvases together, window after window: at most
 * limits.positions. */
struct forward {
    struct placement placement;
    struct backend *backend;    /* the one that this workspace is on */
    int first_layer, end_layer; /* [first, end) that it computes */
    struct forward *before;     /* the layers before these, on the other backend; NULL: none */
    float *crossing; /* [rows, hidden] on the host: what comes from there; NULL: nothing */
    const struct model *model;
    struct forward_limits limits;
    struct backend_heads heads;
    struct backend_buffer *angles; /* [length, rope_dims]: rope_dims / 2 of (cos, sin) */
    bool keeps_first; /* the first layer's rows are not computed anew; else all passes of a shape
                         are the same operations */
    struct kvcache **caches;          /* [canvases]; NULL: canvases bring theirs; those of all
                                         layers, also of the ones before */
    struct backend_buffer *x;         /* [rows, hidden] residual stream */
    struct backend_buffer *q, *k, *v; /* [rows, ...] of the layer at hand; attention's output
                                         goes to q */
    struct backend_buffer *kept;      /* [rows, hidden] rows whose logits are asked for */
    forward_layer_callback *on_layer; /* NULL: nobody looks */
    void *layer_context;
    struct backend_buffer *logits;         /* [limits.rows, vocab] */
    struct backend_activations *hidden_in; /* inputs of width hidden or heads * head_dim */
    struct feed_forward *feed_forward;
    struct backend_attention_io *attention; /* [canvases] of the layer at hand */
    struct canvas_shape *shape;             /* [canvases] of the pass at hand */
    struct backend_recordings *recordings;
    /* Lists [rows], cut from one block that starts at ids. */
    int32_t *ids, *positions;                 /* of the windows' rows */
    int32_t *kept_from, *kept_positions;      /* of the kept rows: row of x, position */
    int32_t *changed_ids, *changed_positions; /* what the first layer computes anew */
};

#endif
