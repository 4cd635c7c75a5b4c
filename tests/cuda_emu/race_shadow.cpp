/*
 * race_shadow.cpp: the checks of the race build. Each byte of device memory has
 * a shadow: who wrote and read it last, and when in barriers. Four bytes that are
 * only accessed together share one, which is several times as fast. Two accesses of
 * different threads, one of them a write, with no barrier between are a fault,
 * whatever order they ran in; so are reads of what nobody wrote, accesses
 * outside device memory and of what cp.async has not brought yet.
 */
#include "emu_internal.h"
#include "ptx_program.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>
#include <vector>

/* By the linker: the program's variables, and those of EMU_OWN among them. */
extern "C" char __executable_start[], __data_start[], _end[], __start_emu_own[], __stop_emu_own[];

namespace emu
{
/* Thread numbers that stand for several: of all warps, or SOME_LANES - w: of warp w. */
constexpr int16_t SOME_WARPS = -1, SOME_LANES = -2;

/* Of a write: it was atomic, its cp.async is under way, and someone wrote the byte, the host or a
 * thread. */
enum : uint16_t { ATOMIC = 1, PENDING = 2, WRITTEN = 4 };

struct Mark {
    uint32_t epoch, warp_epoch, pc;
    int16_t thread;
    uint16_t flags;

    bool is(uint16_t flag) const
    {
        return flags & flag;
    }
};

struct Shadow {
    Mark write, read;
};

/* Four bytes with one shadow until some of them are accessed without the others. */
struct Word {
    Shadow all;
    uint32_t split; /* 1 + where the region's `bytes_of_words` has its four; 0: not split */
};

struct Region {
    char *base; /* a multiple of 4 */
    size_t bytes;
    Word *words;
    const char *kind;
    std::vector<std::array<Shadow, 4>> bytes_of_words;

    bool shared() const
    {
        return kind[0] != 'g';
    }
    bool holds(const char *at) const
    {
        return at >= base && at < base + bytes;
    }
    /* The shadow of a byte alone, valid until another word is split. */
    Shadow &byte(const char *at)
    {
        const size_t offset = size_t(at - base);
        Word &word = words[offset / 4];
        if (!word.split) {
            bytes_of_words.push_back({word.all, word.all, word.all, word.all});
            word.split = uint32_t(bytes_of_words.size());
        }
        return bytes_of_words[word.split - 1][offset % 4];
    }
    /* Calls look(shadow, its first byte) for each shadow of `count` bytes. */
    template <class Look> void each(const char *at, size_t count, Look look)
    {
        for (const char *end = at + count; at < end;) {
            const size_t offset = size_t(at - base);
            Word &word = words[offset / 4];
            const bool whole = offset % 4 == 0 && end - at >= 4 && !word.split;
            look(whole ? word.all : byte(at), at);
            at += whole ? 4 : 1;
        }
    }
};

static std::map<char *, Region> global_regions; /* by their end */
static Region *last_region;                     /* of them; null: none */
static Region dynamic_region, static_region;

/* Lazily zero: only pages that are touched take memory. */
static Region make_region(char *base, size_t bytes, const char *kind)
{
    auto *words = static_cast<Word *>(calloc(bytes / 4 + 1, sizeof(Word)));
    if (!words)
        die("no memory for the shadow of %zu bytes", bytes);
    return Region{base, bytes, words, kind, {}};
}

static void follow_launch()
{
    if (dynamic_region.base == reinterpret_cast<char *>(shared_now) &&
        dynamic_region.bytes == shared_bytes)
        return;
    free(dynamic_region.words);
    dynamic_region =
        make_region(reinterpret_cast<char *>(shared_now), shared_bytes, "dynamic shared");
}

/* A multiple of 4. */
static char *static_begin()
{
    return __data_start - reinterpret_cast<uintptr_t>(__data_start) % 4;
}

static Region *find_region(const char *at)
{
    follow_launch();
    if (dynamic_region.holds(at))
        return &dynamic_region;
    if (last_region && last_region->holds(at))
        return last_region;
    const auto after = global_regions.upper_bound(const_cast<char *>(at));
    if (after != global_regions.end() && after->second.holds(at))
        return last_region = &after->second;
    /* A static __shared__ array is a static variable of its kernel file. */
    if (!static_region.base)
        static_region = make_region(static_begin(), size_t(_end - static_begin()), "static shared");
    return static_region.holds(at) ? &static_region : nullptr;
}

struct Access {
    const char *at;
    unsigned bytes;
    bool write, atomic;
    int thread;
    uint32_t pc;
};

static const void *as_code(uint32_t pc)
{
    return reinterpret_cast<const void *>(uintptr_t(pc));
}

[[noreturn]] static void fault(const char *what, const Access &access, const Region *region,
                               const Mark *other)
{
    fflush(stdout);
    fprintf(stderr, "cuda_emu: %s", what);
    if (region)
        fprintf(stderr, ": %s memory", region->kind);
    if (region && region != &static_region)
        fprintf(stderr, ", byte %td of %zu", access.at - region->base, region->bytes);
    fprintf(stderr, "\n  thread %d %s %u bytes\n", access.thread, access.write ? "writes" : "reads",
            access.bytes);
    report_line("access", as_code(access.pc));
    if (other && other->thread >= 0)
        fprintf(stderr, "  the other one: thread %d\n", other->thread);
    if (other)
        report_line("other", as_code(other->pc));
    report_place();
    _exit(86);
}

static int warp_of(const Mark &mark)
{
    return mark.thread < 0 ? SOME_LANES - mark.thread : mark.thread / 32;
}

/* Whether what the mark tells happened before anything that `thread` does now. */
static bool ordered(const Mark &mark, int thread, bool shared)
{
    if (mark.epoch < epochs.launch)
        return true;
    if (mark.epoch < epochs.block)
        return shared; /* another block of this launch: of no concern to shared memory */
    if (mark.epoch < epochs.now || mark.thread == thread)
        return true;
    if (mark.thread == SOME_WARPS)
        return false;
    const int warp = warp_of(mark);
    return warp == thread / 32 && mark.warp_epoch < epochs.warp[warp];
}

/* Who read a byte, once `thread` has too: itself, or a name for several. */
static int16_t reader_with(const Mark &read, int thread)
{
    if (read.epoch != epochs.now || read.thread == thread)
        return int16_t(thread);
    if (read.thread == SOME_WARPS || warp_of(read) != thread / 32)
        return SOME_WARPS;
    return int16_t(read.warp_epoch < epochs.warp[thread / 32] ? thread : SOME_LANES - thread / 32);
}

static void complain_of(Shadow &shadow, const Access &access, const Region &region)
{
    const bool shared = region.shared();
    const bool old_block = shadow.write.epoch < epochs.block;
    if (shadow.write.is(PENDING) && !old_block)
        fault("access to a cp.async destination before its wait", access, &region, &shadow.write);
    /* nvcc reads variables in shared memory ahead, before it is known whether they are needed. */
    const bool unwritten = shared ? old_block && !instruction_now : !shadow.write.is(WRITTEN);
    if ((!access.write || access.atomic) && unwritten)
        fault("read of memory that nobody wrote yet", access, &region, nullptr);
    if (!(access.atomic && shadow.write.is(ATOMIC)) &&
        !ordered(shadow.write, access.thread, shared))
        fault(access.write ? "race: write after write" : "race: read after write", access, &region,
              &shadow.write);
    if (access.write && !ordered(shadow.read, access.thread, shared))
        fault("race: write after read", access, &region, &shadow.read);
}

static void mark(Shadow &shadow, const Access &access)
{
    Mark mark = {epochs.now, epochs.warp[access.thread / 32], access.pc, int16_t(access.thread), 0};
    if (access.write) {
        mark.flags = access.atomic ? WRITTEN | ATOMIC : WRITTEN;
        shadow.write = mark;
    } else {
        mark.thread = reader_with(shadow.read, access.thread);
        shadow.read = mark;
    }
}

static bool is_constant(const Access &access)
{
    return !access.write && access.at >= __executable_start && access.at < __data_start;
}

static bool is_own(const char *at)
{
    return fiber_owns(at) || (at >= __start_emu_own && at < __stop_emu_own);
}

/* The region of an access that is neither of the thread's own stack nor of constants; else null. */
static Region *region_of(const Access &access)
{
    if (is_own(access.at))
        return nullptr;
    Region *region = find_region(access.at);
    if (!region) {
        if (is_constant(access))
            return nullptr;
        fault(access.write ? "write outside device memory" : "read outside device memory", access,
              nullptr, nullptr);
    }
    if (access.at + access.bytes > region->base + region->bytes)
        fault("access past the end", access, region, nullptr);
    return region;
}

/*
 * Whether one more read by `thread` has nothing to tell: since the last barrier it read the byte
 * already, or two other lanes or warps did, of which one would have been at fault with whoever
 * wrote it.
 */
static bool repeats(const Mark &read, int thread)
{
    if (read.epoch != epochs.now)
        return false;
    if (read.thread == SOME_WARPS)
        return true;
    return (read.thread == thread || read.thread == SOME_LANES - thread / 32) &&
           read.warp_epoch == epochs.warp[thread / 32];
}

static void look_at(Shadow &shadow, const Access &access, const Region &region)
{
    if (!access.write && repeats(shadow.read, access.thread) && !shadow.write.is(PENDING))
        return;
    complain_of(shadow, access, region);
    mark(shadow, access);
}

static void check(const Access &access)
{
    Region *region = region_of(access);
    if (!region)
        return;
    region->each(access.at, access.bytes, [&](Shadow &shadow, const char *at) {
        Access one = access;
        one.at = at;
        look_at(shadow, one, *region);
    });
}

static void watch_access(const void *at, unsigned bytes, bool write, bool atomic, int thread,
                         const void *pc)
{
    check({static_cast<const char *>(at), bytes, write, atomic, thread,
           uint32_t(reinterpret_cast<uintptr_t>(pc))});
}

/* A copy writes from its begin to its wait, for its own thread too. */
static void watch_copy(const Copy &copy, bool begins, int thread, const void *pc)
{
    const uint32_t code = uint32_t(reinterpret_cast<uintptr_t>(pc));
    const Access write = {
        reinterpret_cast<const char *>(copy.dst), unsigned(copy.bytes), true, false, thread, code};
    Region *region = region_of(write);
    if (!region || !region->shared())
        fault("cp.async to memory that is not shared", write, region, nullptr);
    if (begins && copy.filled)
        check({reinterpret_cast<const char *>(copy.src), unsigned(copy.filled), false, false,
               thread, code});
    if (begins)
        check(write);
    region->each(write.at, write.bytes, [&](Shadow &shadow, const char *) {
        const uint32_t issued = shadow.write.pc;
        mark(shadow, write);
        shadow.write.pc = issued;
        if (begins)
            shadow.write.flags |= PENDING;
    });
}

static void watch_allocated(void *at, size_t bytes)
{
    char *base = static_cast<char *>(at);
    global_regions[base + bytes] = make_region(base, bytes, "global");
}

static void watch_freed(void *at)
{
    for (auto i = global_regions.begin(); i != global_regions.end(); ++i)
        if (i->second.base == at) {
            free(i->second.words);
            last_region = nullptr;
            global_regions.erase(i);
            return;
        }
}

static void watch_host_wrote(void *at, size_t bytes)
{
    Region *region = find_region(static_cast<char *>(at));
    if (!region || region->shared())
        return;
    region->each(static_cast<char *>(at), bytes,
                 [](Shadow &shadow, const char *) { shadow.write.flags |= WRITTEN; });
}

static const Watcher checks = {watch_access, watch_copy, watch_allocated, watch_freed,
                               watch_host_wrote};
const Watcher *watcher = &checks;
extern "C" {
int emu_race_checks; /* the linker's reason to take this file from its archive */
}

void check_misalignment(const void *at, unsigned bytes, bool write, const void *pc)
{
    if (!(reinterpret_cast<uintptr_t>(at) & (bytes - 1)) || is_own(static_cast<const char *>(at)))
        return;
    const Access access = {static_cast<const char *>(at),
                           bytes,
                           write,
                           false,
                           current->number,
                           uint32_t(reinterpret_cast<uintptr_t>(pc))};
    fault("misaligned access", access, find_region(access.at), nullptr);
}
} // namespace emu
