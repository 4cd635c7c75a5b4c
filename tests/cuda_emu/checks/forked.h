/*
 * forked.h: code that may end its process, run in one of its own.
 */
#pragma once
#include <functional>
#include <string>

/* How the process ended, and what it wrote to stderr. */
struct Outcome {
    int status; /* exit status, or 128 + signal */
    std::string report;
    bool says(const char *text) const
    {
        return report.find(text) != std::string::npos;
    }
};

/* Runs code(), whose result is the exit status, in a process whose environment has NAME=VALUE too.
 * The emulator reads the environment once: call nothing of it before in this process. */
Outcome run_forked(const std::function<int()> &code,
                   std::initializer_list<std::pair<const char *, const char *>> environment = {});
