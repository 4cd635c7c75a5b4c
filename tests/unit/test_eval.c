/*
 * test_eval.c: the judging and comparing behind dllm eval.
 *
 * What would break: a right answer counted as wrong because it is written
 * otherwise, an interval or a probability that is not the published one, an
 * arm whose options are cut up wrongly, a file of results that is lost or taken
 * for another.
 */
#include "eval_log.h"
#include "eval_match.h"
#include "eval_stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_near(double value, double wanted, double most)
{
    if (fabs(value - wanted) > most)
        fail_msg("%.9g, wanted %.9g", value, wanted);
}

/* Newcombe (1998) prints the interval of 36, 12, 2, 0 to four digits; the others are worked out
 * from his formula by a program of its own. */
static void test_paired_difference(void **state)
{
    static const struct {
        struct eval_pairs pairs;
        double value, low, high;
    } cases[] = {
        {{36, 12, 2, 0}, 0.2, 0.0569, 0.3404},
        {{1, 1, 7, 12}, -0.285714, -0.506920, -0.025559},
        {{14, 5, 0, 22}, 0.121951, 0.011483, 0.226493},
        {{10, 15, 5, 20}, 0.2, 0.025838, 0.356937},
        {{50, 0, 0, 0}, 0, -0.071348, 0.071348},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct eval_difference got = eval_paired_difference(&cases[i].pairs);
        assert_near(got.value, cases[i].value, 5e-5);
        assert_near(got.low, cases[i].low, 5e-5);
        assert_near(got.high, cases[i].high, 5e-5);
    }
    assert_near(eval_paired_difference(&(struct eval_pairs){0}).high, 0, 0);
}

/* Swapping the arms mirrors the interval. */
static void test_mirrored_difference(void **state)
{
    struct eval_difference one = eval_paired_difference(&(struct eval_pairs){90, 7, 2, 10});
    struct eval_difference other = eval_paired_difference(&(struct eval_pairs){90, 2, 7, 10});

    (void)state;
    assert_near(one.value, -other.value, 1e-12);
    assert_near(one.low, -other.high, 1e-12);
    assert_near(one.high, -other.low, 1e-12);
}

/* Twice the tail of a fair coin, by hand: 2 (1 + 10) / 2^10, and so on. */
static void test_mcnemar(void **state)
{
    (void)state;
    assert_near(eval_mcnemar(0, 0), 1, 1e-12);
    assert_near(eval_mcnemar(5, 5), 1, 1e-12);
    assert_near(eval_mcnemar(1, 9), 22.0 / 1024, 1e-12);
    assert_near(eval_mcnemar(9, 1), 22.0 / 1024, 1e-12);
    assert_near(eval_mcnemar(0, 5), 2.0 / 32, 1e-12);
    assert_near(eval_mcnemar(2, 12), 2 * (1 + 14 + 91) / 16384.0, 1e-12);
}

static void test_last_number(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"no number", ""},
        {"It is 85.", "85"},
        {"3 and 4", "4"},
        {"about 1,234,567 people", "1234567"},
        {"$1,200.50.", "1200.5"},
        {"1,2", "2"},
        {"12,3456", "3456"},
        {"-7", "-7"},
        {"5-3", "3"},
        {"x = -3.0", "-3"},
        {"minus zero: -0.00", "0"},
        {"007", "7"},
        {"0.50", "0.5"},
        {"000,100", "100"},
        {"10", "10"},
        {"100.", "100"},
        {"18 eggs\nTherefore: 72\n", "72"},
        {"100,000.0", "100000"},
    };
    char out[64], small[4];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(eval_last_number(cases[i][0], out, sizeof out), cases[i][1]);
    assert_string_equal(eval_last_number("12345", small, sizeof small), "");
}

static void test_matches(void **state)
{
    static const char gsm[] = "She has 48/2 = <<48/2=24>>24 clips.\n48+24 = 72.\n#### 72";

    (void)state;
    assert_true(eval_is_right(EVAL_NUMBER, gsm, "Altogether 48 + 24 = 72 clips."));
    assert_false(eval_is_right(EVAL_NUMBER, gsm, "72 clips, no: 24"));
    assert_false(eval_is_right(EVAL_NUMBER, gsm, "none"));
    assert_false(eval_is_right(EVAL_NUMBER, "none", "none"));
    assert_true(eval_is_right(EVAL_NUMBER, "#### 1,000", "1000.00"));
    assert_true(eval_is_right(EVAL_EXACT, gsm, " 72\n"));
    assert_true(eval_is_right(EVAL_EXACT, "Paris", "Paris"));
    assert_false(eval_is_right(EVAL_EXACT, "Paris", "Paris."));
    assert_false(eval_is_right(EVAL_EXACT, "Paris", "Par"));
    assert_true(eval_is_right(EVAL_CONTAINS, "Paris", "It is Paris."));
    assert_false(eval_is_right(EVAL_CONTAINS, "Paris", "It is paris."));
}

static void test_split(void **state)
{
    int count;
    char **words = eval_split("  --a 1 --stop 'x y' \"it's\"z --empty '' ", &count);

    (void)state;
    assert_int_equal(count, 7);
    assert_string_equal(words[0], "--a");
    assert_string_equal(words[3], "x y");
    assert_string_equal(words[4], "it'sz");
    assert_string_equal(words[6], "");
    free(words);
    words = eval_split("", &count);
    assert_int_equal(count, 0);
    free(words);
    assert_null(eval_split("--stop 'x", &count));
}

static void test_arms(void **state)
{
    struct eval_arms arms = {0};
    struct opts opts;

    (void)state;
    assert_int_equal(eval_arms_add(&arms, "a: --steps 8 -t 1", "-m x.gguf"), CLI_OK);
    assert_string_equal(arms.list[0].name, "a");
    assert_string_equal(arms.list[0].options, "-m x.gguf --steps 8 -t 1");
    assert_string_equal(arms.list[0].model, "x.gguf");
    assert_int_equal(arms.list[0].threads, 1);
    assert_int_equal(eval_arm_parse(&arms.list[0], "-h?", &opts), CLI_OK);
    assert_string_equal(opts.values[RUN_PROMPT].text, "-h?");
    assert_int_equal(opts.values[RUN_STEPS].integer, 8);
    opts_free(&opts);
    assert_int_equal(eval_arms_add(&arms, "plain", NULL), CLI_OK);
    assert_string_equal(arms.list[1].model, DLLM_DEMO_MODEL);
    assert_int_equal(eval_arms_add(&arms, "plain: --steps 2", NULL), CLI_USAGE);
    assert_int_equal(eval_arms_add(&arms, "b: --stepz 2", NULL), CLI_USAGE);
    assert_int_equal(eval_arms_add(&arms, "c: --json", NULL), CLI_USAGE);
    assert_int_equal(eval_arms_add(&arms, "d: why?", NULL), CLI_USAGE);
    assert_int_equal(eval_arms_add(&arms, ": --steps 2", NULL), CLI_USAGE);
    eval_arms_free(&arms);
}

/* Two questions and an arm whose answers are kept in a file. */
struct kept {
    char path[64];
    struct eval_question list[2];
    struct eval_questions questions;
    struct eval_arms arms;
};

static int open_kept(void **state)
{
    struct kept *kept = calloc(1, sizeof *kept);
    int file;

    strcpy(kept->path, "/tmp/dllm-eval-XXXXXX");
    file = mkstemp(kept->path);
    if (file < 0)
        return -1;
    close(file);
    kept->list[0] = (struct eval_question){.question = "q0", .answer = "a0", .number = 0};
    kept->list[1] = (struct eval_question){.question = "q1", .answer = "a1", .number = 5};
    kept->questions = (struct eval_questions){.list = kept->list, .count = 2};
    *state = kept;
    return eval_arms_add(&kept->arms, "a: --steps 8", NULL);
}

static int close_kept(void **state)
{
    struct kept *kept = *state;

    unlink(kept->path);
    eval_arms_free(&kept->arms);
    free(kept);
    return 0;
}

static void add_answer(struct eval_log *log, int question, const char *output)
{
    struct eval_answer answer = {strdup(output), 3, 2, 1L << 40, 0.5};

    assert_int_equal(eval_log_add(log, 0, question, &answer), CLI_OK);
}

static void test_log_goes_on(void **state)
{
    struct kept *kept = *state;
    struct eval_log log;
    FILE *file;

    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_OK);
    add_answer(&log, 1, "two\nlines \xc3\xa9");
    eval_log_close(&log);
    file = fopen(kept->path, "a");
    fputs("{\"arm\":\"a\",\"options\":\"--steps 8\",\"number\":0,\"question\":\"q0\",\"outp", file);
    fclose(file);
    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_OK);
    assert_null(eval_log_answer(&log, 0, 0)->output);
    assert_string_equal(eval_log_answer(&log, 0, 1)->output, "two\nlines \xc3\xa9");
    assert_int_equal(eval_log_answer(&log, 0, 1)->forward_passes, 3);
    assert_int_equal(eval_log_answer(&log, 0, 1)->rows, 1L << 40);
    add_answer(&log, 0, "one");
    eval_log_close(&log);
    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_OK);
    assert_string_equal(eval_log_answer(&log, 0, 0)->output, "one");
    assert_string_equal(eval_log_answer(&log, 0, 1)->output, "two\nlines \xc3\xa9");
    eval_log_close(&log);
}

static void test_log_of_something_else(void **state)
{
    struct kept *kept = *state;
    struct eval_log log;
    struct eval_arms other = {0};

    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_OK);
    add_answer(&log, 0, "one");
    eval_log_close(&log);
    kept->list[0].question = "changed";
    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_USAGE);
    eval_log_close(&log);
    kept->list[0].question = "q0";
    assert_int_equal(eval_arms_add(&other, "a: --steps 9", NULL), CLI_OK);
    assert_int_equal(eval_log_open(kept->path, &other, &kept->questions, &log), CLI_USAGE);
    eval_log_close(&log);
    eval_arms_free(&other);
    assert_int_equal(truncate(kept->path, 0), 0);
    assert_int_equal(eval_arms_add(&other, "b", NULL), CLI_OK);
    assert_int_equal(eval_log_open(kept->path, &other, &kept->questions, &log), CLI_OK);
    add_answer(&log, 0, "of another arm");
    eval_log_close(&log);
    assert_int_equal(eval_log_open(kept->path, &kept->arms, &kept->questions, &log), CLI_OK);
    assert_null(eval_log_answer(&log, 0, 0)->output);
    eval_log_close(&log);
    eval_arms_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paired_difference),
        cmocka_unit_test(test_mirrored_difference),
        cmocka_unit_test(test_mcnemar),
        cmocka_unit_test(test_last_number),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_arms),
        cmocka_unit_test_setup_teardown(test_log_goes_on, open_kept, close_kept),
        cmocka_unit_test_setup_teardown(test_log_of_something_else, open_kept, close_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
