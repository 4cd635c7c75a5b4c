/* eval_score.c: judges the answers and compares the arms. */
#include "eval_report.h"

#include <stdlib.h>

static void judge_arm(const struct eval_log *log, int arm, enum eval_match match,
                      struct eval_score *out)
{
    int count = log->questions->count;

    for (int i = 0; i < count; i++) {
        const struct eval_answer *answer = eval_log_answer(log, arm, i);
        bool right = eval_is_right(match, log->questions->list[i].answer, answer->output);
        out->right[i] = right ? '1' : '0';
        out->right_count += right;
        out->forward_passes += (double)answer->forward_passes / count;
        out->rows += (double)answer->rows / count;
        out->tokens += (double)answer->tokens / count;
        out->seconds += answer->seconds / count;
    }
}

static void compare(const struct eval_score *base, struct eval_score *arm)
{
    struct eval_pairs pairs = {0};

    for (int i = 0; base->right[i]; i++) {
        int *cell = arm->right[i] == '1'    ? base->right[i] == '1' ? &pairs.both : &pairs.only_this
                    : base->right[i] == '1' ? &pairs.only_other
                                            : &pairs.neither;
        ++*cell;
    }
    arm->better = pairs.only_this;
    arm->worse = pairs.only_other;
    arm->difference = eval_paired_difference(&pairs);
    arm->mcnemar_p = eval_mcnemar(arm->better, arm->worse);
}

struct eval_score *eval_judge(const struct eval_log *log, enum eval_match match)
{
    int arms = log->arms->count;
    struct eval_score *scores = calloc((size_t)arms, sizeof *scores);

    for (int arm = 0; scores && arm < arms; arm++) {
        scores[arm].right = calloc(1, (size_t)log->questions->count + 1);
        if (!scores[arm].right) {
            eval_scores_free(scores, arms);
            return NULL;
        }
        judge_arm(log, arm, match, &scores[arm]);
        compare(&scores[0], &scores[arm]);
    }
    return scores;
}

void eval_scores_free(struct eval_score *scores, int count)
{
    for (int i = 0; scores && i < count; i++)
        free(scores[i].right);
    free(scores);
}
