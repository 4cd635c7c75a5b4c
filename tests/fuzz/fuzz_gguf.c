/*
 * fuzz_gguf.c: feeds the GGUF reader with whatever comes.
 *
 * As a program of its own (any compiler): opens the given files, and those in
 * the given folders, once each; without arguments it opens many damaged copies
 * of a sample file and of a split one, always the same ones for a seed.
 *     fuzz_gguf [-n COUNT] [-s SEED] [FILE or FOLDER]...
 * With clang's fuzzer (DLLM_LIBFUZZER leaves main to it):
 *     clang -fsanitize=fuzzer,address -DDLLM_LIBFUZZER ...
 */
#include "gguf.h"
#include "gguf_split.h"
#include "gguf_walk.h"
#include "rng.h"
#include "split_sample.h"
#include "test_paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dllm_error error;
    struct dllm_file *file;

    if (size == 0) /* mapfile.h refuses it before */
        return 0;
    if (gguf_open_bytes("fuzz.gguf", data, size, &file, &error) != DLLM_OK)
        return 0;
    gguf_walk(file);
    dllm_file_close(file);
    return 0;
}

#ifndef DLLM_LIBFUZZER

static bool replay_file(const char *path)
{
    size_t size;
    uint8_t *bytes = test_read_file(path, &size), *exact;

    if (!bytes)
        return false;
    exact = malloc(size + (size == 0)); /* so that a read beyond the end shows */
    if (exact) {
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(bytes);
    return true;
}

/* Returns the number of files opened, -1 if path cannot be read. */
static long replay(const char *path)
{
    DIR *folder = opendir(path);
    char inner[TEST_PATH_BYTES];
    struct dirent *entry;
    long files = 0;

    if (!folder)
        return replay_file(path) ? 1 : -1;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            files += replay_file(inner);
        }
    closedir(folder);
    return files;
}

/* Uniform in [0, limit): number `draw` of damaged copy `copy`. */
static size_t random_below(uint64_t seed, uint32_t copy, uint32_t draw, size_t limit)
{
    return (size_t)(rng_uniform(seed, copy, 0, draw) * (double)limit);
}

/* Damages up to eight places: a byte, a bit, an interesting 64-bit number, or a
 * run copied from elsewhere; then perhaps cuts the end off. Returns the size. */
static size_t damage(uint8_t *bytes, size_t size, uint64_t seed, uint32_t copy)
{
    static const uint64_t numbers[] = {0,          1,          32,         255,       65535,
                                       1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX};
    uint32_t draw = 0;
    size_t places = 1 + random_below(seed, copy, draw++, 8);

    while (places-- > 0) {
        size_t at = random_below(seed, copy, draw++, size - 16);
        size_t from = random_below(seed, copy, draw++, size - 16);
        size_t choice = random_below(seed, copy, draw++, 4);

        if (choice == 0)
            bytes[at] = (uint8_t)from;
        else if (choice == 1)
            bytes[at] ^= (uint8_t)(1 << from % 8);
        else if (choice == 2)
            memcpy(bytes + at, &numbers[from % ARRAY_COUNT(numbers)], 8);
        else
            memmove(bytes + at, bytes + from, 1 + at % 16);
    }
    return random_below(seed, copy, draw, 8) == 0 ? 1 + random_below(seed, copy, draw + 1, size)
                                                  : size;
}

static void run_damaged(uint64_t seed, uint32_t count)
{
    size_t size, header, cut;
    uint8_t *sample = gguf_sample(&size, &header), *copy;

    for (uint32_t i = 0; i < count; i++) {
        copy = malloc(size);
        if (!copy)
            break;
        memcpy(copy, sample, size);
        cut = damage(copy, size, seed, i);
        if (cut < size)
            copy = realloc(copy, cut); /* so that a read beyond the end shows */
        LLVMFuzzerTestOneInput(copy, cut);
        free(copy);
    }
    free(sample);
}

/* Opens the parts of a split model, one or several of them damaged, and joins
 * what can be opened. */
static void join_damaged(uint64_t seed, uint32_t copy)
{
    struct dllm_file *parts[SPLIT_PARTS] = {NULL}, *whole = NULL;
    uint8_t *bytes[SPLIT_PARTS];
    struct dllm_error error;
    bool opened = true;

    for (int i = 0; i < SPLIT_PARTS; i++) {
        struct split_part part = split_sample_part(i);
        size_t size;

        bytes[i] = split_sample_bytes(&part, &size);
        if ((copy + (uint32_t)i) % SPLIT_PARTS == 0 || copy % 7 == 0)
            size = damage(bytes[i], size, seed, copy * SPLIT_PARTS + (uint32_t)i);
        bytes[i] = realloc(bytes[i], size); /* so that a read beyond the end shows */
        opened &= gguf_open_bytes("fuzz.gguf", bytes[i], size, &parts[i], &error) == DLLM_OK;
    }
    if (opened && gguf_split_join(parts, SPLIT_PARTS, &whole, &error) == DLLM_OK)
        gguf_walk(whole);
    dllm_file_close(whole);
    for (int i = 0; i < SPLIT_PARTS; i++) {
        if (!whole)
            dllm_file_close(parts[i]);
        free(bytes[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    uint32_t count = 300000;
    long files = 0;
    int option;

    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            count = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    for (int i = optind; i < argc; i++) {
        long opened = replay(argv[i]);

        if (opened < 0) {
            fprintf(stderr, "fuzz_gguf: cannot read %s\n", argv[i]);
            return 1;
        }
        files += opened;
    }
    if (optind < argc) {
        printf("%ld files opened\n", files);
        return 0;
    }
    run_damaged(seed, count);
    for (uint32_t i = 0; i < count / 4; i++)
        join_damaged(seed, i);
    printf("%u damaged files and %u split models opened, seed %llu\n", count, count / 4,
           (unsigned long long)seed);
    return 0;
}

#endif
