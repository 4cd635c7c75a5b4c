/*
 * replay.c: the main program of the folder's programs where no fuzzer is linked.
 *
 *     fuzz_NAME [-n COUNT] [-s SEED] FOLDER or FILE
 *
 * Feeds the file, or the folder's files by name, then COUNT damaged copies of them,
 * always the same ones for a seed. Prints how many inputs there were.
 */
#include "fuzz.h"

#include "compiler.h"
#include "rng.h"
#include "test_paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 }; /* bytes that a damaged copy may grow by */

struct replay {
    uint64_t seed;
    uint32_t copies;
    long inputs;
};

/* A copy of exactly that size, so that a read beyond its end shows. */
static void feed(struct replay *replay, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size + (size == 0));

    fuzz_require(exact != NULL, "out of memory");
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    replay->inputs++;
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
        size_t at = random_below(seed, copy, draw++, size);
        size_t from = random_below(seed, copy, draw++, size);
        size_t choice = random_below(seed, copy, draw++, 4);
        size_t room = size - MAX(at, from);

        if (choice == 0)
            bytes[at] = (uint8_t)from;
        else if (choice == 1)
            bytes[at] ^= (uint8_t)(1 << from % 8);
        else if (choice == 2)
            memcpy(bytes + at, &numbers[from % ARRAY_COUNT(numbers)], MIN(size - at, 8));
        else
            memmove(bytes + at, bytes + from, MIN(1 + at % 16, room));
    }
    return random_below(seed, copy, draw, 8) == 0 ? random_below(seed, copy, draw + 1, size + 1)
                                                  : size;
}

/* Every other copy by the program's own mutator, if it has one. */
static void feed_damaged(struct replay *replay, const uint8_t *data, size_t size, uint32_t copies)
{
    uint8_t *copy = malloc(size + ROOM);

    fuzz_require(copy != NULL, "out of memory");
    for (uint32_t i = 0; size > 0 && i < copies; i++) {
        size_t changed;

        memcpy(copy, data, size);
        if (LLVMFuzzerCustomMutator && i % 2)
            changed = LLVMFuzzerCustomMutator(
                copy, size, size + ROOM, (unsigned)random_below(replay->seed, i, 99, 1u << 31));
        else
            changed = damage(copy, size, replay->seed, i);
        feed(replay, copy, changed);
    }
    free(copy);
}

static void replay_file(struct replay *replay, const char *path, uint32_t copies)
{
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);

    fuzz_require(bytes != NULL, path);
    feed(replay, bytes, size);
    feed_damaged(replay, bytes, size, copies);
    free(bytes);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_path(struct replay *replay, const char *path)
{
    char inner[TEST_PATH_BYTES];
    struct dirent **entries;
    int count = scandir(path, &entries, is_shown, alphasort);

    if (count < 0) {
        replay_file(replay, path, replay->copies);
        return;
    }
    fuzz_require(count > 0, "an empty folder");
    for (int i = 0; i < count; i++) {
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        replay_file(replay, inner, replay->copies / (uint32_t)count);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    struct replay replay = {.seed = 1};
    int option;

    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            replay.copies = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 's')
            replay.seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    if (optind != argc - 1) {
        fprintf(stderr, "usage: %s [-n COUNT] [-s SEED] FOLDER or FILE\n", argv[0]);
        return 2;
    }
    replay_path(&replay, argv[optind]);
    printf("%ld inputs, seed %llu\n", replay.inputs, (unsigned long long)replay.seed);
    return 0;
}
