/* thread.c: a thread takes over the signal mask of the one that starts it. */
#include "thread.h"

#include "compiler.h"

#include <signal.h>
#include <stddef.h>

bool thread_start(pthread_t *out, thread_main *run, void *argument)
{
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t sent, before;
    int code;

    sigfillset(&sent);
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++)
        sigdelset(&sent, faults[i]);
    pthread_sigmask(SIG_SETMASK, &sent, &before);
    code = pthread_create(out, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0;
}
