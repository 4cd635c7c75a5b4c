/* test_vocabulary.h: vocabularies for tests: from a GGUF file, or small ones from arrays. */
#ifndef TEST_VOCABULARY_H
#define TEST_VOCABULARY_H

#include "tokenizer.h"

/* A vocabulary with what its strings and arrays lie in. */
struct test_vocabulary {
    struct vocabulary vocabulary;
    struct dllm_file *file;
    struct dllm_string *tokens, *merges;
    int32_t *types;
    char *bytes;
};

/* Reads the tokenizer keys of a GGUF file. Returns a message in static storage
 * on failure, NULL on success; free with test_vocabulary_free. */
const char *test_vocabulary_open(const char *path, struct test_vocabulary *out);

/* The 256 byte characters as tokens 0 to 255 in the order of bytes, then the
 * result of each merge in order, then the control and the user-defined strings.
 * Lists end in NULL, and may be NULL. The pre-tokenizer is qwen2. */
void test_vocabulary_small(struct test_vocabulary *out, const char *const *merges,
                           const char *const *control, const char *const *user_defined);
void test_vocabulary_free(struct test_vocabulary *vocabulary);

#endif
