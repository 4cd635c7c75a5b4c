/* hub_process.c: runs other programs, without a shell between. */
#include "hub_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct pipes {
    int ends[3][2]; /* [stream][read, write]; -1: closed or none */
};

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void close_pipes(struct pipes *pipes)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            close_end(&pipes->ends[i][j]);
}

/* Pipes for all three streams, or for two when there is a file to read. */
static bool open_pipes(struct pipes *pipes, bool with_input)
{
    memset(pipes->ends, -1, sizeof pipes->ends);
    for (int i = with_input ? 0 : 1; i < 3; i++)
        if (pipe2(pipes->ends[i], O_CLOEXEC) != 0)
            return false;
    return true;
}

/* The child's streams 0 to 2, and the signals that this program ignores given
 * back. posix_spawn reports what went wrong as a number. */
static int spawn(struct hub_process *process, const char *const *argv, const struct pipes *pipes,
                 int in_file)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid = 0;
    int failure;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&actions, in_file >= 0 ? in_file : pipes->ends[0][0], 0);
    posix_spawn_file_actions_adddup2(&actions, pipes->ends[1][1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes->ends[2][1], 2);
    failure = posix_spawnp(&pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    process->pid = pid;
    return failure;
}

enum dllm_status hub_process_start(struct hub_process *process, const char *const *argv,
                                   int in_file, struct dllm_error *error)
{
    struct pipes pipes;
    int failure;

    /* Who started this program may have it ignored; then no exit code would be kept. */
    signal(SIGCHLD, SIG_DFL);
    failure = open_pipes(&pipes, in_file < 0) ? 0 : errno;

    *process = (struct hub_process){.in = -1, .out = -1, .err = -1};
    if (!failure)
        failure = spawn(process, argv, &pipes, in_file);
    if (failure) {
        close_pipes(&pipes);
        if (failure == ENOENT)
            return hub_fail(error, DLLM_ERROR_IO,
                            "the program %s is missing; install it (Debian and Ubuntu: apt-get "
                            "install %s)",
                            argv[0], strcmp(argv[0], "curl") == 0 ? "curl" : "coreutils");
        return hub_fail(error, DLLM_ERROR_IO, "the program %s could not be started: %s", argv[0],
                        strerror(failure));
    }
    process->in = pipes.ends[0][1];
    process->out = pipes.ends[1][0];
    process->err = pipes.ends[2][0];
    pipes.ends[0][1] = pipes.ends[1][0] = pipes.ends[2][0] = -1;
    close_pipes(&pipes);
    return DLLM_OK;
}

int hub_process_end(struct hub_process *process, bool kill_it)
{
    int status = 0;
    pid_t ended;

    close_end(&process->in);
    close_end(&process->out);
    close_end(&process->err);
    if (kill_it)
        kill(process->pid, SIGTERM);
    do
        ended = waitpid(process->pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == process->pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
