/*
 * cuda_emu.h: CUDA's device language for g++: what kernels/cuda/gpu.cuh includes
 * where nvcc is not the compiler. A kernel file is then plain C++; a block's
 * threads are fibers of one OS thread (scheduler.cpp), and a warp collective is
 * one call for all its lanes (emu_warp.h).
 */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <vector_functions.h>
/* What CUDA's headers make of these is for nvcc. */
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#define __shared__   static
#define __constant__ const
#define __launch_bounds__(...)

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

/* Of the thread that runs now. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* Code of a kernel file that the race build must not look into: it reports its accesses itself. */
#define EMU_RAW __attribute__((no_sanitize("thread")))

namespace emu
{
/* A kernel with its arguments; call(body) runs one thread, destroy(body) frees them. arguments()
 * says how many there are, and where each lies if there is room for all. */
struct Call {
    const void *kernel;
    dim3 grid, block;
    size_t smem;
    void (*call)(void *body);
    size_t (*arguments)(void *body, const void **addresses, size_t room);
    void (*destroy)(void *body);
    void *body;
};

/* Queues a call in a stream, or runs it; returns what cudaLaunchKernel does. Takes the body over.
 */
cudaError_t launch_call(const Call &call, cudaStream_t stream);

/* The block's dynamic shared memory, of exactly the launch's size. */
unsigned char *dyn_smem();

/* Tells the race build of an access by this thread that it cannot see itself. */
void note_access(const void *at, unsigned bytes, bool write, bool atomic);

/* Ends the process with a report: the text, the thread, and the lines of source it came from. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

template <class Function, class... Arguments> struct Body {
    Function run;
    std::tuple<Arguments...> arguments;

    static void call(void *body) EMU_RAW
    {
        static_cast<Body *>(body)->run();
    }
    static size_t addresses(void *body, const void **addresses, size_t room)
    {
        if (room >= sizeof...(Arguments))
            std::apply([=](auto &...each) mutable { ((*addresses++ = &each), ...); },
                       static_cast<Body *>(body)->arguments);
        return sizeof...(Arguments);
    }
    static void destroy(void *body)
    {
        delete static_cast<Body *>(body);
    }
};

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t smem,
                   cudaStream_t stream, Arguments... arguments)
{
    auto run = [=]() EMU_RAW { kernel(arguments...); };
    using Own = Body<decltype(run), Arguments...>;
    const Call call = {
        (const void *)kernel,        grid, block, smem, Own::call, Own::addresses, Own::destroy,
        new Own{run, {arguments...}}};
    return launch_call(call, stream);
}
} // namespace emu

#include "emu_atomic.h"
#include "emu_math.h"
#include "emu_warp.h"
