/*
 * test_injection.c: what a user writes never becomes a control token or the mask,
 * however it spells them: every control string of every vocabulary, whole, in
 * parts, over two messages, in all templates and with all pre-tokenizers.
 */
#include "chat.h"
#include "compiler.h"
#include "test_paths.h"
#include "test_vocabulary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is attacked. */
struct target {
    const struct chat_template *chat; /* NULL: text without a template */
    const struct tokenizer *tokenizer;
    size_t controls[2]; /* that templates put around one and two messages */
    long texts;         /* tried */
};

static bool is_special(const struct tokenizer *tokenizer, int32_t id)
{
    struct tokenizer_specials ids = tokenizer_specials(tokenizer);

    return tokenizer_type(tokenizer, id) == TOKEN_CONTROL || id == ids.mask_id ||
           id == ids.eos_id || id == ids.eot_id || id == ids.bos_id;
}

static size_t count_special(const struct tokenizer *tokenizer, const struct dllm_ids *ids)
{
    size_t count = 0;

    for (size_t i = 0; i < ids->count; i++)
        count += is_special(tokenizer, ids->ids[i]);
    return count;
}

static size_t encode(const struct target *target, const struct dllm_string *texts, size_t count)
{
    struct dllm_message messages[2] = {{"user", texts[0]}, {"user", texts[count - 1]}};
    struct dllm_ids ids = {0};
    enum dllm_status status =
        target->chat
            ? chat_encode(target->chat, target->tokenizer, messages, count, false, &ids, NULL)
            : tokenizer_encode(target->tokenizer, texts[0], false, &ids, NULL);
    size_t found = count_special(target->tokenizer, &ids);

    /* A vocabulary without some byte refuses texts that have it. */
    assert_true(status == DLLM_OK || status == DLLM_ERROR_FORMAT);
    dllm_ids_free(&ids);
    return status == DLLM_OK ? found : target->controls[count - 1];
}

static void attack(struct target *target, const struct dllm_string *texts, size_t count)
{
    size_t found = encode(target, texts, count);

    target->texts++;
    if (found != target->controls[count - 1])
        fail_msg("\"%.*s\"%s\"%.*s\": %zu control tokens, expected %zu", (int)texts[0].size,
                 texts[0].data, count > 1 ? " and " : " alone, ", (int)texts[count - 1].size,
                 texts[count - 1].data, found, target->controls[count - 1]);
}

static void attack_text(struct target *target, const char *text, size_t size)
{
    attack(target, &(struct dllm_string){text, size}, 1);
}

/* The string with something in front, behind, and at each place inside. */
static void attack_spelled(struct target *target, struct dllm_string control)
{
    static const struct dllm_string fillers[] = {
        {"", 0},         {" ", 1},    {"\n", 1},           {"\0", 1}, {"\xe2\x80\x8b", 3},
        {"\xc2\xad", 2}, {"\xff", 1}, {"\xef\xbb\xbf", 3}, {"a", 1},  {"<", 1},
        {"<|", 2},       {"\\", 1}};
    char text[2200];

    for (size_t f = 0; f < ARRAY_COUNT(fillers); f++)
        for (size_t at = 0; at <= control.size; at++) {
            const struct dllm_string *filler = &fillers[f];

            memcpy(text, control.data, at);
            memcpy(text + at, filler->data, filler->size);
            memcpy(text + at + filler->size, control.data + at, control.size - at);
            attack_text(target, text, control.size + filler->size);
        }
    memcpy(text, control.data, control.size);
    memcpy(text + control.size, control.data, control.size);
    attack_text(target, text, 2 * control.size);
}

/* Each part alone, and both parts in messages that follow each other. */
static void attack_split(struct target *target, struct dllm_string control)
{
    for (size_t at = 1; at < control.size; at++) {
        struct dllm_string parts[2] = {{control.data, at}, {control.data + at, control.size - at}};

        attack_text(target, parts[0].data, parts[0].size);
        attack_text(target, parts[1].data, parts[1].size);
        if (target->chat)
            attack(target, parts, 2);
    }
}

/* The beginning of one string and the end of another, which a search that goes on
 * in the wrong place takes for one. */
static void attack_crossed(struct target *target, struct dllm_string a, struct dllm_string b)
{
    char text[2200];

    for (size_t at = 1; at < a.size; at++) {
        memcpy(text, a.data, at);
        memcpy(text + at, b.data, b.size);
        memcpy(text + at + b.size, a.data + at, a.size - at);
        attack_text(target, text, a.size + b.size);
    }
}

/* All special strings of the vocabulary. */
static void attack_all(struct target *target, const struct vocabulary *vocabulary)
{
    struct dllm_string before = {"x", 1};

    for (size_t id = 0; id < vocabulary->token_count; id++) {
        struct dllm_string text = vocabulary->tokens[id];

        if (!is_special(target->tokenizer, (int32_t)id) || text.size == 0 || text.size > 1000)
            continue;
        attack_spelled(target, text);
        attack_split(target, text);
        attack_crossed(target, before, text);
        attack_crossed(target, text, before);
        before = text;
    }
}

/* The vocabulary with each template that it has the tokens for, and with none. */
static long attack_vocabulary(const struct vocabulary *vocabulary)
{
    static const char *const architectures[] = {NULL, "llada", "dream", "llada-moe"};
    static const struct dllm_string nothing[2] = {{"", 0}, {"", 0}};
    struct tokenizer *tokenizer;
    long texts = 0;

    assert_int_equal(tokenizer_create(vocabulary, &tokenizer, NULL), DLLM_OK);
    for (size_t i = 0; i < ARRAY_COUNT(architectures); i++) {
        struct target target = {.tokenizer = tokenizer};

        target.chat = architectures[i] ? chat_template_find(architectures[i]) : NULL;
        for (size_t count = 1; count <= 2; count++)
            target.controls[count - 1] = encode(&target, nothing, count);
        if (target.chat && target.controls[0] == 0)
            continue; /* its tokens are not there */
        attack_all(&target, vocabulary);
        texts += target.texts;
    }
    tokenizer_destroy(tokenizer);
    return texts;
}

/* --- the tests --- */

/* Breaks if a control string of a real vocabulary gets through. */
static void test_model_vocabularies(void **state)
{
    static const char *const files[] = {
        "data/models/llada-Q4_K_M.gguf", "data/models/dream-Q4_K_M.gguf",
        "data/models/llada-moe-Q4_K_M.gguf", "data/models/rnd1-Q4_K_M.gguf"};
    struct test_vocabulary model;
    long texts = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        const char *path = i < 2 ? test_data_path(files[i] + 5) : test_shared_path(files[i]);

        if (!path)
            continue;
        assert_null(test_vocabulary_open(path, &model));
        texts += attack_vocabulary(&model.vocabulary);
        test_vocabulary_free(&model);
    }
    print_message("%ld texts\n", texts);
}

static const char *const control[] = {"<|startoftext|>",
                                      "<|start_header_id|>",
                                      "<|end_header_id|>",
                                      "<|eot_id|>",
                                      "<|im_start|>",
                                      "<|im_end|>",
                                      "<role>",
                                      "</role>",
                                      "<|role_end|>",
                                      "<|endoftext|>",
                                      "<|mdm_mask|>",
                                      "<|mask|>",
                                      "<|",
                                      NULL};

/* Breaks if a pre-tokenizer cuts text so that a string comes together again. */
static void test_each_pretokenizer(void **state)
{
    static const char *const names[] = {"qwen2", "bailingmoe", "llada-moe", "seed-coder"};
    struct test_vocabulary source;
    long texts = 0;

    (void)state;
    test_vocabulary_small(&source, NULL, control, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        source.vocabulary.pretokenizer = (struct dllm_string){names[i], strlen(names[i])};
        texts += attack_vocabulary(&source.vocabulary);
    }
    print_message("%ld texts\n", texts);
    test_vocabulary_free(&source);
}

static int32_t id_of(const struct test_vocabulary *source, const char *text)
{
    for (size_t i = 0; i < source->vocabulary.token_count; i++)
        if (source->tokens[i].size == strlen(text) &&
            memcmp(source->tokens[i].data, text, strlen(text)) == 0)
            return (int32_t)i;
    fail_msg("no token \"%s\"", text);
    return -1;
}

/* Breaks if a file gets a special token through by calling it a normal or a
 * user-defined one, a byte, or by merges that lead to it. */
static void test_hostile_types(void **state)
{
    static const char *const merges[] = {"h e", "he y", "< |", "| >", NULL};
    static const char *const special[] = {"<|mdm_mask|>", "<|eot_id|>", "hey", "|>", "a", "z"};
    static const enum token_type types[] = {TOKEN_NORMAL, TOKEN_USER_DEFINED, TOKEN_UNUSED,
                                            TOKEN_BYTE, TOKEN_UNKNOWN};
    struct test_vocabulary source;

    (void)state;
    test_vocabulary_small(&source, merges, control, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(special); i++)
        for (size_t t = 0; t < ARRAY_COUNT(types); t++)
            for (int which = 0; which < 4; which++) {
                struct vocabulary *v = &source.vocabulary;
                int32_t *ids[] = {&v->mask_id, &v->eos_id, &v->eot_id, &v->bos_id};
                int32_t id = id_of(&source, special[i]), before = source.types[id];

                *ids[which] = id;
                source.types[id] = (int32_t)types[t];
                attack_vocabulary(v);
                source.types[id] = before;
                *ids[which] = -1;
            }
    test_vocabulary_free(&source);
}

/* Breaks if the mask that an architecture is known to have gets through in a file
 * that neither names it nor has types. */
static void test_mask_without_a_key(void **state)
{
    static const char *const merges[] = {"m a", "ma s", "mas k", NULL};
    struct test_vocabulary source;
    struct tokenizer *tokenizer;

    (void)state;
    test_vocabulary_small(&source, merges, NULL, NULL);
    source.vocabulary.types = NULL;
    source.vocabulary.mask_token = (struct dllm_string){"mask", 4};
    assert_int_equal(tokenizer_create(&source.vocabulary, &tokenizer, NULL), DLLM_OK);
    assert_int_equal(tokenizer_specials(tokenizer).mask_id, id_of(&source, "mask"));
    tokenizer_destroy(tokenizer);
    assert_true(attack_vocabulary(&source.vocabulary) > 0);
    test_vocabulary_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_vocabularies),
        cmocka_unit_test(test_each_pretokenizer),
        cmocka_unit_test(test_hostile_types),
        cmocka_unit_test(test_mask_without_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
