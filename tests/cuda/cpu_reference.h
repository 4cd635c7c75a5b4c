/* cpu_reference.h: the CPU's kernels and what its tests are made from, C headers,
 * as C++ takes them. */
#pragma once
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
extern "C" {
#include "compiler.h"
#include "half.h"
#include "matmul_cases.h"
}
#pragma GCC diagnostic pop
