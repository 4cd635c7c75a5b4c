/* eval_report.c: the table and the JSON file. */
#include "eval_report.h"

#include "out.h"

#include <stdlib.h>
#include <string.h>

static int name_width(const struct eval_arms *arms)
{
    int width = 3;

    for (int i = 0; i < arms->count; i++)
        if ((int)strlen(arms->list[i].name) > width)
            width = (int)strlen(arms->list[i].name);
    return width;
}

static void print_arm(const struct eval_log *log, const struct eval_score *scores, int arm,
                      int width)
{
    const struct eval_score *score = &scores[arm];
    int asked = log->questions->count;

    printf("%-*s  %5d of %-5d %5.1f %%  %8.1f  %8.0f  %9.3f", width, log->arms->list[arm].name,
           score->right_count, asked, 100.0 * score->right_count / asked, score->forward_passes,
           score->rows, score->seconds);
    if (arm > 0)
        printf("  %+6.1f (%+.1f to %+.1f)  +%d -%d, p = %.2g", 100 * score->difference.value,
               100 * score->difference.low, 100 * score->difference.high, score->better,
               score->worse, score->mcnemar_p);
    printf("\n");
}

/* Right answers of the kind, and in *asked its questions. */
static int count_kind(const struct eval_questions *questions, const char *kind, const char *right,
                      int *asked)
{
    int count = 0;

    *asked = 0;
    for (int i = 0; i < questions->count; i++)
        if (questions->list[i].kind && strcmp(questions->list[i].kind, kind) == 0) {
            ++*asked;
            count += right[i] == '1';
        }
    return count;
}

/* Whether question i is the first of its kind. */
static bool first_of_kind(const struct eval_questions *questions, int i)
{
    if (!questions->list[i].kind)
        return false;
    for (int before = 0; before < i; before++)
        if (questions->list[before].kind &&
            strcmp(questions->list[before].kind, questions->list[i].kind) == 0)
            return false;
    return true;
}

static void print_kinds(const struct eval_log *log, const struct eval_score *scores, int width)
{
    const struct eval_questions *questions = log->questions;
    bool any = false;
    int asked;

    for (int i = 0; i < questions->count; i++) {
        if (!first_of_kind(questions, i))
            continue;
        if (!any) {
            printf("\n%-*s  asked", width, "kind");
            for (int arm = 0; arm < log->arms->count; arm++)
                printf("  %9.9s", log->arms->list[arm].name);
            printf("\n");
        }
        any = true;
        count_kind(questions, questions->list[i].kind, scores[0].right, &asked);
        printf("%-*s  %5d", width, questions->list[i].kind, asked);
        for (int arm = 0; arm < log->arms->count; arm++)
            printf("    %5.1f %%",
                   100.0 *
                       count_kind(questions, questions->list[i].kind, scores[arm].right, &asked) /
                       asked);
        printf("\n");
    }
}

void eval_print(const struct eval_log *log, const struct eval_score *scores)
{
    int width = name_width(log->arms);

    printf("%-*s  %14s %7s  %8s  %8s  %9s%s\n", width, "arm", "right", "", "forwards", "rows",
           "seconds", log->arms->count > 1 ? "  against the first, in points (95 %)" : "");
    for (int arm = 0; arm < log->arms->count; arm++)
        print_arm(log, scores, arm, width);
    print_kinds(log, scores, width > 12 ? width : 12);
}

static json_t *kinds_json(const struct eval_questions *questions, const char *right)
{
    json_t *kinds = json_object();
    int count, asked;

    for (int i = 0; i < questions->count; i++)
        if (first_of_kind(questions, i)) {
            count = count_kind(questions, questions->list[i].kind, right, &asked);
            json_object_set_new(kinds, questions->list[i].kind,
                                json_pack("{s:i, s:i}", "right", count, "asked", asked));
        }
    return kinds;
}

static json_t *arm_json(const struct eval_log *log, const struct eval_score *score, int arm)
{
    const struct eval_arm *own = &log->arms->list[arm];

    return json_pack(
        "{s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:i, s:i, s:f}, s:o, s:s}", "name",
        own->name, "options", own->options, "right", score->right_count, "forwards_per_answer",
        score->forward_passes, "rows_per_answer", score->rows, "tokens_per_answer", score->tokens,
        "seconds_per_answer", score->seconds, "against_first", "difference",
        score->difference.value, "low", score->difference.low, "high", score->difference.high,
        "better", score->better, "worse", score->worse, "mcnemar_p", score->mcnemar_p, "kinds",
        kinds_json(log->questions, score->right), "answers", score->right);
}

int eval_write_json(const char *path, const char *questions_path, const struct eval_log *log,
                    enum eval_match match, const struct eval_score *scores)
{
    json_t *arms = json_array();
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:i, s:o}", "kind", "eval", "version",
                             dllm_version(), "questions", questions_path, "match",
                             eval_match_names[match], "asked", log->questions->count, "arms", arms);
    struct out_file file;
    char *text = NULL;
    int code;

    for (int arm = 0; root && arm < log->arms->count; arm++)
        json_array_append_new(arms, arm_json(log, &scores[arm], arm));
    if (root)
        text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    json_decref(root);
    if (!text)
        return cli_fail(CLI_FAILURE, "out of memory");
    code = out_file_open(&file, path);
    if (!code) {
        out_file_write(&file, text, strlen(text));
        out_file_write(&file, "\n", 1);
        code = out_file_commit(&file);
    }
    free(text);
    return code;
}
