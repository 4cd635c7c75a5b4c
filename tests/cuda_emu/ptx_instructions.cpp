/*
 * ptx_instructions.cpp: what each instruction does, as the PTX ISA (9.0) says. Most are a function
 * of their operands' values; what concerns a warp or a block is handed to the emulator, as what g++
 * translated is.
 */
#include "emu_ptx.h"
#include "ptx_program.h"

#include <cfenv>
#include <unordered_map>
#include <utility>

namespace emu
{
/* PTX writes -1 for true. */
template <class T> static T get(const Lane &lane, Slot slot)
{
    if constexpr (std::is_same<T, bool>::value)
        return lane.values[slot] & 1;
    T value;
    memcpy(&value, &lane.values[slot], sizeof value);
    return value;
}

template <class T> static void set(Lane &lane, Slot slot, T value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    lane.values[slot] = bits;
}

/* The first operand gets what a function makes of the others. */
template <auto function> struct Pure;

template <class Result, class... Values, Result (*function)(Values...)> struct Pure<function> {
    template <size_t... n>
    static void apply(Lane &lane, const Instruction &self, std::index_sequence<n...>)
    {
        set<Result>(lane, self.operands[0], function(get<Values>(lane, self.operands[n + 1])...));
    }
    static void run(Lane &lane, const Instruction &self)
    {
        apply(lane, self, std::index_sequence_for<Values...>());
    }
};

/* Arithmetic. Sums and products of integers are those of unsigned ones, which wrap around. */
template <class T> static T add(T a, T b)
{
    return T(a + b);
}

template <class T> static T subtract(T a, T b)
{
    return T(a - b);
}

template <class T> static T negate(T a)
{
    return T(-a);
}

template <class T> static T multiply(T a, T b)
{
    if constexpr (sizeof(T) == 2) /* of which C++ makes signed ones */
        return T(unsigned(a) * b);
    return T(a * b);
}

template <class T> static T multiply_add(T a, T b, T c)
{
    return T(multiply(a, b) + c);
}

template <class Wide, class T> static Wide multiply_wide(T a, T b)
{
    return Wide(Wide(a) * Wide(b));
}

template <class Wide, class T> static T multiply_high(T a, T b)
{
    return T(Wide(a) * Wide(b) >> 8 * sizeof(T));
}

template <class T> static T magnitude(T a)
{
    return std::fabs(a);
}

template <class T> static T divide(T a, T b)
{
    if constexpr (std::is_integral<T>::value)
        if (b == 0 || (std::is_signed<T>::value && b == T(-1)))
            return b == 0 ? T(-1) : T(0 - uint64_t(a));
    return a / b;
}

template <class T> static T reciprocal(T a)
{
    return 1 / a;
}

/* "A fast, gross approximation": the lower half of the result is zero. */
static double gross_reciprocal(double a)
{
    return bits_as<double>(bits_as<uint64_t>(1 / a) & ~uint64_t(0xffffffff));
}

static float square_root(float a)
{
    return std::sqrt(a);
}

template <class T> static T fused(T a, T b, T c)
{
    return std::fma(a, b, c);
}

/* Towards minus infinity. */
static float fused_down(float a, float b, float c)
{
    volatile float x = a, y = b, z = c, result;
    fesetround(FE_DOWNWARD);
    result = std::fma(x, y, z);
    fesetround(FE_TONEAREST);
    return result;
}

/* Of a NaN and a number the number; -0 is less than +0. */
template <class T> static T first_in_order(T a, T b, bool ascending)
{
    bool less = a < b;
    if constexpr (std::is_floating_point<T>::value) {
        if (a != a || b != b)
            return a != a ? b : a;
        less = a == b ? std::signbit(a) : less;
    }
    return less == ascending ? a : b;
}

template <class T> static T smallest(T a, T b)
{
    return first_in_order(a, b, true);
}

template <class T> static T largest(T a, T b)
{
    return first_in_order(a, b, false);
}

/* Bits. */
template <class T> static T bit_and(T a, T b)
{
    return T(a & b);
}

template <class T> static T bit_or(T a, T b)
{
    return T(a | b);
}

template <class T> static T bit_xor(T a, T b)
{
    return T(a ^ b);
}

template <class T> static T bit_not(T a)
{
    return std::is_same<T, bool>::value ? T(!a) : T(~uint64_t(a));
}

template <class T> static T shift_left(T a, uint32_t bits)
{
    return bits < 8 * sizeof(T) ? T(a << bits) : T(0);
}

template <class T> static T shift_right(T a, uint32_t bits)
{
    const uint32_t last = 8 * sizeof(T) - 1;
    return bits <= last ? T(a >> bits) : std::is_signed<T>::value ? T(a >> last) : T(0);
}

static uint32_t count_ones(uint32_t a)
{
    return uint32_t(__builtin_popcount(a));
}

static uint32_t leading_zeros(uint32_t a)
{
    return a ? uint32_t(__builtin_clz(a)) : 32;
}

/* bfind.shiftamt: by how much the highest one is to be shifted to the top. */
static uint32_t shift_of_highest(uint32_t a)
{
    return a ? uint32_t(__builtin_clz(a)) : ~0u;
}

static uint32_t reversed(uint32_t a)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i++)
        result |= (a >> i & 1) << (31 - i);
    return result;
}

template <class T> static T insert_bits(T from, T to, uint32_t position, uint32_t length)
{
    const uint32_t width = 8 * sizeof(T);
    position &= 255;
    length &= 255;
    for (uint32_t i = 0; i < length && position + i < width; i++) {
        const T bit = T(1) << (position + i);
        to = (from >> i & 1) ? T(to | bit) : T(to & ~bit);
    }
    return to;
}

/* bfe.s32: from a position on; what lies past the top is its sign, as is what is past the length.
 */
static int32_t extract_bits(int32_t from, uint32_t position, uint32_t length)
{
    position &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    const uint32_t last = std::min(position + length - 1, 31u);
    const uint32_t top = uint32_t(from) << (31 - last);
    return position > 31 ? from >> 31 : int32_t(top) >> (31 - last + position);
}

/* prmt: four bytes of b:a, of which a selector's bit 3 asks for the sign. */
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    const uint64_t both = a | uint64_t(b) << 32;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t selector = selectors >> 4 * i & 15;
        const uint32_t byte = uint32_t(both >> 8 * (selector & 7)) & 255;
        result |= (selector & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
}

static int32_t dot_bytes(uint32_t a, uint32_t b, int32_t sum)
{
    for (int i = 0; i < 4; i++)
        sum += int8_t(a >> 8 * i) * int8_t(b >> 8 * i);
    return sum;
}

template <class T> static T same(T a)
{
    return a;
}

template <class T> static T choose(T a, T b, bool first)
{
    return first ? a : b;
}

/* Comparisons; those of floats whose names end in u hold with a NaN too. */
template <class T> static bool equal(T a, T b)
{
    return a == b;
}

template <class T> static bool not_equal(T a, T b)
{
    return (a < b) || (a > b);
}

template <class T> static bool less(T a, T b)
{
    return a < b;
}

template <class T> static bool less_equal(T a, T b)
{
    return a <= b;
}

template <class T> static bool greater(T a, T b)
{
    return a > b;
}

template <class T> static bool greater_equal(T a, T b)
{
    return a >= b;
}

template <class T> static bool unordered_equal(T a, T b)
{
    return !not_equal(a, b);
}

template <class T> static bool unordered_not_equal(T a, T b)
{
    return !(a == b);
}

template <class T> static bool unordered_less(T a, T b)
{
    return !(a >= b);
}

template <class T> static bool unordered_less_equal(T a, T b)
{
    return !(a > b);
}

template <class T> static bool unordered_greater(T a, T b)
{
    return !(a <= b);
}

template <class T> static bool unordered_greater_equal(T a, T b)
{
    return !(a < b);
}

template <class T> static bool either_is_nan(T a, T b)
{
    return a != a || b != b;
}

template <class T> static bool neither_is_nan(T a, T b)
{
    return a == a && b == b;
}

/* Conversions. */
template <class To, class From> static To convert(From a)
{
    return To(a);
}

/* To a byte, in a register with its sign. */
static int32_t low_byte(int32_t a)
{
    return int8_t(a);
}

/* To the nearest integer, ties to even, or towards zero; NaN becomes 0, the rest the nearest there
 * is. */
template <class To, class From> static To to_integer(From a, From rounded)
{
    if (a != a)
        return 0;
    if (rounded <= From(std::numeric_limits<To>::min()))
        return std::numeric_limits<To>::min();
    if (rounded >= From(std::numeric_limits<To>::max()))
        return std::numeric_limits<To>::max();
    return To(rounded);
}

template <class To, class From> static To to_nearest(From a)
{
    return to_integer<To>(a, std::nearbyint(a));
}

template <class To, class From> static To towards_zero(From a)
{
    return to_integer<To>(a, std::trunc(a));
}

/* Into 0 to 1. */
static float saturate(float a)
{
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

static uint16_t float_to_half(float a)
{
    return __half_as_ushort(__float2half_rn(a));
}

static float half_to_float(uint16_t a)
{
    return __half2float(__ushort_as_half(a));
}

static uint32_t floats_to_halves(float high, float low)
{
    return float_to_half(low) | uint32_t(float_to_half(high)) << 16;
}

static uint16_t float_to_bfloat(float a)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(a));
}

/* Memory. */
static unsigned char *address_of(const Lane &lane, const Instruction &self, Slot base,
                                 unsigned bytes, bool write)
{
    const uint64_t address = lane.values[base] + uint64_t(int64_t(self.offset));
    unsigned char *at = self.in_shared ? shared_at(uint32_t(address), bytes)
                                       : reinterpret_cast<unsigned char *>(address);
    if (reinterpret_cast<uintptr_t>(at) & (bytes - 1))
        die("%s of %u bytes at %p, which is no multiple of that", write ? "a store" : "a load",
            bytes, static_cast<void *>(at));
    if (self.watched)
        note_access(at, bytes, write, false);
    return at;
}

/* A register may be wider than what is loaded: signed values keep their sign. */
template <class T> static void load(Lane &lane, const Instruction &self)
{
    const unsigned char *at =
        address_of(lane, self, self.operands[self.count], unsigned(self.count * sizeof(T)), false);
    for (int i = 0; i < self.count; i++) {
        T value;
        memcpy(&value, at + size_t(i) * sizeof value, sizeof value);
        lane.values[self.operands[i]] = uint64_t(int64_t(value));
    }
}

template <class T> static void store(Lane &lane, const Instruction &self)
{
    unsigned char *at =
        address_of(lane, self, self.operands[0], unsigned(self.count * sizeof(T)), true);
    for (int i = 0; i < self.count; i++)
        memcpy(at + size_t(i) * sizeof(T), &lane.values[self.operands[i + 1]], sizeof(T));
}

static void add_atomically(Lane &lane, const Instruction &self)
{
    unsigned char *at = shared_at(get<uint32_t>(lane, self.operands[1]), 8);
    uint64_t value;
    memcpy(&value, at, sizeof value);
    note_access(at, 8, true, true);
    set(lane, self.operands[0], value);
    value += get<uint64_t>(lane, self.operands[2]);
    memcpy(at, &value, sizeof value);
}

static void make_generic(Lane &lane, const Instruction &self)
{
    set(lane, self.operands[0],
        reinterpret_cast<uint64_t>(shared_at(get<uint32_t>(lane, self.operands[1]), 0)));
}

/* Control, and registers put together of two. */
void run_branch(Lane &lane, const Instruction &self)
{
    lane.next = self.target;
}

static void end_thread(Lane &lane, const Instruction &)
{
    lane.next = nullptr;
}

void run_pack_64(Lane &lane, const Instruction &self)
{
    set(lane, self.operands[0],
        get<uint32_t>(lane, self.operands[1]) | uint64_t(get<uint32_t>(lane, self.operands[2]))
                                                    << 32);
}

void run_unpack_64(Lane &lane, const Instruction &self)
{
    const uint64_t both = get<uint64_t>(lane, self.operands[2]);
    set(lane, self.operands[0], uint32_t(both));
    set(lane, self.operands[1], uint32_t(both >> 32));
}

void run_pack_32(Lane &lane, const Instruction &self)
{
    set(lane, self.operands[0],
        get<uint16_t>(lane, self.operands[1]) | uint32_t(get<uint16_t>(lane, self.operands[2]))
                                                    << 16);
}

void run_unpack_32(Lane &lane, const Instruction &self)
{
    const uint32_t both = get<uint32_t>(lane, self.operands[2]);
    set(lane, self.operands[0], uint16_t(both));
    set(lane, self.operands[1], uint16_t(both >> 16));
}

/* What a block does together. */
static void wait_for_block(Lane &, const Instruction &)
{
    block_barrier(Barrier::sync, 0);
}

static void wait_for_any(Lane &lane, const Instruction &self)
{
    set<bool>(lane, self.operands[0],
              block_barrier(Barrier::any, get<bool>(lane, self.operands[2])) != 0);
}

static void wait_for_warp(Lane &lane, const Instruction &self)
{
    warp_collective(warp_sync, get<uint32_t>(lane, self.operands[0]), nullptr, "bar.warp.sync");
}

static void vote(Lane &lane, const Instruction &self)
{
    Vote its{get<bool>(lane, self.operands[1]), 0};
    warp_collective(warp_vote, get<uint32_t>(lane, self.operands[2]), &its, "vote");
    set(lane, self.operands[0], its.lanes);
}

/* Operands: result, whether the source was within bounds, value, lane or distance, bounds, mask. */
enum class Shuffle { up, down, butterfly, index };

template <Shuffle kind> static void shuffle_values(Lane &lane, const Instruction &self)
{
    const uint32_t value = get<uint32_t>(lane, self.operands[2]);
    const int b = int(get<uint32_t>(lane, self.operands[3]) & 31);
    const uint32_t c = get<uint32_t>(lane, self.operands[4]);
    const int segment = int(c >> 8 & 31), me = current->number & 31;
    const int last = (me & segment) | (int(c & 31) & ~segment);
    int source = kind == Shuffle::up          ? me - b
                 : kind == Shuffle::down      ? me + b
                 : kind == Shuffle::butterfly ? me ^ b
                                              : (me & segment) | (b & ~segment);
    const bool within = kind == Shuffle::up ? source >= last : source <= last;
    source = within ? source : me;
    const uint32_t result = shuffle(get<uint32_t>(lane, self.operands[5]), value, source);
    set(lane, self.operands[0], result);
    set(lane, self.operands[1], within);
}

/* Tensor cores: registers of D, A, B and C, which is D. */
template <WarpFunction function, int a_count, int b_count>
static void multiply_matrices(Lane &lane, const Instruction &self)
{
    uint32_t d[4], a[4], b[2];
    for (int i = 0; i < a_count; i++)
        a[i] = get<uint32_t>(lane, self.operands[4 + i]);
    for (int i = 0; i < b_count; i++)
        b[i] = get<uint32_t>(lane, self.operands[4 + a_count + i]);
    for (int i = 0; i < 4; i++)
        d[i] = get<uint32_t>(lane, self.operands[4 + a_count + b_count + i]);
    MmaRegisters registers{d, a, b};
    warp_collective(function, ~0u, &registers, "mma");
    for (int i = 0; i < 4; i++)
        set(lane, self.operands[i], d[i]);
}

/* Lanes past the last matrix give no row. */
template <int matrices, bool transposed>
static void load_matrix_rows(Lane &lane, const Instruction &self)
{
    uint32_t r[4];
    const bool has_row = (current->number & 31) < matrices * 8;
    const uint32_t address = get<uint32_t>(lane, self.operands[matrices]);
    MatrixLoad its{r, has_row ? shared_at(address, 16) : nullptr, matrices, transposed};
    warp_collective(load_matrices, ~0u, &its, "ldmatrix");
    for (int i = 0; i < matrices; i++)
        set(lane, self.operands[i], r[i]);
}

/* Operands: to, from, bytes, bytes that are read. */
static void copy_asynchronously(Lane &lane, const Instruction &self)
{
    const int bytes = get<int>(lane, self.operands[2]);
    cp_async(shared_at(get<uint32_t>(lane, self.operands[0]), unsigned(bytes)),
             reinterpret_cast<const void *>(lane.values[self.operands[1]]), bytes,
             get<int>(lane, self.operands[3]));
}

static void commit_copies(Lane &, const Instruction &)
{
    cp_commit();
}

static void wait_for_copies(Lane &lane, const Instruction &self)
{
    cp_wait(get<int>(lane, self.operands[0]));
}

typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

#define PURE(name, ...)                                                                            \
    {                                                                                              \
        name, Pure<__VA_ARGS__>::run                                                               \
    }
#define SIZES(name, function)                                                                      \
    PURE(name "16", function<u16>), PURE(name "32", function<u32>), PURE(name "64", function<u64>)
#define FLOATS(name, function) PURE(name "32", function<f32>), PURE(name "64", function<f64>)
#define NUMBERS(name, function)                                                                    \
    SIZES(name ".s", function), SIZES(name ".u", function), FLOATS(name ".f", function)
#define BITS(name, function) PURE(name ".pred", function<bool>), SIZES(name ".b", function)
#define ORDERED(name, function)                                                                    \
    SIZES(name ".u", function), FLOATS(name ".f", function), PURE(name ".s16", function<s16>),     \
        PURE(name ".s32", function<s32>), PURE(name ".s64", function<s64>)
#define COMPARED(name, function) ORDERED("setp." name, function), SIZES("setp." name ".b", function)

static const std::unordered_map<std::string, RunInstruction *> instructions = {
    NUMBERS("add", add),
    NUMBERS("sub", subtract),
    NUMBERS("neg", negate),
    FLOATS("mul.f", multiply),
    FLOATS("add.rn.f", add),
    FLOATS("sub.rn.f", subtract),
    FLOATS("mul.rn.f", multiply),
    SIZES("mul.lo.s", multiply),
    SIZES("mul.lo.u", multiply),
    SIZES("mad.lo.s", multiply_add),
    SIZES("mad.lo.u", multiply_add),
    PURE("mul.wide.s16", multiply_wide<s32, s16>),
    PURE("mul.wide.u16", multiply_wide<u32, u16>),
    PURE("mul.wide.s32", multiply_wide<s64, s32>),
    PURE("mul.wide.u32", multiply_wide<u64, u32>),
    PURE("mul.hi.u16", multiply_high<u32, u16>),
    PURE("mul.hi.s32", multiply_high<s64, s32>),
    PURE("mul.hi.u32", multiply_high<u64, u32>),
    PURE("mul.hi.s64", multiply_high<s128, s64>),
    PURE("mul.hi.u64", multiply_high<u128, u64>),
    PURE("div.s32", divide<s32>),
    PURE("div.u32", divide<u32>),
    PURE("div.s64", divide<s64>),
    PURE("div.u64", divide<u64>),
    FLOATS("abs.f", magnitude),
    FLOATS("div.rn.f", divide),
    FLOATS("rcp.rn.f", reciprocal),
    PURE("rcp.approx.ftz.f64", gross_reciprocal),
    PURE("sqrt.rn.f32", square_root),
    FLOATS("fma.rn.f", fused),
    PURE("fma.rm.f32", fused_down),
    PURE("ex2.approx.ftz.f32", ex2),
    ORDERED("min", smallest),
    ORDERED("max", largest),
    BITS("and", bit_and),
    BITS("or", bit_or),
    BITS("xor", bit_xor),
    BITS("not", bit_not),
    SIZES("shl.b", shift_left),
    SIZES("shr.u", shift_right),
    PURE("shr.s16", shift_right<s16>),
    PURE("shr.s32", shift_right<s32>),
    PURE("shr.s64", shift_right<s64>),
    PURE("popc.b32", count_ones),
    PURE("clz.b32", leading_zeros),
    PURE("bfind.shiftamt.u32", shift_of_highest),
    PURE("brev.b32", reversed),
    PURE("bfi.b32", insert_bits<u32>),
    PURE("bfi.b64", insert_bits<u64>),
    PURE("bfe.s32", extract_bits),
    PURE("prmt.b32", permute),
    PURE("dp4a.s32.s32", dot_bytes),
    NUMBERS("mov", same),
    BITS("mov", same),
    PURE("cvta.to.global.u64", same<u64>),
    NUMBERS("selp", choose),
    BITS("selp", choose),
    COMPARED("eq", equal),
    COMPARED("ne", not_equal),
    COMPARED("lt", less),
    COMPARED("le", less_equal),
    COMPARED("gt", greater),
    COMPARED("ge", greater_equal),
    FLOATS("setp.equ.f", unordered_equal),
    FLOATS("setp.neu.f", unordered_not_equal),
    FLOATS("setp.ltu.f", unordered_less),
    FLOATS("setp.leu.f", unordered_less_equal),
    FLOATS("setp.gtu.f", unordered_greater),
    FLOATS("setp.geu.f", unordered_greater_equal),
    FLOATS("setp.nan.f", either_is_nan),
    FLOATS("setp.num.f", neither_is_nan),
    PURE("cvt.s8.s32", low_byte),
    PURE("cvt.s16.s8", convert<s16, s8>),
    PURE("cvt.s32.s8", convert<s32, s8>),
    PURE("cvt.s64.s32", convert<s64, s32>),
    PURE("cvt.u16.u32", convert<u16, u32>),
    PURE("cvt.u16.u64", convert<u16, u64>),
    PURE("cvt.u32.u16", convert<u32, u16>),
    PURE("cvt.u32.u64", convert<u32, u64>),
    PURE("cvt.u64.u16", convert<u64, u16>),
    PURE("cvt.u64.u32", convert<u64, u32>),
    PURE("cvt.f64.f32", convert<f64, f32>),
    PURE("cvt.rn.f32.f64", convert<f32, f64>),
    PURE("cvt.rn.f32.s16", convert<f32, s16>),
    PURE("cvt.rn.f32.u16", convert<f32, u16>),
    PURE("cvt.rn.f32.s32", convert<f32, s32>),
    PURE("cvt.rn.f32.u32", convert<f32, u32>),
    PURE("cvt.rn.f64.s32", convert<f64, s32>),
    PURE("cvt.rn.f64.u32", convert<f64, u32>),
    PURE("cvt.rn.f64.u64", convert<f64, u64>),
    PURE("cvt.rni.s32.f32", to_nearest<s32, f32>),
    PURE("cvt.rzi.u64.f64", towards_zero<u64, f64>),
    PURE("cvt.sat.f32.f32", saturate),
    PURE("cvt.f32.f16", half_to_float),
    PURE("cvt.rn.f16.f32", float_to_half),
    PURE("cvt.rn.f16x2.f32", floats_to_halves),
    PURE("cvt.rn.bf16.f32", float_to_bfloat),
    {"cvta.shared.u64", make_generic},
    {"atom.shared.add.u64", add_atomically},
    {"ret", end_thread},
    {"bar.sync", wait_for_block},
    {"bar.red.or.pred", wait_for_any},
    {"bar.warp.sync", wait_for_warp},
    {"vote.sync.ballot.b32", vote},
    {"shfl.sync.up.b32", shuffle_values<Shuffle::up>},
    {"shfl.sync.down.b32", shuffle_values<Shuffle::down>},
    {"shfl.sync.bfly.b32", shuffle_values<Shuffle::butterfly>},
    {"shfl.sync.idx.b32", shuffle_values<Shuffle::index>},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", multiply_matrices<mma_s8_k32, 4, 2>},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", multiply_matrices<mma_s8_k16, 2, 1>},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", multiply_matrices<mma_f16_k16, 4, 2>},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", multiply_matrices<mma_bf16_k16, 4, 2>},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", load_matrix_rows<4, false>},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", load_matrix_rows<4, true>},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", load_matrix_rows<2, false>},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", load_matrix_rows<2, true>},
    {"cp.async.cg.shared.global", copy_asynchronously},
    {"cp.async.ca.shared.global", copy_asynchronously},
    {"cp.async.commit_group", commit_copies},
    {"cp.async.wait_group", wait_for_copies},
};

RunInstruction *find_instruction(const std::string &name)
{
    const auto found = instructions.find(name);
    return found == instructions.end() ? nullptr : found->second;
}

struct Element {
    const char *type;
    RunInstruction *load, *store;
};

static const Element *find_element(const std::string &type)
{
    static const Element elements[] = {
        {"u8", load<u8>, store<u8>},    {"s8", load<s8>, store<u8>},
        {"b8", load<u8>, store<u8>},    {"u16", load<u16>, store<u16>},
        {"s16", load<s16>, store<u16>}, {"b16", load<u16>, store<u16>},
        {"u32", load<u32>, store<u32>}, {"s32", load<s32>, store<u32>},
        {"b32", load<u32>, store<u32>}, {"f32", load<u32>, store<u32>},
        {"u64", load<u64>, store<u64>}, {"s64", load<u64>, store<u64>},
        {"b64", load<u64>, store<u64>}, {"f64", load<u64>, store<u64>},
    };
    for (const Element &element : elements)
        if (type == element.type)
            return &element;
    return nullptr;
}

RunInstruction *find_load(const std::string &type)
{
    const Element *element = find_element(type);
    return element ? element->load : nullptr;
}

RunInstruction *find_store(const std::string &type)
{
    const Element *element = find_element(type);
    return element ? element->store : nullptr;
}
} // namespace emu
