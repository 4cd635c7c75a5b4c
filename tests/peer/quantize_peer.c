/*
 * quantize_peer.c: blocks made here beside those of llama.cpp's library.
 *
 * usage: quantize_peer rows LIBGGML_BASE
 *        quantize_peer files OURS THEIRS
 *
 * The first encodes rows of many kinds with both; every byte must be equal. The
 * second compares the tensors of two files by name: type and bytes.
 */
#include "compiler.h"
#include "dllm.h"
#include "dtype.h"
#include "encode.h"
#include "rng.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1024, ROWS = 400 };

typedef void peer_row(const float *x, void *out, int64_t width);

static const struct {
    uint32_t type;
    const char *function;
} types[] = {
    {DTYPE_Q8_0, "quantize_row_q8_0_ref"}, {DTYPE_Q5_0, "quantize_row_q5_0_ref"},
    {DTYPE_Q5_1, "quantize_row_q5_1_ref"}, {DTYPE_Q4_K, "quantize_row_q4_K_ref"},
    {DTYPE_Q5_K, "quantize_row_q5_K_ref"}, {DTYPE_Q6_K, "quantize_row_q6_K_ref"},
};

/* A value of about a normal distribution from a counter. */
static float normal(uint32_t row, uint32_t at)
{
    double sum = 0;

    for (uint32_t i = 0; i < 6; i++)
        sum += rng_uniform(1, row, i, at) - 0.5;
    return (float)(sum * 1.4);
}

/* Rows of one kind after the other: normal, heavy tails, positive, few values,
 * sparse, all equal in parts, tiny and large. */
static void fill_row(uint32_t row, float *x)
{
    for (uint32_t i = 0; i < WIDTH; i++) {
        float v = normal(row, i);

        switch (row % 8) {
        case 0:
            x[i] = 0.05f * v;
            break;
        case 1:
            x[i] = v * v * v;
            break;
        case 2:
            x[i] = fabsf(v) + 0.5f;
            break;
        case 3:
            x[i] = roundf(2 * v) * 0.125f;
            break;
        case 4:
            x[i] = i % 7 == 0 ? v : 0;
            break;
        case 5:
            x[i] = i / 32 % 3 == 1 ? 0.25f : i / 32 % 3 == 2 ? -v : 0;
            break;
        case 6:
            x[i] = ldexpf(v, (int)(i / 32 % 5) * 8 - 40);
            break;
        default:
            x[i] = 1000 * v + (i % 256 == 3 ? 20000.0f : 0);
        }
    }
}

static int compare_type(uint32_t type, peer_row *peer)
{
    float x[WIDTH];
    uint8_t ours[WIDTH * 2], theirs[WIDTH * 2];
    size_t bytes = dtype_row_bytes(type, WIDTH);
    int differ = 0;

    for (uint32_t row = 0; row < ROWS; row++) {
        fill_row(row, x);
        memset(ours, 0x55, sizeof ours);
        memset(theirs, 0xaa, sizeof theirs);
        encode_row(type, x, WIDTH, ours);
        peer(x, theirs, WIDTH);
        differ += memcmp(ours, theirs, bytes) != 0;
    }
    printf("%s %s: %d of %d rows differ\n", differ ? "FAILED" : "ok", dllm_type_name(type), differ,
           ROWS);
    return differ != 0;
}

static int compare_rows(const char *library)
{
    void *base = dlopen(library, RTLD_NOW);
    int failed = 0;

    if (!base) {
        printf("%s\n", dlerror());
        return 1;
    }
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        void *symbol = dlsym(base, types[i].function);
        peer_row *peer;

        memcpy(&peer, &symbol, sizeof peer);
        failed += symbol ? compare_type(types[i].type, peer) : 1;
    }
    return failed;
}

static int compare_tensor(const struct dllm_tensor *ours, const struct dllm_file *theirs)
{
    char name[200];
    const struct dllm_tensor *other;

    snprintf(name, sizeof name, "%.*s", (int)ours->name.size, ours->name.data);
    other = dllm_file_find_tensor(theirs, name);
    if (!other || other->type != ours->type || other->size != ours->size) {
        printf("%s: %s here, %s there\n", name, dllm_type_name(ours->type),
               other ? dllm_type_name(other->type) : "missing");
        return 1;
    }
    if (memcmp(ours->data, other->data, ours->size) == 0)
        return 0;
    printf("%s (%s): bytes differ\n", name, dllm_type_name(ours->type));
    return 1;
}

static int compare_files(const char *our_path, const char *their_path)
{
    struct dllm_file *ours = NULL, *theirs = NULL;
    struct dllm_error error = {0};
    int differ = 0;

    if (dllm_file_open(our_path, &ours, &error) || dllm_file_open(their_path, &theirs, &error)) {
        printf("%s\n", error.message);
        dllm_file_close(ours);
        return 1;
    }
    for (size_t i = 0; i < dllm_file_tensor_count(ours); i++)
        differ += compare_tensor(dllm_file_tensor(ours, i), theirs);
    differ += dllm_file_tensor_count(ours) != dllm_file_tensor_count(theirs);
    printf("%s %s: %zu tensors, %d differ\n", differ ? "FAILED" : "ok", our_path,
           dllm_file_tensor_count(ours), differ);
    dllm_file_close(ours);
    dllm_file_close(theirs);
    return differ;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "rows") == 0)
        return compare_rows(argv[2]) != 0;
    if (argc == 4 && strcmp(argv[1], "files") == 0)
        return compare_files(argv[2], argv[3]) != 0;
    fprintf(stderr, "usage: %s rows LIBGGML_BASE | files OURS THEIRS\n", argv[0]);
    return 2;
}
