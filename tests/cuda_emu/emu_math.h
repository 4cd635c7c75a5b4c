/*
 * emu_math.h: intrinsics of one thread. Where the card approximates (rsqrtf,
 * __fdividef) this is the rounded exact value: compare with a bound. Exponentials
 * and logarithms are off, one way or the other, by what CUDA's programming guide
 * allows them: a result must not depend on the C library's last bits.
 */
#pragma once

namespace emu
{
template <class To, class From> inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

/* One byte operation on each of the four bytes of two words. */
template <class Operation> inline unsigned each_byte(unsigned a, unsigned b, Operation operation)
{
    unsigned result = 0;
    for (int shift = 0; shift < 32; shift += 8)
        result |= unsigned(operation(a >> shift & 255, b >> shift & 255) & 255) << shift;
    return result;
}

inline int saturated_byte(int value)
{
    return value < -128 ? -128 : value > 127 ? 127 : value;
}

inline float reciprocal_root(float x)
{
    return float(1.0 / std::sqrt(double(x)));
}

/* y, but for values that no card misses some units in the last place up or down, as x has it. */
template <class Float> inline Float off_by(int units, Float y, Float x)
{
    const unsigned long long bits = bits_as<unsigned long long>(double(x));
    const bool up = bits * 0x9e3779b97f4a7c15ull >> 63;
    for (int i = 0; i < units && y != 0 && x != 0 && y != 1 && std::isfinite(y); i++)
        y = std::nextafter(y, Float(up ? INFINITY : -INFINITY));
    return y;
}

inline float card_expf(float x)
{
    return off_by(2, std::exp(x), x);
}

inline float card_logf(float x)
{
    return off_by(1, std::log(x), x);
}

inline double card_log(double x)
{
    return off_by(1, std::log(x), x);
}
} // namespace emu

/* Names that glibc declares for itself, or will: macros, not functions. */
#define rsqrtf   emu::reciprocal_root
#define expf     emu::card_expf
#define logf     emu::card_logf
#define log      emu::card_log
#define __expf   expf
#define __exp10f exp10f
#define __logf   logf
#define __log2f  log2f
#define __powf   powf
#define __sinf   sinf
#define __cosf   cosf

template <class T> static inline T __ldg(const T *at)
{
    return *at;
}

static inline float __uint_as_float(unsigned v)
{
    return emu::bits_as<float>(v);
}

static inline unsigned __float_as_uint(float v)
{
    return emu::bits_as<unsigned>(v);
}

static inline float __int_as_float(int v)
{
    return emu::bits_as<float>(v);
}

static inline int __float_as_int(float v)
{
    return emu::bits_as<int>(v);
}

static inline double __longlong_as_double(long long v)
{
    return emu::bits_as<double>(v);
}

static inline long long __double_as_longlong(double v)
{
    return emu::bits_as<long long>(v);
}

static inline int __float2int_rn(float v)
{
    return int(lrintf(v));
}

static inline int __float2int_rz(float v)
{
    return int(v);
}

static inline float __int2float_rn(int v)
{
    return float(v);
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}

static inline float __fsub_rn(float a, float b)
{
    return a - b;
}

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}

static inline float __fsqrt_rn(float v)
{
    return sqrtf(v);
}

static inline float __frcp_rn(float v)
{
    return 1.0f / v;
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

static inline float __saturatef(float v)
{
    return v > 0 ? (v < 1 ? v : 1) : 0;
}

static inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}

static inline int __popcll(unsigned long long v)
{
    return __builtin_popcountll(v);
}

static inline int __ffs(int v)
{
    return __builtin_ffs(v);
}

static inline int __ffsll(long long v)
{
    return __builtin_ffsll(v);
}

static inline int __clz(int v)
{
    return v ? __builtin_clz(unsigned(v)) : 32;
}

static inline int __clzll(long long v)
{
    return v ? __builtin_clzll((unsigned long long)(v)) : 64;
}

static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return unsigned((uint64_t(a) * b) >> 32);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)(a)*b) >> 64);
}

/* Bits shift..shift + 31 of hi:lo; the shift is taken modulo 32. */
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
    return unsigned((uint64_t(hi) << 32 | lo) >> (shift & 31));
}

static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
    return unsigned(((uint64_t(hi) << 32 | lo) << (shift & 31)) >> 32);
}

/* Byte i of the result is byte (nibble i of selector) & 7 of b:a, or its sign spread with bit 3. */
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t both = uint64_t(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned pick = selector >> 4 * i & 15;
        const unsigned byte = unsigned(both >> 8 * (pick & 7)) & 255;
        const unsigned spread = byte & 128 ? 255 : 0;
        result |= (pick & 8 ? spread : byte) << 8 * i;
    }
    return result;
}

static inline int __dp4a(int a, int b, int c)
{
    for (int shift = 0; shift < 32; shift += 8)
        c += int8_t(a >> shift) * int8_t(b >> shift);
    return c;
}

static inline unsigned __vadd4(unsigned a, unsigned b)
{
    return emu::each_byte(a, b, [](unsigned x, unsigned y) { return x + y; });
}

static inline unsigned __vsub4(unsigned a, unsigned b)
{
    return emu::each_byte(a, b, [](unsigned x, unsigned y) { return x - y; });
}

static inline unsigned __vsubss4(unsigned a, unsigned b)
{
    return emu::each_byte(
        a, b, [](unsigned x, unsigned y) { return emu::saturated_byte(int8_t(x) - int8_t(y)); });
}

static inline unsigned __vcmpeq4(unsigned a, unsigned b)
{
    return emu::each_byte(a, b, [](unsigned x, unsigned y) { return x == y ? 255 : 0; });
}

static inline unsigned __vcmpne4(unsigned a, unsigned b)
{
    return ~__vcmpeq4(a, b);
}

template <class T> static inline T min(T a, typename std::common_type<T>::type b)
{
    return b < a ? b : a;
}

template <class T> static inline T max(T a, typename std::common_type<T>::type b)
{
    return a < b ? b : a;
}
