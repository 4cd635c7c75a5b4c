/*
 * scheduler.cpp: blocks run one after the other; the threads of a block are
 * fibers. A fiber runs until a barrier or a collective, then jumps to the next
 * one that is ready. Which one that is depends on EMU_ORDER: code that is right
 * gives the same result in every order.
 */
#include "emu_internal.h"
#include "ptx_program.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

EMU_OWN uint3 threadIdx, blockIdx;
EMU_OWN dim3 blockDim, gridDim;

namespace emu
{
Thread *current;
const void *kernel_now;
Epochs epochs = {1, 0, 0, {}};
unsigned char *shared_now;
size_t shared_bytes;
Statistics statistics;
const Watcher *watcher __attribute__((weak));

static Thread threads[MAX_FIBERS];
static int created;                     /* fibers */
static int count;                       /* of the block */
static int alive, waiting;              /* not returned; at the barrier */
static uint64_t ready[MAX_FIBERS / 64]; /* a bit per thread */
static Fiber launcher;
static const Call *running;
static const Kernel *translated; /* what runs in its place; null: itself */

static Settings read_settings()
{
    static const char *const names[] = {"forward", "reverse", "random", "robin"};
    Settings result = {};
    result.order = Settings::FORWARD;
    result.seed = 1;
    result.max_smem = 99 << 10; /* sm_86, sm_89 and sm_120 */
    if (const char *order = getenv("EMU_ORDER")) {
        int i = 0;
        while (i < 4 && strcmp(order, names[i]))
            i++;
        if (i == 4)
            die("EMU_ORDER=%s: give forward, reverse, random or robin", order);
        result.order = Settings::Order(i);
    }
    if (const char *seed = getenv("EMU_SEED"))
        result.seed = strtoull(seed, nullptr, 10);
    if (const char *bytes = getenv("EMU_SMEM"))
        result.max_smem = strtoull(bytes, nullptr, 10);
    result.ptx = getenv("EMU_PTX");
    return result;
}

const Settings &settings()
{
    static const Settings once = read_settings();
    return once;
}

/* xorshift64. */
uint32_t random_number()
{
    static uint64_t state = 0x9e3779b97f4a7c15ull * (settings().seed + 1);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t(state >> 20);
}

static void set_state(Thread &thread, Thread::State state)
{
    const uint64_t bit = 1ull << (thread.number & 63);
    uint64_t &word = ready[thread.number / 64];
    word = state == Thread::READY ? word | bit : word & ~bit;
    thread.state = state;
}

static Thread *last_ready()
{
    for (int word = (count - 1) / 64; word >= 0; word--)
        if (ready[word])
            return &threads[word * 64 + 63 - __builtin_clzll(ready[word])];
    return nullptr;
}

static Thread *first_ready_from(int start)
{
    const int words = (count + 63) / 64;
    for (int i = 0; i <= words; i++) {
        const int word = (start / 64 + i) % words;
        const uint64_t bits = i == 0 ? ready[word] & ~0ull << (start & 63) : ready[word];
        if (bits)
            return &threads[word * 64 + __builtin_ctzll(bits)];
    }
    return nullptr;
}

static Thread *pick()
{
    switch (settings().order) {
    case Settings::REVERSE:
        return last_ready();
    case Settings::RANDOM:
        return first_ready_from(int(random_number() % unsigned(count)));
    case Settings::ROBIN:
        return first_ready_from(current ? (current->number + 1) % count : 0);
    default:
        return first_ready_from(0);
    }
}

/* Goes on in a thread, or in the launcher when it is null. */
static void resume(Thread *thread)
{
    Thread *from = current;
    if (thread == from)
        return;
    current = thread;
    statistics.switches++;
    if (thread)
        threadIdx = thread->index;
    fiber_switch(from ? from->fiber : launcher, thread ? thread->fiber : launcher);
}

[[noreturn]] static void deadlock()
{
    fprintf(stderr, "cuda_emu: waiting threads:\n");
    for (int i = 0; i < count; i++) {
        const Thread &t = threads[i];
        if (i && t.state == threads[i - 1].state && t.name == threads[i - 1].name)
            continue;
        fprintf(stderr, "  from thread %d: %s\n", i,
                t.state == Thread::AT_BARRIER      ? "__syncthreads"
                : t.state == Thread::IN_COLLECTIVE ? t.name
                                                   : "returned");
    }
    die("deadlock: divergent barrier or collective");
}

static void resume_next()
{
    Thread *next = pick();
    if (!next)
        deadlock();
    resume(next);
}

static void release_barrier()
{
    int trues = 0;
    for (int i = 0; i < count; i++)
        trues += threads[i].predicate != 0;
    for (int i = 0; i < count; i++) {
        Thread &t = threads[i];
        if (t.barrier != threads[0].barrier)
            die("thread %d is in another kind of __syncthreads than thread 0", i);
        t.predicate = t.barrier == Barrier::any   ? trues > 0
                      : t.barrier == Barrier::all ? trues == count
                                                  : trues;
        set_state(t, Thread::READY);
    }
    waiting = 0;
    epochs.now++;
}

int block_barrier(Barrier kind, int predicate)
{
    current->barrier = kind;
    current->predicate = predicate;
    if (alive != count)
        die("__syncthreads after %d threads returned", count - alive);
    set_state(*current, Thread::AT_BARRIER);
    if (++waiting == count)
        release_barrier();
    resume_next();
    return current->predicate;
}

/* Whether all lanes of this thread's collective are there; dies where one cannot come. */
static bool gather_lanes(Thread *warp, void **arguments)
{
    const Thread &me = *current;
    if (ready[me.number / 64] >> (me.number & 32) & me.mask)
        return false;
    for (int lane = 0; lane < 32; lane++) {
        if (!(me.mask >> lane & 1))
            continue;
        const Thread &other = warp[lane];
        if (other.state == Thread::RETURNED)
            die("%s: lane %d in the mask has returned", me.name, lane);
        if (other.state == Thread::AT_BARRIER)
            die("%s: lane %d is in __syncthreads", me.name, lane);
        if (other.mask != me.mask || other.function != me.function ||
            (other.name != me.name && strcmp(other.name, me.name)))
            die("%s (mask %08x): lane %d is in %s (mask %08x)", me.name, me.mask, lane, other.name,
                other.mask);
        arguments[lane] = other.argument;
    }
    return true;
}

void warp_collective(WarpFunction function, unsigned mask, void *argument, const char *name)
{
    Thread &me = *current;
    Thread *warp = threads + (me.number & ~31);
    if (count - (me.number & ~31) < 32)
        die("%s in a warp of %d threads: a block is a multiple of 32", name, count & 31);
    if (!(mask >> (me.number & 31) & 1))
        die("%s: the caller is not in its own mask", name);
    me.function = function;
    me.mask = mask;
    me.argument = argument;
    me.name = name;
    me.caller = __builtin_return_address(0);
    set_state(me, Thread::IN_COLLECTIVE);
    void *arguments[32];
    if (gather_lanes(warp, arguments)) {
        statistics.collectives++;
        for (int lane = 0; lane < 32; lane++)
            if (mask >> lane & 1)
                set_state(warp[lane], Thread::READY);
        function(mask, arguments);
        if (settings().order == Settings::FORWARD) /* no switch needed to stay in this order */
            return;
    }
    resume_next();
}

const Thread &warp_lane(int lane)
{
    return threads[(current->number & ~31) + lane];
}

static void thread_main()
{
    fiber_entered();
    for (;;) {
        if (translated)
            run_translated_thread(*translated);
        else
            running->call(running->body);
        finish_copies(*current, INT32_MAX);
        set_state(*current, Thread::RETURNED);
        alive--;
        if (waiting)
            die("a thread returned while %d others wait in __syncthreads", waiting);
        if (alive)
            resume_next();
        else
            resume(nullptr);
    }
}

static void create_fibers(int wanted)
{
    for (; created < wanted; created++) {
        threads[created].number = created;
        fiber_create(threads[created].fiber, created, thread_main);
    }
}

static void run_block(uint3 block)
{
    blockIdx = block;
    epochs.block = ++epochs.now;
    memset(shared_now, 0xff, shared_bytes); /* NaN as f16, f32 and f64 */
    if (translated)
        begin_translated_block(*translated);
    alive = count;
    waiting = 0;
    for (int i = 0; i < count; i++) {
        const unsigned n = unsigned(i);
        threads[i].index =
            make_uint3(n % blockDim.x, n / blockDim.x % blockDim.y, n / blockDim.x / blockDim.y);
        threads[i].groups = 0;
        set_state(threads[i], Thread::READY);
    }
    resume(pick());
}

/* The i-th block to run, as a number from 0 to blocks - 1. */
static uint64_t block_in_order(uint64_t i, uint64_t blocks, uint64_t step)
{
    switch (settings().order) {
    case Settings::REVERSE:
        return blocks - 1 - i;
    case Settings::RANDOM:
        return (i * step + blocks / 3) % blocks;
    default:
        return i;
    }
}

/* A step that visits every one of n blocks. */
static uint64_t coprime_step(uint64_t n)
{
    uint64_t step = 1 + random_number() % n;
    while (std::gcd(step, n) != 1)
        step++;
    return step;
}

void run_call(const Call &call)
{
    running = &call;
    kernel_now = call.kernel;
    translated = translate(call);
    gridDim = call.grid;
    blockDim = call.block;
    count = int(call.block.x * call.block.y * call.block.z);
    create_fibers(count);
    fiber_adopt(launcher);
    memset(ready, 0, sizeof ready);
    shared_bytes = call.smem;
    /* Of its own size, for AddressSanitizer. */
    if (posix_memalign(reinterpret_cast<void **>(&shared_now), 128, shared_bytes + !shared_bytes))
        die("no memory");
    epochs.launch = ++epochs.now;
    const uint64_t blocks = uint64_t(call.grid.x) * call.grid.y * call.grid.z;
    const uint64_t step = settings().order == Settings::RANDOM ? coprime_step(blocks) : 1;
    for (uint64_t i = 0; i < blocks; i++) {
        const uint64_t b = block_in_order(i, blocks, step);
        run_block(make_uint3(unsigned(b % call.grid.x), unsigned(b / call.grid.x % call.grid.y),
                             unsigned(b / call.grid.x / call.grid.y)));
    }
    free(shared_now);
    shared_now = nullptr;
    shared_bytes = 0;
    kernel_now = nullptr;
}

unsigned char *dyn_smem()
{
    return shared_now;
}
} // namespace emu

/* For tests that also run on a GPU: they find it by its name, or not. */
extern "C" void emu_matrix_phases(unsigned long long *phases, unsigned long long *extra);
extern "C" void emu_matrix_phases(unsigned long long *phases, unsigned long long *extra)
{
    *phases = emu::statistics.matrix_phases;
    *extra = emu::statistics.matrix_extra_phases;
}
