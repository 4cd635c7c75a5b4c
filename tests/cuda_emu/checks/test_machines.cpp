/*
 * test_machines.cpp: machines that the mock runtime can play, and misuse of the
 * runtime that it must report. Each runs in a process of its own.
 */
#include "device_test.h"
#include "forked.h"
#include "probe_kernels.h"

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
