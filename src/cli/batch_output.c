/*
 * batch_output.c: results are appended, a line a write. Whoever is killed between
 * two writes leaves whole lines; within one, a torn last line, which resuming drops.
 */
#include "batch.h"
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *batch_key(const json_t *id, long line, int sample)
{
    char *text = json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT), *key = NULL;

    /* Without a key a request would be answered twice. */
    if (!text || asprintf(&key, "%d %ld %s", sample, json_is_null(id) ? line : 0, text) < 0)
        cli_end_without_memory();
    free(text);
    return key;
}

/* Where in the file the result is; NULL if it is not there. */
static const json_t *find(const struct batch_output *output, const struct batch_job *job,
                          int sample)
{
    char *key = output->done ? batch_key(job->id, job->line, sample) : NULL;
    const json_t *at = key ? json_object_get(output->done, key) : NULL;

    free(key);
    return at;
}

bool batch_output_has(const struct batch_output *output, const struct batch_job *job, int sample)
{
    return find(output, job, sample) != NULL;
}

json_t *batch_output_read(const struct batch_output *output, const struct batch_job *job,
                          int sample)
{
    const json_t *at = find(output, job, sample);
    json_t *result = NULL;
    char *line = NULL;
    size_t size = 0;

    if (at && fseeko(output->file, (off_t)json_integer_value(at), SEEK_SET) == 0 &&
        getline(&line, &size, output->file) > 0)
        result = json_loads(line, 0, NULL);
    free(line);
    if (!json_object_get(result, "error"))
        return result;
    json_decref(result);
    return NULL;
}

/* Whether the text is the beginning of a result, however short, and not the whole of something
 * else: a request, say. */
static bool is_torn_result(const char *text, size_t size)
{
    static const char head[] = "{\"id\": ";
    json_t *whole = json_loadb(text, size, 0, NULL);
    bool other = whole && !json_is_integer(json_object_get(whole, "line"));

    json_decref(whole);
    return !other && memcmp(text, head, size < sizeof head - 1 ? size : sizeof head - 1) == 0;
}

static int fail_foreign(const struct batch_output *output, long number)
{
    return cli_fail(CLI_FAILURE,
                    "line %ld of \"%s\" is no result of a batch; --resume goes on only with a "
                    "file of results",
                    number, output->name);
}

/* Keeps the key and the place of a line written before. */
static int take_line(struct batch_output *output, const char *line, size_t size, long number)
{
    json_t *object = json_loadb(line, size, 0, NULL);
    const json_t *id = json_object_get(object, "id"), *at = json_object_get(object, "line"),
                 *sample = json_object_get(object, "sample");
    char *key = id && json_is_integer(at) && (!sample || json_is_integer(sample))
                    ? batch_key(id, (long)json_integer_value(at), (int)json_integer_value(sample))
                    : NULL;
    int code = CLI_OK;

    if (!key || json_object_set_new(output->done, key, json_integer(output->size)))
        code = fail_foreign(output, number);
    output->lines = number;
    output->errors += json_object_get(object, "error") != NULL;
    free(key);
    json_decref(object);
    return code;
}

/* Reads the whole lines; what follows the last of them is torn. */
static int take_lines(struct batch_output *output)
{
    struct dllm_text text;
    long number = 0;
    int code = prompt_read_file(output->name, &text);

    for (size_t at = 0; !code && at < text.size;) {
        const char *newline = memchr(text.data + at, '\n', text.size - at);
        if (!newline && !is_torn_result(text.data + at, text.size - at))
            code = fail_foreign(output, number + 1);
        if (!newline)
            break;
        code = take_line(output, text.data + at, (size_t)(newline - text.data) - at, ++number);
        at = (size_t)(newline - text.data) + 1;
        output->size = (off_t)at;
    }
    dllm_text_free(&text);
    return code;
}

static int fail(const struct batch_output *output)
{
    return cli_fail(CLI_FAILURE, "the output \"%s\" could not be opened: %s", output->name,
                    strerror(errno));
}

static int go_on_with(struct batch_output *output)
{
    int code;

    output->done = json_object();
    output->file = fopen(output->name, "re");
    if (!output->file)
        return fail(output);
    if ((code = take_lines(output)))
        return code;
    return ftruncate(output->descriptor, output->size) ? fail(output) : CLI_OK;
}

/* Results among the requests would be read as requests, and a last request without
 * a newline be dropped as a torn result. */
static int check_apart(const struct batch_output *output, const struct batch_input *input)
{
    struct stat in, out;

    if (fstat(input->descriptor, &in) != 0 || fstat(output->descriptor, &out) != 0 ||
        !S_ISREG(out.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "input and output are the same file, \"%s\"; name another output",
                    input->name);
}

static int open_file(struct batch_output *output, const struct batch_input *input, bool resume)
{
    struct stat info;
    int code;

    output->descriptor = open(output->name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (output->descriptor < 0 || fstat(output->descriptor, &info) != 0)
        return fail(output);
    if ((code = check_apart(output, input)))
        return code;
    output->keeps = S_ISREG(info.st_mode);
    if ((code = out_file_lock(output->descriptor, output->name)))
        return code;
    if (resume && output->keeps)
        return go_on_with(output);
    if (!output->keeps || info.st_size == 0)
        return CLI_OK;
    return cli_fail(
        CLI_USAGE,
        "\"%s\" has something in it already; go on with it by --resume, or name another "
        "file",
        output->name);
}

int batch_output_open(struct batch_output *output, const struct batch_input *input,
                      const char *name, bool resume)
{
    *output = (struct batch_output){.descriptor = STDOUT_FILENO, .name = "standard output"};
    if (!name || strcmp(name, "-") == 0)
        return check_apart(output, input);
    output->name = name;
    return open_file(output, input, resume);
}

/* The whole line in one write, unless the system takes less at a time. */
static bool write_all(int descriptor, const char *data, size_t size)
{
    while (size) {
        ssize_t wrote = write(descriptor, data, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        data += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

void batch_output_write(struct batch_output *output, const char *line)
{
    if (output->failure)
        return;
    if (write_all(output->descriptor, line, strlen(line))) {
        output->written++;
        output->size += (off_t)strlen(line);
        return;
    }
    output->failure = errno;
    if (output->keeps && ftruncate(output->descriptor, output->size) != 0)
        output->keeps = false; /* a torn line stays, for --resume to drop */
}

int batch_output_close(struct batch_output *output)
{
    int code = CLI_OK;

    if (output->descriptor > STDERR_FILENO && close(output->descriptor) != 0 && !output->failure)
        output->failure = errno;
    if (output->failure)
        code = cli_fail(CLI_FAILURE,
                        "%s%s%s could not be written: %s; %ld results were written "
                        "before",
                        output->descriptor == STDOUT_FILENO ? "" : "\"", output->name,
                        output->descriptor == STDOUT_FILENO ? "" : "\"", strerror(output->failure),
                        output->written);
    if (output->file)
        fclose(output->file);
    json_decref(output->done);
    return code;
}
