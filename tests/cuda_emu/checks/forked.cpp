/*
 * forked.cpp: see forked.h.
 */
#include "forked.h"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

static std::string read_all(int from)
{
    std::string text;
    char part[4096];
    for (ssize_t count; (count = read(from, part, sizeof part)) > 0;)
        text.append(part, size_t(count));
    return text;
}

Outcome run_forked(const std::function<int()> &code,
                   std::initializer_list<std::pair<const char *, const char *>> environment)
{
    int ends[2];
    if (pipe(ends))
        return {127, "pipe failed"};
    fflush(nullptr);
    const pid_t child = fork();
    if (child < 0)
        return {127, "fork failed"};
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        for (const auto &pair : environment)
            setenv(pair.first, pair.second, 1);
        alarm(60); /* a deadlock that nobody noticed */
        const int status = code();
        fflush(nullptr);
        _exit(status);
    }
    close(ends[1]);
    Outcome outcome = {0, read_all(ends[0])};
    close(ends[0]);
    waitpid(child, &outcome.status, 0);
    outcome.status =
        WIFEXITED(outcome.status) ? WEXITSTATUS(outcome.status) : 128 + WTERMSIG(outcome.status);
    return outcome;
}
