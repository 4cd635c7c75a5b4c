/* dtype.cuh: dtype.h, a C header, as C++ takes it: its function dtype_info has the
 * name of its struct. */
#pragma once
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "dtype.h"
}
#pragma GCC diagnostic pop
