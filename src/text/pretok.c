/*
 * pretok.c: expressions run by PCRE2, compiled to machine code where the system
 * permits it. The text is first cut into stretches of valid UTF-8, so that the
 * engine need not check it again on every match.
 */
#include "pretok.h"

#include "utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCRE2's \s has one character more than Unicode's White_Space, which the
 * published expressions mean: U+180E. */
#define S     "\\p{White_Space}"
#define NOT_S "\\P{White_Space}"

#define QWEN2                                                                                      \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"                            \
    "| ?[^" S "\\p{L}\\p{N}]+[\\r\\n]*|" S "*[\\r\\n]+|" S "+(?!" NOT_S ")|" S "+"
/* Line ends after symbols are pieces of their own here. */
#define SEED_CODER                                                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"                            \
    "| ?[^" S "\\p{L}\\p{N}]+|" S "*[\\r\\n]+|" S "+(?!" NOT_S ")|" S "+"
#define BAILINGMOE                                                                                 \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}"                                  \
    "| ?[^" S "\\p{L}\\p{N}]++[\\r\\n]*|" S "*[\\r\\n]|" S "+(?!" NOT_S ")|" S "+"

static const struct {
    const char *name, *expression;
} table[] = {
    {"qwen2", QWEN2},
    {"bailingmoe", BAILINGMOE},
    {"llada-moe", BAILINGMOE},
    {"seed-coder", SEED_CODER},
};

struct pretok {
    pcre2_code *code;
    pcre2_match_context *limits;
};

struct pretok_walk {
    const struct pretok *pretok;
    pcre2_match_data *match;
    struct dllm_string text;
    size_t at;    /* start of the next piece */
    size_t valid; /* end of the valid stretch that at lies in; at >= valid: not known yet */
    size_t start; /* of that stretch */
};

static enum dllm_status unknown_name(struct dllm_string name, struct dllm_error *error)
{
    char known[200] = "";
    size_t used = 0;

    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 table[i].name);
    return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                       "the pre-tokenizer \"%.*s\" (tokenizer.ggml.pre) is not known; expected one "
                       "of %s: use a model file with one of these",
                       (int)MIN(name.size, 60), name.data, known);
}

static const char *find_expression(struct dllm_string name)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        if (strlen(table[i].name) == name.size && !memcmp(table[i].name, name.data, name.size))
            return table[i].expression;
    return NULL;
}

/* Compiles the expression; where machine code is not permitted the engine's
 * interpreter is used, slower but alike. */
static enum dllm_status compile(struct pretok *pretok, const char *expression,
                                struct dllm_error *error)
{
    int code = 0;
    PCRE2_SIZE offset = 0;

    pretok->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &code, &offset, NULL);
    if (!pretok->code && code == PCRE2_ERROR_HEAP_FAILED)
        return status_no_memory(error, strlen(expression));
    if (!pretok->code)
        return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                           "the pre-tokenizer's expression does not compile at offset %zu (PCRE2 "
                           "error %d); expected PCRE2 10.40 or newer with Unicode support",
                           (size_t)offset, code);
    pcre2_jit_compile(pretok->code, PCRE2_JIT_COMPLETE);
    pretok->limits = pcre2_match_context_create(NULL);
    if (!pretok->limits)
        return status_no_memory(error, 64);
    /* A run of blanks is gone through twice, and each step back counts; the
     * default limit of ten million is less than a long text. */
    pcre2_set_match_limit(pretok->limits, UINT32_MAX);
    pcre2_set_depth_limit(pretok->limits, UINT32_MAX);
    pcre2_set_heap_limit(pretok->limits, UINT32_MAX);
    return DLLM_OK;
}

enum dllm_status pretok_create(struct dllm_string name, struct pretok **out,
                               struct dllm_error *error)
{
    const char *expression = find_expression(name);
    struct pretok *pretok;
    enum dllm_status status;

    if (!expression)
        return unknown_name(name, error);
    pretok = calloc(1, sizeof *pretok);
    if (!pretok)
        return status_no_memory(error, sizeof *pretok);
    TRY_GOTO(compile(pretok, expression, error));
    *out = pretok;
    return DLLM_OK;
fail:
    pretok_destroy(pretok);
    return status;
}

void pretok_destroy(struct pretok *pretok)
{
    if (!pretok)
        return;
    pcre2_match_context_free(pretok->limits);
    pcre2_code_free(pretok->code);
    free(pretok);
}

enum dllm_status pretok_walk_create(const struct pretok *pretok, struct pretok_walk **out,
                                    struct dllm_error *error)
{
    struct pretok_walk *walk = calloc(1, sizeof *walk);

    if (!walk)
        return status_no_memory(error, sizeof *walk);
    walk->pretok = pretok;
    walk->match = pcre2_match_data_create(1, NULL);
    if (!walk->match) {
        free(walk);
        return status_no_memory(error, 64);
    }
    *out = walk;
    return DLLM_OK;
}

void pretok_walk_destroy(struct pretok_walk *walk)
{
    if (!walk)
        return;
    pcre2_match_data_free(walk->match);
    free(walk);
}

void pretok_walk_start(struct pretok_walk *walk, struct dllm_string text)
{
    walk->text = text;
    walk->at = walk->valid = walk->start = 0;
}

/* Length of the run of bytes at `at` of which no valid code point starts. */
static size_t invalid_run(struct dllm_string text, size_t at)
{
    size_t end = at;
    uint32_t code_point;

    while (end < text.size && !utf8_decode(text.data + end, text.size - end, &code_point))
        end++;
    return end - at;
}

enum dllm_status pretok_walk_next(struct pretok_walk *walk, struct dllm_string *piece,
                                  struct dllm_error *error)
{
    const struct dllm_string text = walk->text;
    const char *stretch;
    int matches;

    piece->data = text.data + walk->at;
    if (walk->at >= walk->valid) {
        walk->start = walk->at;
        walk->valid = walk->at + utf8_valid_prefix(piece->data, text.size - walk->at);
        if (walk->valid == walk->at) {
            piece->size = invalid_run(text, walk->at);
            walk->at += piece->size;
            return DLLM_OK;
        }
    }
    stretch = text.data + walk->start;
    matches =
        pcre2_match(walk->pretok->code, (PCRE2_SPTR)stretch, walk->valid - walk->start,
                    walk->at - walk->start, PCRE2_NO_UTF_CHECK, walk->match, walk->pretok->limits);
    if (matches < 0)
        return status_fail(error, DLLM_ERROR_MEMORY,
                           "the pre-tokenizer stopped at byte %zu of the text (PCRE2 error %d); "
                           "expected every character to be matched: try a shorter text",
                           walk->at, matches);
    piece->size = pcre2_get_ovector_pointer(walk->match)[1] - (walk->at - walk->start);
    walk->at += piece->size;
    return DLLM_OK;
}
