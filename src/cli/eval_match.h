/*
 * eval_match.h: whether a model's output is the right answer to a question.
 */
#ifndef EVAL_MATCH_H
#define EVAL_MATCH_H

#include <stdbool.h>
#include <stddef.h>

enum eval_match { EVAL_EXACT, EVAL_NUMBER, EVAL_CONTAINS };

/* Their names, ending in NULL. */
extern const char *const eval_match_names[];

/* The last number of text, as digits that two equal numbers share: without thousands separators,
 * leading zeros, trailing zeros after the point, and the sign of a zero. "" if there is none.
 * A minus counts as a sign unless a letter, a digit or a point stands before it. Returns out, a
 * buffer of size bytes, which digits that do not fit leave "". */
const char *eval_last_number(const char *text, char *out, size_t size);

/* Whether output is right. What is wanted is the text after the last "####" of answer (GSM8K's
 * form), or all of it, without white space around. exact: output without white space around is the
 * same; number: the last number of both is the same; contains: it stands somewhere in output. */
bool eval_is_right(enum eval_match match, const char *answer, const char *output);

#endif
