/*
 * bus_error.c: the signal that touching a mapped file raises when the bytes are
 * not there any more. The thread that got it cannot go on and the others may wait
 * for it, so the handler says which file it was and ends the process, by calls
 * alone that a signal handler may make.
 */
#include "cli.h"
#include "out.h"
#include "term.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Beyond any path that could be opened. */
enum { MESSAGE_BYTES = 4096 + 200 };

struct message {
    char text[MESSAGE_BYTES];
    size_t size;
};

/* Appends text, control characters masked. */
static void add(struct message *message, const char *text)
{
    for (; *text && message->size < MESSAGE_BYTES - 1; text++) {
        bool plain = (unsigned char)*text >= 0x20 && *text != 0x7f;
        message->text[message->size++] = plain ? *text : '?';
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static const char advice[] = "\" lost bytes while it was in use: it was cut short, or its disk "
                                 "failed; get the file whole again and leave it alone meanwhile";
    /* Sent by a process, it has no address. */
    const char *path = info->si_code > 0 ? dllm_path_at(info->si_addr) : NULL;
    struct message message = {.size = 0};

    (void)context;
    while (atomic_flag_test_and_set(&taken))
        pause(); /* another thread came first, and ends the process */
    term_restore();
    out_file_remove_all();
    if (!path) {
        signal(number, SIG_DFL);
        raise(number); /* takes effect when this returns */
        return;
    }
    add(&message, "error: \"");
    add(&message, path);
    add(&message, advice);
    message.text[message.size++] = '\n';
    term_write(message.text, message.size);
    _exit(CLI_FAILURE);
}

void cli_catch_bus_errors(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
