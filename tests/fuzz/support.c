/* support.c: engines, files in memory and checks for the programs of this folder. */
#include "dllm.h"
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where messages go that must be seen. */
static int message_descriptor = STDERR_FILENO;

void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    dprintf(message_descriptor, "fuzz: %s\n", what);
    abort();
}

struct dllm_engine *fuzz_text_engine(const char *path)
{
    struct dllm_engine_options options = {.model_path = path ? path : DLLM_DEMO_MODEL,
                                          .vocab_only = true};
    struct dllm_engine *engine = NULL;

    fuzz_require(dllm_engine_open(&options, &engine, NULL) == DLLM_OK,
                 "a model cannot be opened: start in the root of the tree");
    return engine;
}

int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH_BYTES])
{
    int descriptor = memfd_create("fuzz", MFD_CLOEXEC);

    fuzz_require(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size,
                 "no file in memory");
    snprintf(path, FUZZ_PATH_BYTES, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

void fuzz_silence_stderr(void)
{
    static bool silent;
    int nowhere;

    if (silent)
        return;
    silent = true;
    /* The C library's stream alone: sanitizers write to the descriptor. */
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fuzz_require(nowhere >= 0 && (stderr = fdopen(nowhere, "w")) != NULL, "no /dev/null");
}
