/*
 * eval_ask.h: puts the questions to the arms and fills the log.
 */
#ifndef EVAL_ASK_H
#define EVAL_ASK_H

#include "eval_log.h"

/* Asks what the log does not have yet. Arms of one model (and as many threads) share it, and answer
 * in turn, question by question, so that a run that was broken off compares them fairly; one model
 * is open at a time. Shows on a terminal (stderr) how far it is. 0, or the exit code after a
 * message; ctrl-c gives CLI_INTERRUPTED. */
int eval_ask_all(struct eval_log *log);

#endif
