/*
 * eval_log.h: the answers of all arms, kept in a file as they come, one JSON object a line, so that
 * an evaluation that was broken off goes on where it stood.
 */
#ifndef EVAL_LOG_H
#define EVAL_LOG_H

#include "eval_arms.h"
#include "eval_questions.h"

#include <stdio.h>

struct eval_answer {
    char *output; /* NULL: not asked yet; owned */
    int forward_passes, tokens;
    int64_t rows; /* computed, all passes together */
    double seconds;
};

struct eval_log {
    const struct eval_arms *arms;
    const struct eval_questions *questions;
    struct eval_answer *answers; /* [arms][questions] */
    const char *path;            /* of the file; NULL: none is kept */
    FILE *file;                  /* NULL: nothing is kept */
};

/* An empty log for these, which must outlive it; with a path, it takes over what the file holds (of
 * these arms and questions; the rest stays where it is) and appends to it. A last line that was
 * torn off is cut away. 0, or the exit code after a message: the file may be of other questions, or
 * of an arm that had other options. Close with eval_log_close, whatever came out. */
int eval_log_open(const char *path, const struct eval_arms *arms,
                  const struct eval_questions *questions, struct eval_log *out);
void eval_log_close(struct eval_log *log);

/* The place of an answer, by their numbers in arms and questions. Owned by the log. */
struct eval_answer *eval_log_answer(const struct eval_log *log, int arm, int question);

/* Keeps an answer, whose output it takes over, in memory and in the file. */
int eval_log_add(struct eval_log *log, int arm, int question, const struct eval_answer *answer);

#endif
