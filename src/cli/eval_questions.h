/*
 * eval_questions.h: a file of questions, one JSON object a line.
 */
#ifndef EVAL_QUESTIONS_H
#define EVAL_QUESTIONS_H

#include <jansson.h>

struct eval_question {
    const char *question, *answer;
    const char *kind; /* "kind" of the line, NULL without one */
    int number;       /* place in the file, from 0 */
};

struct eval_questions {
    struct eval_question *list;
    int count;
    json_t *rows; /* owns the texts */
};

/* Reads {"question": TEXT, "answer": TEXT, "kind": TEXT} lines, of which the last is optional and
 * other names are left aside; keeps every `every`-th, at most `limit` of them (0: all). 0, or the
 * exit code after a message. Free with eval_questions_free, whatever came out. */
int eval_questions_load(const char *path, int every, int limit, struct eval_questions *out);
void eval_questions_free(struct eval_questions *questions);

#endif
