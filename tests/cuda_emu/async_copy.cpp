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
    if (copy.full)
        memcpy(copy.dst, copy.src, size_t(copy.bytes));
    else
        memset(copy.dst, 0, size_t(copy.bytes));
    copy.done = true;
}

void cp_async(void *dst, const void *src, int bytes, bool full)
{
    const uintptr_t both = reinterpret_cast<uintptr_t>(dst) | reinterpret_cast<uintptr_t>(src);
    if (both & uintptr_t(bytes - 1))
        die("cp.async: an address is no multiple of %d (to %p, from %p)", bytes, dst, src);
    Copy copy = {static_cast<unsigned char *>(dst),
                 static_cast<const unsigned char *>(src),
                 bytes,
                 full,
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
