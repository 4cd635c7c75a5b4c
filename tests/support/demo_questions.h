/*
 * demo_questions.h: the held-out questions of the demo model (bench/eval_demo.jsonl:
 * kind, question and the one right answer a line), and asking a model one of them.
 */
#ifndef DEMO_QUESTIONS_H
#define DEMO_QUESTIONS_H

#include "dllm.h"

#include <jansson.h>

#define DEMO_QUESTIONS_PATH "bench/eval_demo.jsonl"
enum { DEMO_CANVAS = 64 }; /* positions generated for an answer */

struct demo_question {
    const char *kind, *question, *answer; /* inside the list that was loaded */
};

/* Reads the list, NULL if it cannot be read; question i with demo_question_get. Release with
 * json_decref. */
json_t *demo_questions_load(const char *path);
struct demo_question demo_question_get(const json_t *list, size_t index);

/* How a question is asked: at temperature 0 on a canvas of DEMO_CANVAS positions. */
struct demo_setting {
    int steps, block_length;
    double threshold, factor; /* 0: off */
};

struct demo_reply {
    bool right; /* the text is the answer, and ended */
    int forward_passes;
    char text[256]; /* cut when longer */
};

/* Asks through the chat template. Only an error of the library fails. */
enum dllm_status demo_question_ask(struct dllm_engine *engine, struct dllm_session *session,
                                   const struct demo_question *question,
                                   const struct demo_setting *setting, struct demo_reply *out,
                                   struct dllm_error *error);

#endif
