/* eval_questions.c: reads the questions. */
#include "eval_questions.h"

#include "cli.h"

#include <errno.h>
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

static int read_line(const char *line, int number, json_t **row)
{
    json_error_t error;

    *row = json_loads(line, 0, &error);
    if (!*row)
        return cli_fail(CLI_FAILURE, "question %d of the file is no JSON object: %s", number + 1,
                        error.text);
    return CLI_OK;
}

static int read_rows(FILE *file, int every, int limit, struct eval_questions *out)
{
    char *line = NULL;
    size_t size = 0;
    json_t *row;
    int number = 0, code = CLI_OK;

    while (!code && getline(&line, &size, file) >= 0) {
        if (!line[strspn(line, " \t\r\n")])
            continue;
        code = read_line(line, number, &row);
        if (!code && json_array_append_new(out->rows, row))
            code = cli_fail(CLI_FAILURE, "out of memory");
        if (!code && number % every == 0 && (limit == 0 || out->count < limit))
            code = add_question(out, row, number);
        number++;
    }
    free(line);
    if (!code && !feof(file))
        code = cli_fail(CLI_FAILURE, "the questions could not be read to their end: %s",
                        strerror(errno));
    return code;
}

int eval_questions_load(const char *path, int every, int limit, struct eval_questions *out)
{
    FILE *file = fopen(path, "r");
    int code;

    *out = (struct eval_questions){.rows = json_array()};
    if (!file)
        return cli_fail(CLI_FAILURE, "\"%s\" could not be read: %s", path, strerror(errno));
    code = out->rows ? read_rows(file, every, limit, out) : cli_fail(CLI_FAILURE, "out of memory");
    fclose(file);
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
