/*
 * forward_peer.c: one pass of a GGUF file through dllm and through llama.cpp.
 *
 * usage: forward_peer compare float|quantized FILE
 *        forward_peer quantize IN OUT F16|BF16|Q8_0|Q4_K_M|Q5_K_M|Q6_K
 *
 * The first compares the logits of all rows of a canvas, within the bounds of
 * parity.h. The second has llama.cpp make a file of another type from an F32
 * one.
 */
#include "dllm.h"
#include "llama_peer.h"
#include "parity.h"
#include "two_sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 11, THREADS = 2 };

static int complain(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    return 1;
}

static int compare(const char *bound, const char *path)
{
    struct sides_canvas canvas;
    const char *why = sides_canvas_of(path, PROMPT, 41, &canvas);
    float *got = why ? NULL : sides_own_logits(path, &canvas, &why);
    float *want = why ? NULL : sides_peer_logits(path, &canvas, &why);
    bool good;
    struct parity parity;
    char line[256];

    if (why) {
        free(got);
        free(want);
        return complain(path, why);
    }
    parity = parity_of_rows(got, want, SIDES_CANVAS, (size_t)canvas.vocab);
    good = parity_is_good(&parity, strcmp(bound, "quantized") == 0);
    parity_describe(&parity, line, sizeof line);
    printf("%s %s: %s\n", good ? "ok" : "FAILED", path, line);
    free(got);
    free(want);
    return !good;
}

static int quantize(const char *in, const char *out, const char *type)
{
    static const struct {
        const char *name;
        enum llama_peer_ftype type;
    } types[] = {
        {"F16", LLAMA_PEER_F16},       {"BF16", LLAMA_PEER_BF16},     {"Q8_0", LLAMA_PEER_Q8_0},
        {"Q4_K_M", LLAMA_PEER_Q4_K_M}, {"Q5_K_M", LLAMA_PEER_Q5_K_M}, {"Q6_K", LLAMA_PEER_Q6_K},
    };
    const char *why = "no such type";

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0)
            why = llama_peer_quantize(in, out, types[i].type, THREADS);
    return why ? complain(out, why) : 0;
}

int main(int argc, char **argv)
{
    const char *why;

    if (!(argc == 4 && strcmp(argv[1], "compare") == 0) &&
        !(argc == 5 && strcmp(argv[1], "quantize") == 0)) {
        fprintf(stderr, "usage: %s compare float|quantized FILE | quantize IN OUT TYPE\n", argv[0]);
        return 2;
    }
    why = llama_peer_open(NULL);
    if (why)
        return complain("llama.cpp", why);
    return argc == 4 ? compare(argv[2], argv[3]) : quantize(argv[2], argv[3], argv[4]);
}
