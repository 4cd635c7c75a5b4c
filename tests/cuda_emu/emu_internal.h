/*
 * emu_internal.h: what the emulator's own files share.
 */
#pragma once
#include "cuda_emu.h"
#include "fiber.h"

#include <vector>

/* Keeps a variable of the emulator apart from the kernels' static shared memory (race_shadow.cpp).
 */
#define EMU_OWN __attribute__((section("emu_own")))

namespace emu
{
/* One cp.async that a thread has begun. */
struct Copy {
    unsigned char *dst;
    const unsigned char *src;
    int bytes;
    int filled; /* bytes of src; zeros follow */
    bool done;
    int group; /* number of commits before it */
};

struct Thread {
    Fiber fiber;
    int number; /* in its block */
    uint3 index;
    enum State { READY, AT_BARRIER, IN_COLLECTIVE, RETURNED } state;

    WarpFunction function; /* IN_COLLECTIVE */
    unsigned mask;
    void *argument;
    const char *name;
    const void *caller; /* code behind the call */

    Barrier barrier; /* AT_BARRIER; the predicate becomes the result */
    int predicate;

    std::vector<Copy> copies;
    int groups; /* committed */
};

/*
 * Time as the race checks need it: `now` rises at each block barrier, warp[w] at
 * each __syncwarp of warp w; block and launch are what `now` was when they began.
 */
struct Epochs {
    uint32_t now, block, launch, warp[32];
};

/* Settings from the environment, read once. */
struct Settings {
    enum Order { FORWARD, REVERSE, RANDOM, ROBIN } order; /* EMU_ORDER */
    uint64_t seed;                                        /* EMU_SEED */
    size_t max_smem;                                      /* EMU_SMEM, bytes a block may have */
    const char *ptx; /* EMU_PTX, folder of kernels to run instead (ptx_program.h) */
};
const Settings &settings();

/* A pseudo-random number from EMU_SEED. */
uint32_t random_number();

extern Thread *current;        /* null: host code runs */
extern const void *kernel_now; /* the kernel that runs, for reports */
extern Epochs epochs;
extern unsigned char *shared_now; /* dynamic shared memory and its bytes */
extern size_t shared_bytes;

/* Runs every block of a call, to the end. */
void run_call(const Call &call);

/* The call's configuration, checked as the card would: grid, block, shared memory. */
cudaError_t check_call(const Call &call);

/* Ends the copies of groups below `group`. */
void finish_copies(Thread &thread, int group);

/* What the race build puts in (race_shadow.cpp); null in the others. */
struct Watcher {
    void (*access)(const void *at, unsigned bytes, bool write, bool atomic, int thread,
                   const void *pc);
    void (*copy)(const Copy &copy, bool begins, int thread, const void *pc);
    void (*allocated)(void *at, size_t bytes);
    void (*freed)(void *at);
    void (*host_wrote)(void *at, size_t bytes);
};
extern const Watcher *watcher;

/* A lane of the warp that computes a collective now. */
const Thread &warp_lane(int lane);

/* From now on a fault in memory ends with a report; owner(address) says whose memory it is. */
void report_faults(const char *(*owner)(const void *address));

/* Prints block, thread and kernel to stderr. */
void report_place();

/* Prints "WHAT at FUNCTION at FILE:LINE" for a code address to stderr. */
void report_line(const char *what, const void *pc);

struct Statistics {
    unsigned long long switches, collectives;
    unsigned long long matrix_phases, matrix_extra_phases; /* of ldmatrix: 8 rows are a phase */
};
extern Statistics statistics;
} // namespace emu
