/*
 * report.cpp: how a run ends that found a fault: what, in which kernel, block
 * and thread, and the lines of source it came from.
 */
#include "emu_internal.h"
#include "ptx_program.h"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <unistd.h>

namespace emu
{
/* The emulator's own files, which say nothing of the fault. */
static const char OWN_FILES[] = " at (emu_|cuda_emu|race_|runtime_|scheduler|collectives|report|"
                                "async_copy|tensor_core|fiber|gpu\\.cuh)";

/* Code addresses to "FUNCTION at FILE:LINE" on stderr, those without a line left out. */
static void print_lines(const char *what, void *const *addresses, int count)
{
    char command[1024];
    int used = snprintf(command, sizeof command, "addr2line -spfiC -e /proc/%d/exe", int(getpid()));
    for (int i = 0; i < count; i++)
        used += snprintf(command + used, sizeof command - size_t(used), " %p", addresses[i]);
    snprintf(command + used, sizeof command - size_t(used),
             " | grep -vE '[?]$|%s' | head -n 6 | sed 's|^|  %s |' >&2", OWN_FILES, what);
    fflush(stderr);
    if (system(command) != 0)
        fprintf(stderr, "  %s %p\n", what, count ? addresses[0] : nullptr);
}

/* A return address points behind its call. */
static void *call_before(const void *pc)
{
    return const_cast<char *>(static_cast<const char *>(pc)) - 1;
}

void report_line(const char *what, const void *pc)
{
    void *const address = call_before(pc);
    print_lines(what, &address, 1);
}

void report_place()
{
    if (!kernel_now)
        return;
    fprintf(stderr, "  block (%u,%u,%u)", blockIdx.x, blockIdx.y, blockIdx.z);
    if (current)
        fprintf(stderr, ", thread %d", current->number);
    fputc('\n', stderr);
    if (instruction_now)
        fprintf(stderr, "  at %s\n", instruction_now->text.c_str());
    void *kernel = const_cast<void *>(kernel_now);
    print_lines("kernel", &kernel, 1);
}

void die(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "cuda_emu: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    report_place();
    void *frames[16];
    const int count = backtrace(frames, 16);
    for (int i = 0; i < count; i++)
        frames[i] = call_before(frames[i]);
    if (count > 1)
        print_lines("from", frames + 1, count - 1);
    _exit(86);
}

static const char *(*fault_owner)(const void *address);

static void on_fault(int, siginfo_t *info, void *)
{
    die("fault at %p: %s", info->si_addr, fault_owner(info->si_addr));
}

/* A stack of its own: that of a fiber may be what overflowed. */
void report_faults(const char *(*owner)(const void *address))
{
    static char stack[1 << 16];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    fault_owner = owner;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}
} // namespace emu
