/*
 * eval_report.h: what the answers of the arms are worth: a table, and a JSON file.
 */
#ifndef EVAL_REPORT_H
#define EVAL_REPORT_H

#include "eval_log.h"
#include "eval_match.h"
#include "eval_stats.h"

/* One arm's answers, judged. */
struct eval_score {
    char *right; /* [questions] '1' or '0', ending in NUL; owned */
    int right_count;
    double forward_passes, rows, tokens, seconds; /* means of an answer */
    /* against the first arm */
    int better, worse; /* questions that only this, or only the first has right */
    struct eval_difference difference;
    double mcnemar_p;
};

/* Judges every answer; all questions must have been answered. [arms], or NULL without memory; free
 * with eval_scores_free. */
struct eval_score *eval_judge(const struct eval_log *log, enum eval_match match);
void eval_scores_free(struct eval_score *scores, int count);

/* Prints the table, and one of shares per kind where questions have kinds. */
void eval_print(const struct eval_log *log, const struct eval_score *scores);

/* Writes all of it to a file. 0, or the exit code after a message. */
int eval_write_json(const char *path, const char *questions_path, const struct eval_log *log,
                    enum eval_match match, const struct eval_score *scores);

#endif
