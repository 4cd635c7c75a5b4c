/*
 * fiber.h: stacks that one OS thread switches between, in about 9 ns with the
 * assembly of x86-64; elsewhere, or with EMU_UCONTEXT, by ucontext in 240 ns.
 */
#pragma once
#include <cstddef>

namespace emu
{
struct Fiber {
    void *context;     /* saved stack pointer, or ucontext_t */
    char *stack;       /* lowest address */
    size_t stack_size; /* bytes */
    void *fake_stack;  /* AddressSanitizer's */
};

constexpr int MAX_FIBERS = 1024;
constexpr size_t FIBER_STACK = 128 << 10;

/* Prepares fiber number index (0 to MAX_FIBERS - 1), which starts in entry(); entry never returns.
 */
void fiber_create(Fiber &fiber, int index, void (*entry)());

/* The fiber that the calling OS thread already is. */
void fiber_adopt(Fiber &fiber);

/* Saves the running code in `from` and goes on in `to`. */
void fiber_switch(Fiber &from, Fiber &to);

/* First call of an entry. */
void fiber_entered();

/* Whether the address lies in the stack of a fiber. */
bool fiber_owns(const void *address);
} // namespace emu
