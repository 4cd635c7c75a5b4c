/*
 * tokenizer_peer.c: ids of many texts compared with llama.cpp's, and the time
 * that encoding and loading take beside it, in one process and in turn.
 *
 * usage: tokenizer_peer VOCABULARY TEXTS [SPEED_TEXT]
 *
 * TEXTS comes from make_texts.py. A text is equal if its ids are with and
 * without special strings, and it decodes to itself. Exit status 0: all are. The
 * printed speeds decide nothing.
 */
#include "clock.h"
#include "llama_peer.h"
#include "test_paths.h"
#include "test_vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, SHOWN = 5 };

struct comparison {
    const char *path;
    struct test_vocabulary source;
    struct tokenizer *tokenizer;
    struct llama_peer_model *peer;
    int32_t *peer_ids;
    int capacity;
};

static void die(const char *what, const char *message)
{
    fprintf(stderr, "tokenizer_peer: %s: %s\n", what, message);
    exit(1);
}

static struct dllm_ids encode_ours(const struct comparison *with, struct dllm_string text,
                                   bool special)
{
    struct dllm_ids ids = {0};
    struct dllm_error error;

    if (tokenizer_encode(with->tokenizer, text, special, &ids, &error))
        die("encode", error.message);
    return ids;
}

static int encode_peer(struct comparison *with, struct dllm_string text, bool special)
{
    int needed = (int)text.size + 16, count;

    if (needed > with->capacity) {
        with->capacity = needed * 2;
        with->peer_ids = realloc(with->peer_ids, (size_t)with->capacity * sizeof(int32_t));
        if (!with->peer_ids)
            die("memory", "peer ids");
    }
    count = llama_peer_tokenize(with->peer, text.data, text.size, special, with->peer_ids,
                                with->capacity);
    if (count < 0)
        die("llama_tokenize", "more ids than bytes");
    return count;
}

static void show(const char *name, const int32_t *ids, size_t count, size_t from)
{
    printf("  %s:", name);
    for (size_t i = from; i < count && i < from + 12; i++)
        printf(" %d", ids[i]);
    printf("\n");
}

static void show_difference(const struct comparison *with, struct dllm_string text,
                            const struct dllm_ids *ours, size_t peer_count)
{
    size_t at = 0;

    while (at < ours->count && at < peer_count && ours->ids[at] == with->peer_ids[at])
        at++;
    printf("text of %zu bytes differs from id %zu on:\n  \"", text.size, at);
    for (size_t i = 0; i < text.size && i < 200; i++) {
        unsigned char c = (unsigned char)text.data[i];

        printf(c >= ' ' && c != '\\' && c != 127 ? "%c" : "\\x%02x", c);
    }
    printf("\"\n");
    show("dllm", ours->ids, ours->count, at);
    show("llama.cpp", with->peer_ids, peer_count, at);
}

static bool equal_ids(struct comparison *with, struct dllm_string text, bool special, bool loud)
{
    struct dllm_ids ours = encode_ours(with, text, special);
    size_t peer_count = (size_t)encode_peer(with, text, special);
    bool equal = ours.count == peer_count &&
                 !memcmp(ours.ids, with->peer_ids, ours.count * sizeof *ours.ids);
    struct dllm_text back;
    struct dllm_error error;

    if (!equal && loud)
        show_difference(with, text, &ours, peer_count);
    if (tokenizer_decode(with->tokenizer, ours.ids, ours.count, true, &back, &error))
        die("decode", error.message);
    if (back.size != text.size || memcmp(back.data, text.data, text.size) != 0) {
        printf("text of %zu bytes does not come back from its ids\n", text.size);
        equal = false;
    }
    dllm_text_free(&back);
    dllm_ids_free(&ours);
    return equal;
}

static int compare_texts(struct comparison *with, const char *path, int *passed)
{
    size_t size;
    uint8_t *data = test_read_file(path, &size);
    int failed = 0;
    uint32_t length;

    if (!data)
        die("cannot read", path);
    for (size_t at = 0; at + sizeof length <= size; at += sizeof length + length) {
        struct dllm_string text = {(const char *)data + at + sizeof length, 0};

        memcpy(&length, data + at, sizeof length);
        text.size = length;
        if (equal_ids(with, text, true, failed < SHOWN) &&
            equal_ids(with, text, false, failed < SHOWN))
            ++*passed;
        else
            failed++;
    }
    free(data);
    return failed;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

static void print_times(const char *before, const double *seconds)
{
    printf("%s", before);
    for (int i = 0; i < ROUNDS; i++)
        printf(" %.1f", seconds[i] * 1e3);
    printf(" ms");
}

/* All times of both sides, turn by turn; bench/tokenizer reads this. */
static void print_speed(double *ours, double *peers)
{
    print_times("dllm", ours);
    print_times(", llama.cpp", peers);
    printf(", medians' ratio %.2f\n", median(peers) / median(ours));
}

/* Medians of turns, so that both meet the same weather. */
static void compare_encoding(struct comparison *with, const char *path)
{
    double ours[ROUNDS], peers[ROUNDS];
    struct dllm_string text;
    uint8_t *data = test_read_file(path, &text.size);

    if (!data)
        die("cannot read", path);
    text.data = (const char *)data;
    for (int i = 0; i < ROUNDS; i++) {
        struct dllm_ids ids;

        ours[i] = clock_seconds();
        ids = encode_ours(with, text, true);
        ours[i] = clock_seconds() - ours[i];
        dllm_ids_free(&ids);
        peers[i] = clock_seconds();
        encode_peer(with, text, true);
        peers[i] = clock_seconds() - peers[i];
    }
    printf("encode %.2f MB: ", (double)text.size / 1e6);
    print_speed(ours, peers);
    free(data);
}

static void load(struct comparison *with)
{
    struct dllm_error error;
    const char *message = test_vocabulary_open(with->path, &with->source);

    if (message)
        die("open", message);
    if (tokenizer_create(&with->source.vocabulary, &with->tokenizer, &error))
        die("create", error.message);
}

static void unload(struct comparison *with)
{
    tokenizer_destroy(with->tokenizer);
    test_vocabulary_free(&with->source);
}

static void compare_loading(struct comparison *with)
{
    double ours[ROUNDS], peers[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        const char *message;

        unload(with);
        llama_peer_model_free(with->peer);
        ours[i] = clock_seconds();
        load(with);
        ours[i] = clock_seconds() - ours[i];
        peers[i] = clock_seconds();
        message = llama_peer_model_load(with->path, true, &with->peer);
        peers[i] = clock_seconds() - peers[i];
        if (message)
            die("peer", message);
    }
    printf("load %u tokens: ", (unsigned)with->source.vocabulary.token_count);
    print_speed(ours, peers);
}

int main(int argc, char **argv)
{
    struct comparison with = {.path = argc > 2 ? argv[1] : ""};
    const char *message;
    int passed = 0, failed;

    if (argc != 3 && argc != 4)
        die("usage", "tokenizer_peer VOCABULARY TEXTS [SPEED_TEXT]");
    if ((message = llama_peer_open(NULL)) ||
        (message = llama_peer_model_load(with.path, true, &with.peer)))
        die("peer", message);
    load(&with);
    failed = compare_texts(&with, argv[2], &passed);
    if (argc == 4) {
        compare_encoding(&with, argv[3]);
        compare_loading(&with);
    }
    unload(&with);
    llama_peer_model_free(with.peer);
    free(with.peer_ids);
    printf("%d texts equal, %d not\n", passed, failed);
    return passed > 0 && failed == 0 ? 0 : 1;
}
