/*
 * emu_warp.h: barriers, shuffles and votes. Every lane of a collective leaves a
 * pointer to its arguments; the last one to arrive computes for all.
 */
#pragma once

namespace emu
{
enum class Barrier { sync, any, all, count };

/* Waits for the block; returns the combination of the predicates that the kind names. */
int block_barrier(Barrier kind, int predicate);

/* What a collective computes: arguments[lane] for each lane of the mask. */
typedef void (*WarpFunction)(unsigned mask, void **arguments);

/* Waits for the lanes in mask, which must all be in the same collective; name is for reports. */
void warp_collective(WarpFunction function, unsigned mask, void *argument, const char *name);

/* WarpFunctions: no argument, Vote, Reduction. */
void warp_sync(unsigned mask, void **arguments);

struct Vote {
    bool predicate;
    unsigned lanes;
};
void warp_vote(unsigned mask, void **arguments);

struct Reduction {
    enum Kind { add, smallest, largest, bit_and, bit_or, bit_xor } kind;
    bool is_signed;
    unsigned value;
};
void warp_reduce(unsigned mask, void **arguments);

template <class T> struct Exchange {
    T in, out;
    int source;
};

template <class T> EMU_RAW void warp_exchange(unsigned mask, void **arguments)
{
    for (int lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        auto *mine = static_cast<Exchange<T> *>(arguments[lane]);
        if (!(mask >> mine->source & 1))
            die("shuffle: lane %d reads lane %d, which is not in the mask", lane, mine->source);
        mine->out = static_cast<Exchange<T> *>(arguments[mine->source])->in;
    }
}

template <class T> T shuffle(unsigned mask, T value, int source)
{
    Exchange<T> exchange{value, value, source};
    warp_collective(warp_exchange<T>, mask, &exchange, "shuffle");
    return exchange.out;
}

inline int lane_number()
{
    return int((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31);
}

inline unsigned reduce(unsigned mask, unsigned value, Reduction::Kind kind, bool is_signed)
{
    Reduction reduction{kind, is_signed, value};
    warp_collective(warp_reduce, mask, &reduction, "reduction");
    return reduction.value;
}
} // namespace emu

static inline void __syncthreads()
{
    emu::block_barrier(emu::Barrier::sync, 0);
}

static inline int __syncthreads_or(int predicate)
{
    return emu::block_barrier(emu::Barrier::any, predicate);
}

static inline int __syncthreads_and(int predicate)
{
    return emu::block_barrier(emu::Barrier::all, predicate);
}

static inline int __syncthreads_count(int predicate)
{
    return emu::block_barrier(emu::Barrier::count, predicate);
}

static inline void __syncwarp(unsigned mask = ~0u)
{
    emu::warp_collective(emu::warp_sync, mask, nullptr, "__syncwarp");
}

/* Nothing to do: a block's threads run one at a time, and blocks one after the other. */
static inline void __threadfence()
{
}

static inline void __threadfence_block()
{
}

template <class T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    return emu::shuffle(mask, value, (emu::lane_number() & ~(width - 1)) + (source & (width - 1)));
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    const int lane = emu::lane_number(), source = lane ^ bits;
    const bool outside = (source & ~(width - 1)) > (lane & ~(width - 1));
    return emu::shuffle(mask, value, outside ? lane : source);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = emu::lane_number();
    const bool outside = (lane & (width - 1)) + int(delta) >= width;
    return emu::shuffle(mask, value, outside ? lane : lane + int(delta));
}

template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = emu::lane_number();
    const bool outside = (lane & (width - 1)) < int(delta);
    return emu::shuffle(mask, value, outside ? lane : lane - int(delta));
}

static inline unsigned __ballot_sync(unsigned mask, bool predicate)
{
    emu::Vote vote{predicate, 0};
    emu::warp_collective(emu::warp_vote, mask, &vote, "vote");
    return vote.lanes;
}

static inline int __any_sync(unsigned mask, bool predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, bool predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

#define EMU_REDUCTION(name, kind)                                                                  \
    static inline unsigned name(unsigned mask, unsigned value)                                     \
    {                                                                                              \
        return emu::reduce(mask, value, emu::Reduction::kind, false);                              \
    }                                                                                              \
    static inline int name(unsigned mask, int value)                                               \
    {                                                                                              \
        return int(emu::reduce(mask, unsigned(value), emu::Reduction::kind, true));                \
    }
EMU_REDUCTION(__reduce_add_sync, add)
EMU_REDUCTION(__reduce_min_sync, smallest)
EMU_REDUCTION(__reduce_max_sync, largest)
#undef EMU_REDUCTION
