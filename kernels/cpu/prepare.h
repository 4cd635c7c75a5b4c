/*
 * prepare.h: the kernels that turn a row of f32 values into the forms of
 * activations.h. All give the same bits.
 */
#ifndef PREPARE_H
#define PREPARE_H

#include "kernels.h"

/* The specification, and the body for AVX2 and above. */
prepare_kernel prepare_ref, prepare_avx2;

#endif
