/*
 * device_test.cpp: runs the tests that are linked in. Arguments pick those whose
 * names contain one of them; `list` shows all. Exit status 77: no GPU.
 *
 * When a kernel has done what no kernel may, every further call of its process
 * fails: another process then runs the rest, from=NAME its first argument, and
 * prints a count of its own.
 */
#include "device_test.h"

#include <cstdarg>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>

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

/* Whether this process can use the card no more. */
static bool is_lost()
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("    the card fails from now on: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

/* The tests from this one on in a process of their own; whether all passed. */
static bool run_elsewhere(const Test &first, int count, char **words)
{
    std::string from = std::string("from=") + first.name, name = "device_test";
    std::vector<char *> arguments = {&name[0], &from[0]};
    int status = 0;
    pid_t child;
    arguments.insert(arguments.end(), words, words + count);
    arguments.push_back(nullptr);
    return posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) ==
               0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

static const Test *find_test(const char *name)
{
    const Test *test = tests;
    while (test && strcmp(test->name, name))
        test = test->next;
    return test;
}

static const Test *next_chosen(const Test *test, int count, char **words)
{
    while (test && !chosen(*test, count, words))
        test = test->next;
    return test;
}

/* Runs those that words choose, from `test` on. */
static int run_tests(const Test *test, int count, char **words)
{
    int passed = 0, failed = 0;
    bool lost = false;
    test = next_chosen(test, count, words);
    while (test && !lost) {
        const bool good = run_test(*test);
        ++(good ? passed : failed);
        lost = !good && is_lost();
        test = next_chosen(test->next, count, words);
    }
    printf("%d passed, %d failed\n", passed, failed);
    const bool rest_passed = !test || run_elsewhere(*test, count, words);
    return failed || !passed || !rest_passed;
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
    if (argc > 1 && !strncmp(argv[1], "from=", 5))
        return run_tests(find_test(argv[1] + 5), argc - 2, argv + 2);
    return run_tests(tests, argc - 1, argv + 1);
}
