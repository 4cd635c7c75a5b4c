/*
 * collectives.cpp: votes and reductions of a warp, and what the race build is
 * told of accesses that the compiler does not show it.
 */
#include "emu_internal.h"

namespace emu
{
void warp_sync(unsigned mask, void **)
{
    /* A part of the warp orders nothing for the rest: the race checks know only whole warps. */
    if (mask == ~0u)
        epochs.warp[current->number / 32]++;
}

void warp_vote(unsigned mask, void **arguments)
{
    unsigned lanes = 0;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && static_cast<Vote *>(arguments[lane])->predicate)
            lanes |= 1u << lane;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            static_cast<Vote *>(arguments[lane])->lanes = lanes;
}

static unsigned reduce_two(const Reduction &r, unsigned a, unsigned b)
{
    const bool less = r.is_signed ? int(a) < int(b) : a < b;
    switch (r.kind) {
    case Reduction::add:
        return a + b;
    case Reduction::smallest:
        return less ? a : b;
    case Reduction::largest:
        return less ? b : a;
    case Reduction::bit_and:
        return a & b;
    case Reduction::bit_or:
        return a | b;
    default:
        return a ^ b;
    }
}

void warp_reduce(unsigned mask, void **arguments)
{
    unsigned result = 0;
    bool first = true;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1) {
            const auto &mine = *static_cast<Reduction *>(arguments[lane]);
            result = first ? mine.value : reduce_two(mine, result, mine.value);
            first = false;
        }
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            static_cast<Reduction *>(arguments[lane])->value = result;
}

void note_access(const void *at, unsigned bytes, bool write, bool atomic)
{
    if (watcher && current)
        watcher->access(at, bytes, write, atomic, current->number, __builtin_return_address(0));
}
} // namespace emu
