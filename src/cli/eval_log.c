/* eval_log.c: takes over a file of answers, and appends to it line by line. */
#include "eval_log.h"

#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct eval_answer *eval_log_answer(const struct eval_log *log, int arm, int question)
{
    return &log->answers[arm * log->questions->count + question];
}

static int find_arm(const struct eval_arms *arms, const char *name)
{
    for (int i = 0; name && i < arms->count; i++)
        if (strcmp(arms->list[i].name, name) == 0)
            return i;
    return -1;
}

static int find_question(const struct eval_questions *questions, int number)
{
    for (int i = 0; i < questions->count; i++)
        if (questions->list[i].number == number)
            return i;
    return -1;
}

static int fail_foreign(const struct eval_log *log, int line)
{
    return cli_fail(
        CLI_FAILURE,
        "line %d of \"%s\" is no answer of an evaluation; --results goes on only with a "
        "file of answers: name another one",
        line, log->path);
}

/* Whether a last line without its end is one of ours, which a kill cut off: any other is not ours
 * to remove. */
static bool is_torn_answer(const char *line, size_t size)
{
    static const char head[] = "{\"arm\":\"";

    return memcmp(line, head, size < sizeof head - 1 ? size : sizeof head - 1) == 0;
}

/* One line of the file into its place. */
static int take(struct eval_log *log, const json_t *row, int line)
{
    const char *name, *options, *question, *output;
    int number, arm, place;
    json_int_t rows;
    struct eval_answer answer = {0}, *kept;

    if (json_unpack((json_t *)row, "{s:s, s:s, s:i, s:s, s:s, s:i, s:I, s:i, s:F}", "arm", &name,
                    "options", &options, "number", &number, "question", &question, "output",
                    &output, "forward_passes", &answer.forward_passes, "rows_computed", &rows,
                    "tokens", &answer.tokens, "seconds", &answer.seconds))
        return fail_foreign(log, line);
    arm = find_arm(log->arms, name);
    place = find_question(log->questions, number);
    if (arm < 0 || place < 0)
        return CLI_OK;
    if (strcmp(options, log->arms->list[arm].options) != 0)
        return cli_fail(CLI_USAGE,
                        "the results file has answers of arm \"%s\" with the options \"%s\", not "
                        "\"%s\"; give the arm another name or the results another file",
                        name, options, log->arms->list[arm].options);
    if (strcmp(question, log->questions->list[place].question) != 0)
        return cli_fail(CLI_USAGE,
                        "the results file is of other questions: number %d there is \"%s\"; give "
                        "the results another file",
                        number + 1, question);
    answer.rows = rows;
    kept = eval_log_answer(log, arm, place);
    free(kept->output);
    answer.output = strdup(output);
    *kept = answer;
    return answer.output ? CLI_OK : cli_fail(CLI_FAILURE, "out of memory");
}

/* Reads all whole lines; *end becomes where they end. */
static int take_lines(struct eval_log *log, long *end)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length = 0;
    int code = CLI_OK, number = 0;

    *end = 0;
    while (!code && (length = getline(&line, &size, log->file)) > 0 && line[length - 1] == '\n') {
        json_t *row = json_loads(line, 0, NULL);
        code = take(log, row, ++number);
        json_decref(row);
        *end += length;
    }
    if (!code && length > 0 && line[length - 1] != '\n' && !is_torn_answer(line, (size_t)length))
        code = fail_foreign(log, number + 1);
    free(line);
    if (!code && !feof(log->file) && length < 0)
        code = cli_fail(CLI_FAILURE, "the results file could not be read to its end: %s",
                        strerror(errno));
    return code;
}

int eval_log_open(const char *path, const struct eval_arms *arms,
                  const struct eval_questions *questions, struct eval_log *out)
{
    struct stat info;
    long end;
    int code;

    *out = (struct eval_log){.arms = arms, .questions = questions, .path = path};
    out->answers = calloc((size_t)arms->count * (size_t)questions->count, sizeof *out->answers);
    if (!out->answers)
        return cli_fail(CLI_FAILURE, "out of memory");
    if (!path)
        return CLI_OK;
    if ((code = out_file_refuse_dash(path)))
        return code;
    out->file = fopen(path, "a+");
    if (!out->file)
        return cli_fail(CLI_FAILURE, "\"%s\" could not be opened: %s", path, strerror(errno));
    if (fstat(fileno(out->file), &info) != 0 || !S_ISREG(info.st_mode))
        return cli_fail(CLI_FAILURE, "\"%s\" exists and is not a regular file; choose another name",
                        path);
    if ((code = out_file_lock(fileno(out->file), path)))
        return code;
    rewind(out->file);
    code = take_lines(out, &end);
    if (!code && ftruncate(fileno(out->file), end))
        return cli_fail(CLI_FAILURE, "\"%s\": the torn last line could not be cut away: %s", path,
                        strerror(errno));
    fseek(out->file, 0, SEEK_END);
    return code;
}

void eval_log_close(struct eval_log *log)
{
    for (int i = 0; log->answers && i < log->arms->count * log->questions->count; i++)
        free(log->answers[i].output);
    free(log->answers);
    if (log->file)
        fclose(log->file);
    *log = (struct eval_log){0};
}

static int append(struct eval_log *log, int arm, int question, const struct eval_answer *answer)
{
    const struct eval_arm *of = &log->arms->list[arm];
    const struct eval_question *asked = &log->questions->list[question];
    json_t *row =
        json_pack("{s:s, s:s, s:i, s:s, s:o, s:i, s:I, s:i, s:f}", "arm", of->name, "options",
                  of->options, "number", asked->number, "question", asked->question, "output",
                  out_json_text(answer->output, strlen(answer->output)), "forward_passes",
                  answer->forward_passes, "rows_computed", (json_int_t)answer->rows, "tokens",
                  answer->tokens, "seconds", answer->seconds);
    char *line = row ? json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    bool fine = line && fprintf(log->file, "%s\n", line) > 0 && fflush(log->file) == 0;

    if (!fine)
        cli_fail(CLI_FAILURE, "an answer could not be kept in the results file: %s",
                 line ? strerror(errno) : "out of memory");
    free(line);
    json_decref(row);
    return fine ? CLI_OK : CLI_FAILURE;
}

int eval_log_add(struct eval_log *log, int arm, int question, const struct eval_answer *answer)
{
    *eval_log_answer(log, arm, question) = *answer;
    return log->file ? append(log, arm, question, answer) : CLI_OK;
}
