/*
 * test_machines.cpp: machines that the mock runtime can play, and misuse of the
 * runtime that it must report. Each runs in a process of its own.
 */
#include "device_test.h"
#include "forked.h"
#include "probe_kernels.h"

#include <cstring>
#include <unistd.h>

using namespace device_test;

static int count_devices()
{
    int count = -1;
    return int(cudaGetDeviceCount(&count));
}

DEVICE_TEST(no_driver)
{
    const Outcome outcome = run_forked(
        [] {
            int version = -1;
            return cudaDriverGetVersion(&version) == cudaSuccess && version == 0 ? count_devices()
                                                                                 : 1;
        },
        {{"EMU_DRIVER", "0"}});
    expect(outcome.status == cudaErrorInsufficientDriver, "status %d", outcome.status);
}

DEVICE_TEST(an_old_driver)
{
    const Outcome outcome = run_forked(
        [] {
            int version = -1;
            return cudaDriverGetVersion(&version) == cudaSuccess && version == 12080
                       ? count_devices()
                       : 1;
        },
        {{"EMU_DRIVER", "12080"}});
    expect(outcome.status == cudaErrorInsufficientDriver, "status %d", outcome.status);
}

DEVICE_TEST(no_gpu)
{
    const Outcome outcome = run_forked(count_devices, {{"EMU_DEVICES", "0"}});
    expect(outcome.status == cudaErrorNoDevice, "status %d", outcome.status);
}

DEVICE_TEST(a_small_card)
{
    const Outcome outcome = run_forked(
        [] {
            void *first = nullptr, *second = nullptr;
            size_t available = 0, total = 0;
            if (cudaMalloc(&first, 600000) != cudaSuccess ||
                cudaMemGetInfo(&available, &total) != cudaSuccess)
                return 1;
            if (total != 1000000 || available != 400000)
                return 1;
            return int(cudaMalloc(&second, 400001));
        },
        {{"EMU_MEMORY", "1000000"}});
    expect(outcome.status == cudaErrorMemoryAllocation, "status %d", outcome.status);
}

DEVICE_TEST(another_generation)
{
    const Outcome outcome = run_forked(
        [] {
            cudaDeviceProp properties;
            return cudaGetDeviceProperties(&properties, 0) == cudaSuccess
                       ? properties.major * 10 + properties.minor
                       : 1;
        },
        {{"EMU_COMPUTE", "75"}});
    expect(outcome.status == 75, "status %d", outcome.status);
}

/* ---- What a process meets in which nothing has run yet ---- */

static cudaStream_t new_stream()
{
    cudaStream_t stream = nullptr;
    succeed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
}

DEVICE_TEST(a_capture_brings_no_kernel_to_the_card)
{
    const Outcome outcome = run_forked([] {
        DeviceArray<float> x(std::vector<float>(1));
        const cudaStream_t stream = new_stream();
        succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
        return int(launch_add(x.data, 1, 1, stream));
    });
    expect(outcome.status == cudaErrorStreamCaptureUnsupported % 256, "status %d", outcome.status);
}

/* Milliseconds of the card from one event to the next, with a launch between. */
static float time_of_launch(float *x, cudaStream_t stream)
{
    cudaEvent_t start, end;
    float milliseconds = 0;
    succeed(cudaEventCreate(&start), "cudaEventCreate");
    succeed(cudaEventCreate(&end), "cudaEventCreate");
    succeed(cudaEventRecord(start, stream), "cudaEventRecord");
    succeed(launch_add(x, 1, 1, stream), "launch");
    succeed(cudaEventRecord(end, stream), "cudaEventRecord");
    succeed(cudaEventSynchronize(end), "cudaEventSynchronize");
    succeed(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    return milliseconds;
}

/* The kernel's code comes when the first event has passed. */
DEVICE_TEST(first_launches_take_long)
{
    const Outcome outcome = run_forked([] {
        DeviceArray<float> x(std::vector<float>(1));
        const cudaStream_t stream = new_stream();
        const float first = time_of_launch(x.data, stream), second = time_of_launch(x.data, stream);
        return first >= 20 && second < first ? 0 : 1;
    });
    expect(outcome.status == 0, "the first launch was like the second");
}

static size_t free_bytes()
{
    size_t available = 0, total = 0;
    succeed(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    return available;
}

DEVICE_TEST(memory_goes_by_pages)
{
    const Outcome outcome = run_forked([] {
        const size_t page = 2 << 20, before = free_bytes();
        size_t after[3];
        {
            const DeviceArray<char> small(1000), other(1000), large(page + 1);
            after[0] = free_bytes();
        }
        after[1] = free_bytes();
        DeviceArray<float> x(std::vector<float>(1));
        succeed(launch_add(x.data, 1, 1, nullptr), "launch");
        after[2] = free_bytes();
        return after[0] != before - 3 * page   ? 1
               : after[1] != before - page     ? 2 /* the page of small pieces went back */
               : after[2] != before - 2 * page ? 3 /* a kernel's code takes nothing */
                                               : 0;
    });
    expect(outcome.status == 0, "status %d", outcome.status);
}

/* That of a graph which is destroyed goes back when it has run. */
DEVICE_TEST(a_graph_under_way_keeps_its_memory)
{
    const Outcome outcome = run_forked(
        [] {
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            DeviceArray<float> x(std::vector<float>(1));
            const cudaStream_t stream = new_stream();
            succeed(launch_add(x.data, 0, 1, stream), "launch");
            succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
            succeed(launch_add(x.data, 1, 1, stream), "launch");
            succeed(cudaStreamEndCapture(stream, &graph), "end");
            const size_t before = free_bytes();
            succeed(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
            succeed(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
            succeed(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
            const size_t destroyed = free_bytes();
            succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            return before - destroyed != 600000 ? 1 : before != free_bytes() ? 2 : 0;
        },
        {{"EMU_MEMORY", "1000000"}, {"EMU_GRAPH_NODE", "600000"}});
    expect(outcome.status == 0, "status %d", outcome.status);
}

/* A thread that has chosen another device than a stream's. */
DEVICE_TEST(streams_belong_to_devices)
{
    const Outcome outcome = run_forked(
        [] {
            DeviceArray<float> x(std::vector<float>(1));
            cudaEvent_t event;
            succeed(cudaSetDevice(1), "cudaSetDevice");
            const cudaStream_t stream = new_stream();
            succeed(launch_with_smem(x.data, 99 << 10, true, stream), "launch");
            succeed(cudaSetDevice(0), "cudaSetDevice");
            succeed(cudaEventCreate(&event), "cudaEventCreate");
            if (launch_add(x.data, 1, 1, stream) != cudaErrorInvalidResourceHandle)
                return 1;
            if (cudaEventRecord(event, stream) != cudaErrorInvalidResourceHandle)
                return 2;
            return launch_with_smem(x.data, 99 << 10, false, nullptr) == cudaErrorInvalidValue ? 0
                                                                                               : 3;
        },
        {{"EMU_DEVICES", "2"}});
    expect(outcome.status == 0, "status %d", outcome.status);
}

/* ---- A kernel that faults ---- */

DEVICE_TEST(a_fault_stays)
{
    const Outcome outcome = run_forked(
        [] {
            DeviceArray<float> x(std::vector<float>(1));
            const cudaError_t launched = launch_add(x.data, 1, 1, nullptr);
            const cudaError_t waited = cudaDeviceSynchronize(), after = cudaSetDevice(0);
            return launched == cudaSuccess && waited == after ? int(waited) : 1;
        },
        {{"EMU_FAULT", "1"}});
    expect(outcome.status == cudaErrorIllegalAddress % 256, "status %d", outcome.status);
}

/* The program of another test beside this one, its output where a report is. */
static int run_beside(const char *name)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 100);
    if (length < 0)
        return 1;
    path[length] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    dup2(2, 1);
    execl(path, path, (char *)nullptr);
    return 1;
}

/* Breaks if a fault takes other tests' results along, or hides its own. */
DEVICE_TEST(tests_go_on_after_a_fault)
{
    const Outcome outcome = run_forked([] { return run_beside("test_ptx"); }, {{"EMU_FAULT", "4"}});
    expect(outcome.status == 1, "status %d", outcome.status);
    for (const char *line : {"\nmma_bf16\n", "FAILED: mma_bf16\n", "3 passed, 1 failed\n",
                             "\nldmatrix_of_four\n", "\nex2_within_its_bound\n"})
        expect(outcome.says(line), "no \"%s\" in:\n%s", line, outcome.report.c_str());
    const size_t first = outcome.report.find("\nmma_bf16\n");
    expect(outcome.report.find("\nmma_bf16\n", first + 1) == std::string::npos, "run twice");
}

/* That misuse of the runtime ends with this report. */
static void expect_report(const char *text, int (*misuse)(float *device))
{
    const Outcome outcome = run_forked([misuse] {
        float *device = nullptr;
        if (cudaMalloc(reinterpret_cast<void **>(&device), 40) != cudaSuccess)
            return 1;
        return misuse(device);
    });
    expect(outcome.status != 0 && outcome.says(text), "status %d, report: %s", outcome.status,
           outcome.report.c_str());
}

#ifdef __SANITIZE_ADDRESS__
static const char *const HOST_TOUCHES = "use-after-poison";
static const char *const STACK_OVERFLOW = "stack-overflow";
#else
static const char *const HOST_TOUCHES = "host code touches device memory";
static const char *const STACK_OVERFLOW = "a thread's stack overflowed";
#endif

DEVICE_TEST(host_code_must_not_touch_device_memory)
{
    expect_report(HOST_TOUCHES, [](float *device) { return int(device[0]); });
}

DEVICE_TEST(copies_stay_inside_an_allocation)
{
    expect_report("not inside one allocation", [](float *device) {
        float values[11];
        return int(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
    });
}

DEVICE_TEST(copies_go_the_way_they_say)
{
    expect_report("where host memory is expected", [](float *device) {
        return int(cudaMemcpy(device, device + 5, 20, cudaMemcpyDeviceToHost));
    });
}

DEVICE_TEST(freed_memory_is_gone)
{
    expect_report("not what cudaMalloc gave", [](float *device) {
        cudaFree(device);
        return int(cudaFree(device));
    });
}

DEVICE_TEST(a_stack_overflow_is_reported)
{
    expect_report(STACK_OVERFLOW, [](float *device) {
        launch_with_stack(device, 200, nullptr);
        return int(cudaDeviceSynchronize());
    });
}
