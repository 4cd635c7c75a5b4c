/*
 * fuzz.h: what the programs of this folder share. Each defines the entry points
 * that libFuzzer and AFL++ call; without a fuzzer replay.c calls them.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Feeds data [size] to what is tested; ends the process by a signal if that
 * contradicts itself. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where a program has one: changes data [size] in place, in a way that random
 * bytes would not find, to at most limit bytes; returns the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
    __attribute__((weak));

/* Ends the process by a signal, with the message, unless it holds. (support.c) */
void fuzz_require(bool holds, const char *what);

/* The engine of a model with its vocabulary alone, NULL path for the demo model;
 * kept for the whole run. (support.c) */
struct dllm_engine *fuzz_text_engine(const char *path);

/* data [size] as a file that lies in memory, which has a path for as long as the
 * descriptor is open: close it. (support.c) */
enum { FUZZ_PATH_BYTES = 32 };
int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH_BYTES]);

/* Sends what the commands print about bad input to nowhere. (support.c) */
void fuzz_silence_stderr(void);

#endif
