/* vector_functions.h: the stand-in's are in its cuda_runtime_api.h. */
#pragma once
#include "cuda_runtime_api.h"
