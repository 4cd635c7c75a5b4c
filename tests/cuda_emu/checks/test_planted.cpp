/*
 * test_planted.cpp: each planted fault must be found by the builds and orders
 * that docs/cuda.md names, and kernels without a fault must pass in all of them.
 * A fault runs in a process of its own.
 */
#include "device_test.h"
#include "forked.h"
#include "planted.h"

#include <cstring>

using namespace device_test;

/* Builds and orders that must find a fault. */
enum Finder {
    VALUES = 1, /* plain build, threads in order: a value differs, or the run ends with a report */
    ORDERS = 2, /* plain build, any of the orders */
    ASAN = 4,
    RACE = 8
};

struct Planted {
    const char *name;
    Bug bug;
    int (*run)(Bug); /* 0: right values */
    int finders;
    const char *race_report; /* part of what the race build says, NULL: anything */
};

/* The right answer; the f32 sums are of integers times scales that are powers of two: exact. */
static int run_matmul(Bug bug)
{
    const int rows = 40, width = 256, tokens = 11;
    std::vector<uint8_t> w(size_t(rows * width / 2));
    std::vector<float> scales(size_t(rows * width / 32));
    std::vector<int8_t> x(size_t(tokens * width));
    for (auto &byte : w)
        byte = uint8_t(random_bits());
    for (auto &scale : scales)
        scale = std::exp2(float(int(random_bits() % 5)) - 2);
    for (auto &value : x)
        value = int8_t(random_bits());
    DeviceArray<uint8_t> w_there(w);
    DeviceArray<float> scales_there(scales), out(size_t(rows * tokens));
    DeviceArray<int8_t> x_there(x);
    std::vector<float> host_out(out.size);
    bank_conflicts();
    if (planted_matmul(bug == HOST_POINTER ? host_out.data() : out.data, w_there.data,
                       scales_there.data, x_there.data, rows, width, tokens, bug) != cudaSuccess)
        return 2;
    const std::vector<float> got = out.get();
    if (bank_conflicts() > 0)
        return 3;
    for (int token = 0; token < tokens; token++)
        for (int row = 0; row < rows; row++) {
            float sum = 0;
            for (int i = 0; i < width; i++) {
                const int weight = (w[size_t(row * width + i) / 2] >> 4 * (i % 2) & 15) - 8;
                sum += float(weight * x[size_t(token * width + i)]) *
                       scales[size_t(row * width + i) / 32];
            }
            if (got[size_t(token * rows + row)] != sum)
                return 1;
        }
    return 0;
}

/* One value is far above the others: without it the exponentials overflow. */
static int run_softmax(Bug bug)
{
    const int rows = 3, width = 520, keys = bug == RETURN_BEFORE_BARRIER ? 100 : 517;
    const bool early = bug == SHARED_REUSED || bug == RETURN_BEFORE_BARRIER;
    const int peak = bug == TAIL_DROPPED ? keys - 1 : early ? 10 : 400;
    std::vector<float> x(size_t(rows * width));
    for (size_t i = 0; i < x.size(); i++)
        x[i] = int(i) % width == peak ? 100.0f : float(-10 + 3 * random_signed());
    for (int row = 0; row < rows; row++)
        x[size_t(row * width + keys)] = 400; /* masked out */
    DeviceArray<float> there(x);
    DeviceArray<int> large(std::vector<int>{5});
    if (planted_softmax(there.data, large.data, rows, width, keys, bug) != cudaSuccess)
        return 2;
    const std::vector<float> got = there.get();
    for (size_t i = 0; i < got.size(); i++) /* all others are exp(-107) */
        if (!(std::fabs(got[i] - (int(i) % width == peak ? 1.0f : 0.0f)) < 1e-6f))
            return 1;
    return large.get()[0] != 5 + rows;
}

static int run_exchange(Bug bug)
{
    std::vector<uint16_t> p(16 * 16), v(16 * 8);
    for (auto &value : p)
        value = to_half(int(random_bits() % 9) - 4);
    for (auto &value : v)
        value = to_half(int(random_bits() % 9) - 4);
    DeviceArray<uint16_t> p_there(p), v_there(v);
    DeviceArray<float> out(16 * 8);
    if (planted_exchange(out.data, p_there.data, v_there.data, 3, bug) != cudaSuccess)
        return 2;
    const std::vector<float> got = out.get();
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            double sum = 0;
            for (int k = 0; k < 16; k++)
                sum += from_half(p[size_t(row * 16 + k)]) * from_half(v[size_t(k * 8 + column)]);
            if (double(got[size_t(row * 8 + column)]) != 7 * sum)
                return 1;
        }
    return 0;
}

static const int ALWAYS = VALUES | ORDERS | ASAN | RACE;
static const int SANITIZED = ASAN | RACE;

#define PLANTED(run, bug, finders, report)                                                         \
    {                                                                                              \
#bug, bug, run, finders, report                                                            \
    }
static const Planted faults[] = {
    PLANTED(run_matmul, WRONG_C_ROW, ALWAYS, nullptr),
    PLANTED(run_matmul, WRONG_C_COLUMN, ALWAYS, nullptr),
    PLANTED(run_matmul, WRONG_A_REGISTERS, ALWAYS, nullptr),
    PLANTED(run_matmul, WRONG_B_ORDER, ALWAYS, nullptr),
    PLANTED(run_matmul, WRONG_NIBBLE, ALWAYS, nullptr),
    PLANTED(run_matmul, WRONG_SCALE, ALWAYS, nullptr),
    PLANTED(run_matmul, NO_BARRIER_BEFORE_READS, ALWAYS, "nobody wrote yet: dynamic shared"),
    PLANTED(run_matmul, NO_BARRIER_AFTER_READS, ORDERS | RACE,
            "race: write after read: dynamic shared"),
    PLANTED(run_matmul, WAIT_LEAVES_TWO, ALWAYS,
            "cp.async destination before its wait: dynamic shared"),
    PLANTED(run_matmul, WAIT_LEAVES_ONE_AT_END, ALWAYS,
            "cp.async destination before its wait: dynamic shared"),
    PLANTED(run_matmul, NO_COMMIT, ALWAYS, "cp.async destination before its wait: dynamic shared"),
    PLANTED(run_matmul, WRONG_BUFFER, ALWAYS,
            "cp.async destination before its wait: dynamic shared"),
    PLANTED(run_matmul, PREFETCH_INTO_USED, ALWAYS,
            "cp.async destination before its wait: dynamic shared"),
    PLANTED(run_matmul, READ_NO_GUARD, SANITIZED, "read outside device memory"),
    PLANTED(run_matmul, READ_GUARD_OFF_BY_ONE, SANITIZED, "read outside device memory"),
    PLANTED(run_matmul, WRITE_GUARD_OFF_BY_ONE, SANITIZED, "race: write after write: global"),
    PLANTED(run_matmul, GRID_TOO_SMALL, ALWAYS, nullptr),
    PLANTED(run_matmul, NEXT_ARRAY_IN_STRUCT, ORDERS | RACE,
            "cp.async destination before its wait"),
    PLANTED(run_matmul, SMEM_TOO_SMALL, SANITIZED, "outside device memory"),
    PLANTED(run_matmul, SMEM_NOT_ALLOWED, ALWAYS, nullptr),
    PLANTED(run_matmul, REGISTER_INDEX, SANITIZED, "out of bounds"),
    PLANTED(run_matmul, CHUNK_NOT_LOADED, ALWAYS,
            "read of memory that nobody wrote yet: dynamic shared"),
    PLANTED(run_matmul, ADDS_TO_FRESH_MEMORY, ALWAYS,
            "read of memory that nobody wrote yet: global"),
    PLANTED(run_matmul, COPY_MISALIGNED, ALWAYS, "no multiple of 16"),
    PLANTED(run_matmul, LDMATRIX_MISALIGNED, ALWAYS, "no multiple of 16"),
    PLANTED(run_matmul, HOST_POINTER, ALWAYS, "write outside device memory"),
    PLANTED(run_matmul, LDMATRIX_CONFLICTS, ALWAYS, nullptr),
    PLANTED(run_softmax, MASK_OFF_BY_ONE, ALWAYS, nullptr),
    PLANTED(run_softmax, TAIL_DROPPED, ALWAYS, nullptr),
    PLANTED(run_softmax, SUM_NO_BARRIER, ALWAYS, "static shared"),
    PLANTED(run_softmax, SHARED_REUSED, ALWAYS, "race: write after read: static shared"),
    PLANTED(run_softmax, SHARED_WRITTEN_PAST, ALWAYS, "index 4 out of bounds"),
    PLANTED(run_softmax, SHARED_READ_PAST, SANITIZED, "index 4 out of bounds"),
    PLANTED(run_softmax, SHARED_POINTER_PAST, ALWAYS, "static shared"),
    PLANTED(run_softmax, DIVERGENT_BARRIER, ALWAYS, "race: read after write: static shared"),
    PLANTED(run_softmax, DIVERGENT_SHUFFLE, ALWAYS, "shuffle"),
    PLANTED(run_softmax, DIVERGENT_BALLOT, ALWAYS, "vote"),
    PLANTED(run_softmax, RETURN_BEFORE_BARRIER, ALWAYS, "returned"),
    PLANTED(run_softmax, VECTOR_MISALIGNED, ALWAYS, nullptr),
    PLANTED(run_softmax, COUNT_GUARD, SANITIZED, "read outside device memory"),
    PLANTED(run_softmax, PLAIN_ADD_ACROSS_WARPS, RACE, "race: read after write: static shared"),
    PLANTED(run_softmax, PLAIN_ADD_ACROSS_BLOCKS, RACE, "race: read after write: global"),
    PLANTED(run_exchange, NO_SYNCWARP_BEFORE_READS, VALUES | ORDERS | ASAN | RACE,
            "nobody wrote yet: static shared"),
    PLANTED(run_exchange, NO_SYNCWARP_AFTER_READS, RACE, "race: write after read: static shared"),
    PLANTED(run_exchange, NO_SYNCWARP_BEFORE_LDMATRIX, RACE,
            "race: read after write: static shared"),
    PLANTED(run_exchange, NOT_TRANSPOSED, ALWAYS, nullptr),
    PLANTED(run_exchange, WRONG_P_REGISTERS, ALWAYS, nullptr),
};

static const Planted controls[] = {
    PLANTED(run_matmul, SOUND, 0, nullptr),
    PLANTED(run_softmax, SOUND, 0, nullptr),
    PLANTED(run_exchange, SOUND, 0, nullptr),
    PLANTED(run_exchange, SOUND_PLAIN_READS, 0, nullptr),
};

/* The build that this is, by a name of its own. */
extern "C" __attribute__((weak)) int emu_race_checks;

static int finder_of_build()
{
#ifdef __SANITIZE_ADDRESS__
    return ASAN;
#else
    return &emu_race_checks ? RACE : VALUES;
#endif
}

static Outcome run_in_order(const Planted &planted, const char *order, const char *seed)
{
    return run_forked([&] { return planted.run(planted.bug); },
                      {{"EMU_ORDER", order}, {"EMU_SEED", seed}});
}

struct Order {
    const char *name, *seed;
};
static const Order orders[] = {{"forward", "0"}, {"reverse", "0"}, {"robin", "0"},
                               {"random", "1"},  {"random", "2"},  {"random", "3"}};

static bool found_in_any_order(const Planted &planted)
{
    for (const Order &order : orders)
        if (run_in_order(planted, order.name, order.seed).status != 0)
            return true;
    return false;
}

/* What the race build says of a race: what, which memory, and the source of both sides. */
static void expect_race_report(const Planted &planted, const Outcome &outcome)
{
    if (!planted.race_report)
        return;
    expect(outcome.says(planted.race_report), "expected \"%s\" in:\n%s", planted.race_report,
           outcome.report.c_str());
    if (strncmp(planted.race_report, "race:", 5) != 0)
        return;
    expect(outcome.says("planted_") && outcome.says("  access ") && outcome.says("  other "),
           "no lines of source in:\n%s", outcome.report.c_str());
}

static void expect_found(const Planted &planted)
{
    const int build = finder_of_build();
    const Outcome outcome = run_in_order(planted, "forward", "0");
    if (planted.finders & build) {
        expect(outcome.status != 0, "not found in this build");
        if (build == RACE)
            expect_race_report(planted, outcome);
    } else if (build == VALUES && planted.finders & ORDERS) {
        expect(found_in_any_order(planted), "not found in any order");
    } else {
        printf("    this build need not find it; it %s\n", outcome.status ? "did" : "did not");
    }
}

static void expect_sound(const Planted &planted)
{
    for (const Order &order : orders) {
        const Outcome outcome = run_in_order(planted, order.name, order.seed);
        expect(outcome.status == 0, "%s %s: status %d\n%s", order.name, order.seed, outcome.status,
               outcome.report.c_str());
    }
}

/* Registers a test for each line of the tables. */
static struct Tests {
    Tests()
    {
        for (const Planted &planted : controls)
            new Test(planted.name, [&planted] { expect_sound(planted); });
        for (const Planted &planted : faults)
            new Test(planted.name, [&planted] { expect_found(planted); });
    }
} tests;
