/* cpu_side.h: the C headers of the CPU's half of an operation, for C++. */
#pragma once
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* a function may be called as a struct */
extern "C" {
#include "cross_entropy.h"
#include "kernels.h"
#include "pick.h"
#include "rng.h"
#include "softmax.h"
}
#pragma GCC diagnostic pop
