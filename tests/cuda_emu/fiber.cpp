/*
 * fiber.cpp: switching stacks by hand. AddressSanitizer is told of each switch,
 * else it takes the new stack for an overrun of the old one.
 */
#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifndef __x86_64__
#define EMU_UCONTEXT
#endif
#ifdef EMU_UCONTEXT
#include <ucontext.h>
#endif

namespace emu
{
static char *stacks;

#ifdef EMU_UCONTEXT
static void set_up_context(Fiber &fiber, void (*entry)())
{
    auto *context = new ucontext_t;
    getcontext(context);
    context->uc_stack.ss_sp = fiber.stack;
    context->uc_stack.ss_size = fiber.stack_size;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
    fiber.context = context;
}

static void jump(Fiber &from, Fiber &to)
{
    if (!from.context)
        from.context = new ucontext_t;
    swapcontext(static_cast<ucontext_t *>(from.context), static_cast<ucontext_t *>(to.context));
}
#else
/* Saves what a called function must keep and the stack pointer, then restores those of `load`. */
extern "C" void emu_jump(void **save, void *load);
asm(R"(
    .text
    .globl emu_jump
    .type emu_jump, @function
emu_jump:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size emu_jump, .-emu_jump
)");

static void set_up_context(Fiber &fiber, void (*entry)())
{
    /* What emu_jump pops: six registers, the entry, and where the entry would return to. */
    void **top = reinterpret_cast<void **>(fiber.stack + fiber.stack_size) - 2;
    *top = reinterpret_cast<void *>(entry);
    fiber.context = top - 6;
}

static void jump(Fiber &from, Fiber &to)
{
    emu_jump(&from.context, to.context);
}
#endif

void fiber_create(Fiber &fiber, int index, void (*entry)())
{
    if (!stacks) {
        void *all = mmap(nullptr, MAX_FIBERS * FIBER_STACK, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) {
            perror("cuda_emu: stacks");
            exit(86);
        }
        stacks = static_cast<char *>(all);
    }
    fiber.stack = stacks + size_t(index) * FIBER_STACK;
    fiber.stack_size = FIBER_STACK;
    mprotect(fiber.stack, 4096, PROT_NONE); /* an overflow faults */
    set_up_context(fiber, entry);
}

/* Asked once a thread: for the main one glibc reads /proc/self/maps. */
void fiber_adopt(Fiber &fiber)
{
    static thread_local void *bottom;
    static thread_local size_t size;
    if (!bottom) {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &bottom, &size);
        pthread_attr_destroy(&attributes);
    }
    fiber.stack = static_cast<char *>(bottom);
    fiber.stack_size = size;
}

void fiber_switch(Fiber &from, Fiber &to)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_size);
#endif
    jump(from, to);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void fiber_entered()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

bool fiber_owns(const void *address)
{
    const char *at = static_cast<const char *>(address);
    return stacks && at >= stacks && at < stacks + MAX_FIBERS * FIBER_STACK;
}
} // namespace emu
