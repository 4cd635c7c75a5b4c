/*
 * device_test.cpp: runs the tests that are linked in. Arguments pick those whose
 * names contain one of them; `list` shows all. Exit status 77: no GPU.
 */
#include "device_test.h"

#include <cstdarg>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Of the emulator; without it: null. */
extern "C" __attribute__((weak)) void emu_matrix_phases(unsigned long long *phases,
                                                        unsigned long long *extra);

namespace device_test
{
static Test *tests;
static uint64_t state;

struct Failure {
};

Test::Test(const char *its_name, std::function<void()> function)
    : name(its_name), run(std::move(function)), next(nullptr)
{
    Test **end = &tests;
    while (*end)
        end = &(*end)->next;
    *end = this;
}

void expect(bool condition, const char *format, ...)
{
    if (condition)
        return;
    va_list arguments;
    printf("    ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    throw Failure();
}

void succeed(int error, const char *what)
{
    expect(error == 0, "%s: CUDA error %d: %s", what, error,
           cudaGetErrorString(cudaError_t(error)));
}

void expect_close(const char *what, const std::vector<double> &want, const std::vector<float> &got,
                  double bound)
{
    expect(want.size() == got.size(), "%s: %zu values, not %zu", what, got.size(), want.size());
    double squares = 0, worst = 0;
    for (const double value : want)
        squares += value * value;
    const double rms = std::sqrt(squares / double(want.size())) + 1e-30;
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < want.size(); i++) {
        const double off = std::fabs(want[i] - double(got[i])) / rms;
        if (!(off <= bound) && !wrong++)
            first = i;
        if (!(off <= worst))
            worst = off;
    }
    expect(!wrong, "%s: %zu of %zu differ, by up to %.2e of the rms; [%zu] is %g, not %g", what,
           wrong, want.size(), worst, first, double(got[first]), want[first]);
    printf("    %s: within %.1e of the rms (bound %.0e)\n", what, worst, bound);
}

double bank_conflicts()
{
    static unsigned long long phases_before, extra_before;
    unsigned long long phases = 0, extra = 0;
    if (emu_matrix_phases)
        emu_matrix_phases(&phases, &extra);
    const unsigned long long new_phases = phases - phases_before, new_extra = extra - extra_before;
    phases_before = phases;
    extra_before = extra;
    return new_phases ? double(new_extra) / double(new_phases) : 0;
}

uint32_t random_bits()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t(state >> 16);
}

double random_signed()
{
    return double(int32_t(random_bits())) / 2147483648.0;
}

uint16_t to_half(double value)
{
    return __half_as_ushort(__float2half_rn(float(value)));
}

double from_half(uint16_t bits)
{
    return double(__half2float(__ushort_as_half(bits)));
}

uint16_t to_bfloat(double value)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(float(value)));
}

double from_bfloat(uint16_t bits)
{
    return double(__bfloat162float(__ushort_as_bfloat16(bits)));
}

static bool run_test(const Test &test)
{
    state = 88172645463325252ull;
    for (const char *c = test.name; *c; c++)
        state = (state ^ uint64_t(*c)) * 1099511628211ull;
    printf("%s\n", test.name);
    try {
        test.run();
        return true;
    } catch (const Failure &) {
        printf("    FAILED: %s\n", test.name);
        return false;
    }
}

static bool chosen(const Test &test, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strstr(test.name, words[i]))
            return true;
    return count == 0;
}
} // namespace device_test

int main(int argc, char **argv)
{
    using namespace device_test;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (const Test *test = tests; test; test = test->next)
            printf("%s\n", test->name);
        return 0;
    }
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        printf("no GPU: %s\n", cudaGetErrorString(error));
        return 77;
    }
    int passed = 0, failed = 0;
    for (const Test *test = tests; test; test = test->next)
        if (chosen(*test, argc - 1, argv + 1))
            ++(run_test(*test) ? passed : failed);
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
