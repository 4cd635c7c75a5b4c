/*
 * gpu_ceiling.c: what bounds products on this card, measured: the rates of the tensor
 * cores' instructions and of reading memory. A run is made longer until it takes long
 * enough to be timed, which warms the card up, and then counts.
 */
#include "gpu_backend.h"

#include "cuda_ceiling.h"

enum { LOOPS_LEAST = 1, LOOPS_MOST = 1 << 22, READ_BLOCKS = 3 };

/* Seconds that a run takes at least. */
#define ENOUGH 0.005

/* What is read, in second-level caches: a few hundredths of it may still be there from the
 * loop before. At least LEAST_CACHES, for a card that is nearly full. */
enum { CACHES = 16, LEAST_CACHES = 4 };

/* Loops to be timed on `blocks` blocks. */
struct probe {
    struct gpu_backend *backend;
    int (*launch)(const struct probe *probe, int loops);
    int blocks;
    void *sums; /* device, [blocks * CUDA_CEILING_THREADS] of 4 bytes */
    void *data; /* device, [bytes], of reading */
    size_t bytes;
    cudaEvent_t start, end;
};

static int launch_int8(const struct probe *probe, int loops)
{
    return cuda_ceiling_int8(probe->blocks, loops, probe->sums, probe->backend->stream);
}

static int launch_f16(const struct probe *probe, int loops)
{
    return cuda_ceiling_f16(probe->blocks, loops, probe->sums, probe->backend->stream);
}

static int launch_read(const struct probe *probe, int loops)
{
    return cuda_ceiling_read(probe->data, probe->bytes, probe->blocks, loops, probe->sums,
                             probe->backend->stream);
}

static int attribute(const struct gpu_backend *backend, enum cudaDeviceAttr which)
{
    int value = 0;

    cudaDeviceGetAttribute(&value, which, backend->device);
    return value;
}

/* Seconds on the card, 0 after a failure. */
static double time_run(const struct probe *probe, int loops)
{
    struct gpu_backend *backend = probe->backend;
    float ms = 0;

    gpu_check(backend, cudaEventRecord(probe->start, backend->stream), "start of a measurement");
    gpu_check(backend, probe->launch(probe, loops), "measurement");
    gpu_check(backend, cudaEventRecord(probe->end, backend->stream), "end of a measurement");
    gpu_check(backend, cudaEventSynchronize(probe->end), "measurement");
    gpu_check(backend, cudaEventElapsedTime(&ms, probe->start, probe->end), "measurement");
    return backend->fault == cudaSuccess ? ms * 1e-3 : 0;
}

/* Loops a second. */
static double time_loops(const struct probe *probe)
{
    int loops = LOOPS_LEAST;
    double seconds;

    time_run(probe, loops); /* brings the kernel to the card, which may take longer than ENOUGH */
    while (time_run(probe, loops) < ENOUGH && loops < LOOPS_MOST &&
           probe->backend->fault == cudaSuccess)
        loops *= 2;
    seconds = time_run(probe, loops);
    return seconds > 0 ? loops / seconds : 0;
}

/* The same with what it needs but data; 0 without memory for that. */
static double measure(struct probe *probe)
{
    size_t sums = sizeof(float) * CUDA_CEILING_THREADS * (size_t)probe->blocks;
    double rate = 0;

    if (cudaMalloc(&probe->sums, sums) == cudaSuccess &&
        cudaEventCreate(&probe->start) == cudaSuccess &&
        cudaEventCreate(&probe->end) == cudaSuccess)
        rate = time_loops(probe);
    if (probe->end)
        cudaEventDestroy(probe->end);
    if (probe->start)
        cudaEventDestroy(probe->start);
    cudaFree(probe->sums);
    cudaGetLastError();
    return rate;
}

double gpu_ceiling(struct backend *base, uint32_t type)
{
    struct gpu_backend *backend = gpu_of(base);
    unsigned form = cuda_forms_of((uint64_t)1 << type);
    bool int8 = form == CUDA_FORM_Q8_256 || form == CUDA_FORM_Q8_32;
    struct probe probe = {.backend = backend, .launch = int8 ? launch_int8 : launch_f16};
    double each = int8 ? CUDA_CEILING_INT8_OPERATIONS : CUDA_CEILING_F16_OPERATIONS;

    if (form == CUDA_FORM_F32 || !gpu_ready(backend))
        return 0;
    probe.blocks = attribute(backend, cudaDevAttrMultiProcessorCount);
    return each * probe.blocks * measure(&probe);
}

/* Memory to read, as much as there is room for of what is wanted; false: too little. */
static bool take_data(struct probe *probe)
{
    size_t cache = (size_t)attribute(probe->backend, cudaDevAttrL2CacheSize);

    for (int caches = CACHES; caches >= LEAST_CACHES && cache > 0; caches /= 2) {
        probe->bytes = cache * (size_t)caches / 16 * 16;
        if (cudaMalloc(&probe->data, probe->bytes) == cudaSuccess)
            return true;
    }
    cudaGetLastError();
    return false;
}

double gpu_bandwidth(struct backend *base)
{
    struct gpu_backend *backend = gpu_of(base);
    struct probe probe = {.backend = backend, .launch = launch_read};
    double rate;

    if (!gpu_ready(backend) || !take_data(&probe))
        return 0;
    gpu_check(backend, cudaMemsetAsync(probe.data, 0x5a, probe.bytes, backend->stream),
              "measurement");
    probe.blocks = READ_BLOCKS * attribute(backend, cudaDevAttrMultiProcessorCount);
    rate = (double)probe.bytes * measure(&probe);
    cudaFree(probe.data);
    return rate;
}
