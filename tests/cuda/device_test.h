/*
 * device_test.h: tests of kernels, for the emulator and for a GPU: they know
 * only the launchers' headers and the CUDA runtime.
 *
 *   DEVICE_TEST(norm_of_one_row) { ... expect(got == want, "want %d", want); }
 *
 * Sizes: off the tile in every dimension, and allocations of exactly what a
 * kernel may touch, so that AddressSanitizer and the race build see the tails.
 */
#pragma once
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace device_test
{
struct Test {
    Test(const char *its_name, std::function<void()> function);
    const char *name;
    std::function<void()> run;
    Test *next;
};

/* Ends the test as failed unless the condition holds. */
void expect(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the test as failed on a CUDA error. */
void succeed(int error, const char *what);

/* Each got[i] within `bound` times the root mean square of `want` of want[i]; NaN never is. */
void expect_close(const char *what, const std::vector<double> &want, const std::vector<float> &got,
                  double bound);

/* How many extra phases ldmatrix took for a phase of 8 rows, since the last call: 0 is free of bank
 * conflicts. Always 0 on a GPU, which does not tell. */
double bank_conflicts();

/* The test's own sequence: seeded by its name, printed when it fails. */
uint32_t random_bits();
double random_signed(); /* -1 to 1 */

/* Bits of 16-bit floats, rounded to nearest even. */
uint16_t to_half(double value);
double from_half(uint16_t bits);
uint16_t to_bfloat(double value);
double from_bfloat(uint16_t bits);

/* Device memory of exactly `size` elements. */
template <class T> class DeviceArray
{
  public:
    explicit DeviceArray(size_t count) : size(count)
    {
        succeed(cudaMalloc(reinterpret_cast<void **>(&data), size * sizeof(T)), "cudaMalloc");
    }
    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size())
    {
        succeed(cudaMemcpy(data, values.data(), size * sizeof(T), cudaMemcpyHostToDevice),
                "cudaMemcpy");
    }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray()
    {
        cudaFree(data);
    }
    /* Waits for the device, then copies. */
    std::vector<T> get() const
    {
        std::vector<T> values(size);
        succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        succeed(cudaMemcpy(values.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
        return values;
    }

    T *data = nullptr;
    size_t size;
};
} // namespace device_test

#define DEVICE_TEST(name)                                                                          \
    static void test_##name();                                                                     \
    static device_test::Test entry_##name(#name, test_##name);                                     \
    static void test_##name()
