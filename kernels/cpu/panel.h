/*
 * panel.h: sizes that the panel kernels share. A work item is cut into panels
 * of PANEL_ROWS rows by one super-block; a panel is decoded once and meets
 * every token.
 */
#ifndef PANEL_H
#define PANEL_H

#include "activations.h"

#include <stddef.h>

enum {
    PANEL_ROWS = 16,
    PANEL_BYTES = PANEL_ROWS * SUPER_BLOCK * 4,      /* the largest panel: f32 */
    PANEL_STAGE_BYTES = PANEL_ROWS * SUPER_BLOCK * 4 /* the largest block: f32 */
};

/* Scratch of a panel kernel; f32 sums [tokens][PANEL_ROWS] follow. */
struct panel_scratch {
    _Alignas(64) unsigned char panel[PANEL_BYTES];
    _Alignas(64) unsigned char stage[PANEL_STAGE_BYTES]; /* blocks of an incomplete panel */
    float sums[];
};

#endif
