/*
 * async_copy.cpp: cp.async. A copy may land at once or as late as its wait; here
 * it is as late as can be, and with EMU_ORDER=random the one or the other.
 */
#include "emu_internal.h"
#include "emu_ptx.h"

namespace emu
{
static void land(Copy &copy)
{
    memcpy(copy.dst, copy.src, size_t(copy.filled));
    memset(copy.dst + copy.filled, 0, size_t(copy.bytes - copy.filled));
    copy.done = true;
}

void cp_async(void *dst, const void *src, int bytes, int filled)
{
    const uintptr_t both = reinterpret_cast<uintptr_t>(dst) | reinterpret_cast<uintptr_t>(src);
    if (both & uintptr_t(bytes - 1))
        die("cp.async: an address is no multiple of %d (to %p, from %p)", bytes, dst, src);
    if (filled < 0 || filled > bytes)
        die("cp.async: %d of %d bytes", filled, bytes);
    Copy copy = {static_cast<unsigned char *>(dst),
                 static_cast<const unsigned char *>(src),
                 bytes,
                 filled,
                 false,
                 current->groups};
    if (watcher)
        watcher->copy(copy, true, current->number, __builtin_return_address(0));
    if (settings().order == Settings::RANDOM && random_number() & 1)
        land(copy);
    current->copies.push_back(copy);
}

void cp_commit()
{
    current->groups++;
}

void finish_copies(Thread &thread, int group)
{
    size_t kept = 0;
    for (Copy &copy : thread.copies) {
        if (copy.group >= group) {
            thread.copies[kept++] = copy;
            continue;
        }
        if (!copy.done)
            land(copy);
        if (watcher)
            watcher->copy(copy, false, thread.number, __builtin_return_address(0));
    }
    thread.copies.resize(kept);
}

void cp_wait(int newest)
{
    finish_copies(*current, current->groups - newest);
}
} // namespace emu
