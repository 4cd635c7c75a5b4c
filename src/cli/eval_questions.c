/* eval_questions.c: reads the questions. */
#include "eval_questions.h"

#include "cli.h"
#include "out.h"
#include "prompt.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

/* Takes the row, which belongs to rows; 0, or the exit code after a message. */
static int add_question(struct eval_questions *out, json_t *row, int number)
{
    struct eval_question question = {text_of(row, "question"), text_of(row, "answer"),
                                     text_of(row, "kind"), number};
    struct eval_question *grown;

    if (!question.question || !*question.question || !question.answer)
        return cli_fail(CLI_FAILURE,
                        "question %d of the file needs \"question\" and \"answer\", both text",
                        number + 1);
    grown = realloc(out->list, ((size_t)out->count + 1) * sizeof *grown);
    if (!grown)
        return cli_fail(CLI_FAILURE, "out of memory");
    out->list = grown;
    out->list[out->count++] = question;
    return CLI_OK;
}

static int take_line(const char *line, size_t size, int number, json_t **row)
{
    json_error_t error;

    *row = json_loadb(line, size, 0, &error);
    if (!*row)
        return cli_fail(CLI_FAILURE, "question %d of the file is no JSON object: %s", number + 1,
                        out_json_problem(&error));
    return CLI_OK;
}

static int take_lines(struct dllm_string text, int every, int limit, struct eval_questions *out)
{
    const char *at = text.data, *end = at + text.size, *next;
    int number = 0, code = CLI_OK;
    json_t *row;

    for (; !code && at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (!next)
            next = end;
        if (strspn(at, " \t\r") >= (size_t)(next - at))
            continue;
        code = take_line(at, (size_t)(next - at), number, &row);
        if (!code && json_array_append_new(out->rows, row))
            code = cli_fail(CLI_FAILURE, "out of memory");
        if (!code && number % every == 0 && (limit == 0 || out->count < limit))
            code = add_question(out, row, number);
        number++;
    }
    return code;
}

int eval_questions_load(const char *path, int every, int limit, struct eval_questions *out)
{
    struct dllm_text text;
    int code;

    *out = (struct eval_questions){.rows = json_array()};
    if ((code = prompt_read_file(path, &text)))
        return code;
    code = take_lines(prompt_without_mark(&text), every, limit, out);
    dllm_text_free(&text);
    if (!code && out->count == 0)
        code = cli_fail(CLI_FAILURE,
                        "\"%s\" holds no questions; it needs lines such as "
                        "{\"question\": \"1 + 1?\", \"answer\": \"2\"}",
                        path);
    return code;
}

void eval_questions_free(struct eval_questions *questions)
{
    free(questions->list);
    json_decref(questions->rows);
    *questions = (struct eval_questions){0};
}
