/*
 * race_hooks.cpp: how the race build sees every access of a kernel. Kernel files
 * are compiled with -fsanitize=thread but not linked with its library: the
 * compiler then calls one of these before each access.
 */
#include "emu_internal.h"

namespace emu
{
void check_misalignment(const void *at, unsigned bytes, bool write, const void *pc);

/* Host code of a kernel file, its launchers, is instrumented as well: it is not a thread's. */
static inline void hook(const void *at, unsigned long bytes, bool write, bool aligned,
                        const void *pc)
{
    if (!current)
        return;
    if (aligned)
        check_misalignment(at, unsigned(bytes), write, pc);
    watcher->access(at, unsigned(bytes), write, false, current->number, pc);
}
} // namespace emu

#define HOOK(name, bytes, write, aligned)                                                          \
    extern "C" void name(void *at);                                                                \
    extern "C" void name(void *at)                                                                 \
    {                                                                                              \
        emu::hook(at, bytes, write, aligned, __builtin_return_address(0));                         \
    }
#define HOOKS(bytes)                                                                               \
    HOOK(__tsan_read##bytes, bytes, false, true)                                                   \
    HOOK(__tsan_write##bytes, bytes, true, true)                                                   \
    HOOK(__tsan_unaligned_read##bytes, bytes, false, false)                                        \
    HOOK(__tsan_unaligned_write##bytes, bytes, true, false)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

extern "C" {
void __tsan_init()
{
}

void __tsan_func_entry(void *)
{
}

void __tsan_func_exit()
{
}

void __tsan_vptr_update(void **, void *)
{
}

void __tsan_vptr_read(void **)
{
}

void __tsan_read_range(void *at, unsigned long bytes)
{
    emu::hook(at, bytes, false, false, __builtin_return_address(0));
}

void __tsan_write_range(void *at, unsigned long bytes)
{
    emu::hook(at, bytes, true, false, __builtin_return_address(0));
}
}
