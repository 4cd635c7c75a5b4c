/* specials.c: a trie of special strings. */
#include "specials.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STRING = 1000 };

static uint32_t find_child(const struct specials *specials, uint32_t node, uint8_t byte)
{
    uint32_t child = specials->nodes[node].child;

    while (child && specials->nodes[child].byte != byte)
        child = specials->nodes[child].sibling;
    return child;
}

static enum dllm_status add_node(struct specials *specials, struct specials_node node,
                                 struct dllm_error *error)
{
    if (specials->count == specials->capacity) {
        const size_t capacity = (size_t)specials->capacity * 2 + 256;
        struct specials_node *nodes = realloc(specials->nodes, capacity * sizeof *nodes);

        if (!nodes || capacity > UINT32_MAX) {
            specials->nodes = nodes ? nodes : specials->nodes;
            return status_no_memory(error, capacity * sizeof *nodes);
        }
        specials->nodes = nodes;
        specials->capacity = (uint32_t)capacity;
    }
    specials->nodes[specials->count++] = node;
    return DLLM_OK;
}

static enum dllm_status add_string(struct specials *specials, struct dllm_string text, int32_t id,
                                   struct dllm_error *error)
{
    uint32_t node = 0;

    if (text.size > MAX_STRING)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "special token %d is %zu bytes long; expected at most %d: the file is "
                           "damaged, fetch it again",
                           id, text.size, MAX_STRING);
    for (size_t i = 0; i < text.size; i++) {
        const uint8_t byte = (uint8_t)text.data[i];
        uint32_t child = node ? find_child(specials, node, byte) : specials->first[byte];

        if (!child) {
            child = specials->count;
            TRY(add_node(specials, (struct specials_node){-1, 0, specials->nodes[node].child, byte},
                         error));
            specials->nodes[node].child = child;
            if (!node)
                specials->first[byte] = child;
        }
        node = child;
    }
    if (node && specials->nodes[node].id < 0)
        specials->nodes[node].id = id;
    return DLLM_OK;
}

enum dllm_status specials_init(const struct vocab *vocab, struct specials *out,
                               struct dllm_error *error)
{
    enum dllm_status status;

    *out = (struct specials){0};
    TRY_GOTO(add_node(out, (struct specials_node){.id = -1}, error));
    for (uint32_t i = 0; i < vocab->token_count; i++)
        if (vocab->types[i] == TOKEN_CONTROL || vocab->types[i] == TOKEN_USER_DEFINED)
            TRY_GOTO(add_string(out, vocab->strings[i], (int32_t)i, error));
    return DLLM_OK;
fail:
    specials_free(out);
    return status;
}

void specials_free(struct specials *specials)
{
    free(specials->nodes);
    *specials = (struct specials){0};
}

/* The longest special string at the position: its token and *end, else -1. */
static int32_t match_at(const struct specials *specials, const uint8_t *types,
                        struct dllm_string text, bool control, size_t at, size_t *end)
{
    uint32_t node = specials->first[(uint8_t)text.data[at]];
    int32_t best = -1;

    while (node) {
        const int32_t id = specials->nodes[node].id;

        at++;
        if (id >= 0 && (control || types[id] == TOKEN_USER_DEFINED)) {
            best = id;
            *end = at;
        }
        node = at < text.size ? find_child(specials, node, (uint8_t)text.data[at]) : 0;
    }
    return best;
}

int32_t specials_next(const struct specials *specials, const uint8_t *types,
                      struct dllm_string text, bool control, size_t *at, size_t *end)
{
    for (; *at < text.size; ++*at) {
        int32_t id;

        if (!specials->first[(uint8_t)text.data[*at]])
            continue;
        id = match_at(specials, types, text, control, *at, end);
        if (id >= 0)
            return id;
    }
    return -1;
}
