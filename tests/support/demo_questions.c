/* demo_questions.c: reads the held-out questions and asks a session. */
#include "demo_questions.h"

#include "jsonl.h"

#include <stdio.h>
#include <string.h>

json_t *demo_questions_load(const char *path)
{
    return jsonl_load(path);
}

struct demo_question demo_question_get(const json_t *list, size_t index)
{
    const json_t *row = json_array_get(list, index);

    return (struct demo_question){
        .kind = json_string_value(json_object_get(row, "kind")),
        .question = json_string_value(json_object_get(row, "question")),
        .answer = json_string_value(json_object_get(row, "answer")),
    };
}

static void judge(const struct dllm_result *result, const char *answer, struct demo_reply *out)
{
    out->forward_passes = result->forward_passes;
    out->right = result->finish == DLLM_FINISH_EOS && strcmp(result->text.data, answer) == 0;
    snprintf(out->text, sizeof out->text, "%s", result->text.data);
}

enum dllm_status demo_question_ask(struct dllm_engine *engine, struct dllm_session *session,
                                   const struct demo_question *question,
                                   const struct demo_setting *setting, struct demo_reply *out,
                                   struct dllm_error *error)
{
    struct dllm_message message = {"user", {question->question, strlen(question->question)}};
    struct dllm_generate_options options;
    struct dllm_ids prompt = {0};
    struct dllm_result result = {0};
    enum dllm_status status = dllm_encode_chat(engine, &message, 1, false, &prompt, error);

    if (status != DLLM_OK)
        return status;
    dllm_generate_defaults(engine, true, &options);
    options.max_tokens = DEMO_CANVAS;
    options.temperature = 0;
    options.steps = setting->steps;
    options.block_length = setting->block_length;
    options.threshold = setting->threshold;
    options.factor = setting->factor;
    status = dllm_generate(session, prompt.ids, prompt.count, &options, &result, error);
    if (status == DLLM_OK)
        judge(&result, question->answer, out);
    dllm_result_free(&result);
    dllm_ids_free(&prompt);
    return status;
}
