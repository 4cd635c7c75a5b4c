/*
 * test_demo.c: the built-in model answers held-out questions at one token a
 * step, and does so from memory.
 *
 * What would break: a file that was not trained to the end, a block decoder, a
 * template or a tokenizer that differs from what it was trained with.
 */
#include "demo_questions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every so manieth question, and how many of them must be right: two fewer
 * than were when the file was made. */
enum { EVERY = 8, LEAST_RIGHT = 77 };

static struct dllm_engine *open_demo(struct dllm_session **session)
{
    struct dllm_engine_options options = {.model_path = DLLM_DEMO_MODEL};
    struct dllm_engine *engine = NULL;
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &engine, &error) != DLLM_OK ||
        dllm_session_create(engine, session, &error) != DLLM_OK)
        fail_msg("%s", error.message);
    return engine;
}

static void test_held_out_questions(void **state)
{
    static const struct demo_setting one_token_a_step = {.steps = DEMO_CANVAS,
                                                         .block_length = DEMO_CANVAS};
    struct dllm_session *session = NULL;
    struct dllm_engine *engine = open_demo(&session);
    json_t *list = demo_questions_load(DEMO_QUESTIONS_PATH);
    struct dllm_error error = {0};
    int right = 0;

    (void)state;
    assert_non_null(list);
    for (size_t i = 0; i < json_array_size(list); i += EVERY) {
        struct demo_question question = demo_question_get(list, i);
        struct demo_reply reply;
        if (demo_question_ask(engine, session, &question, &one_token_a_step, &reply, &error) !=
            DLLM_OK)
            fail_msg("%s: %s", question.question, error.message);
        right += reply.right;
        if (!reply.right)
            print_message("%s -> %s, expected %s\n", question.question, reply.text,
                          question.answer);
    }
    print_message("%d right\n", right);
    assert_true(right >= LEAST_RIGHT);
    json_decref(list);
    dllm_session_destroy(session);
    dllm_engine_close(engine);
}

/* The program carries the same bytes as the file in the tree. */
static void test_same_as_the_file(void **state)
{
    struct dllm_error error = {0};
    struct dllm_file *built_in, *file;

    (void)state;
    assert_int_equal(dllm_file_open(DLLM_DEMO_MODEL, &built_in, &error), DLLM_OK);
    assert_int_equal(dllm_file_open("models/demo.gguf", &file, &error), DLLM_OK);
    assert_true(dllm_file_size(file) < 4000000);
    assert_int_equal(dllm_file_size(built_in), dllm_file_size(file));
    assert_int_equal(dllm_file_tensor_count(built_in), dllm_file_tensor_count(file));
    for (size_t i = 0; i < dllm_file_tensor_count(file); i++) {
        const struct dllm_tensor *a = dllm_file_tensor(built_in, i);
        const struct dllm_tensor *b = dllm_file_tensor(file, i);
        assert_int_equal(a->size, b->size);
        assert_int_equal((uintptr_t)a->data % 64, 0);
        assert_memory_equal(a->data, b->data, a->size);
    }
    dllm_file_close(built_in);
    dllm_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_the_file),
        cmocka_unit_test(test_held_out_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
