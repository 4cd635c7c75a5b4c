/*
 * batch_resume.c: whether results that are there already were made as they would be now. A result
 * holds its settings, and those of a request come from its line and the command line together, so
 * that a request which says something itself is no difference.
 */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

/* What other settings follow from: a difference is told by its cause. */
static const char *const causes[] = {"model",     "quantization", "chat",         "max_tokens",
                                     "threshold", "factor",       "entropy_bound"};

/* How the request would be answered now, all in one object; NULL if its line is an error. */
static json_t *settings_now(const struct batch_job *request, const struct batch_command *command)
{
    struct cli_capture unheard = {0};
    struct batch_line line = {0};
    json_t *settings = NULL;

    cli_capture_errors(&unheard);
    if (request->object && batch_line_parse(&line, request->object, command->opts) == CLI_OK)
        settings = command->settings(&line.opts, command->engine);
    cli_capture_errors(NULL);
    batch_line_free(&line);
    json_object_update(settings, json_object_get(settings, "settings"));
    json_object_del(settings, "settings");
    json_object_del(settings, "allow_long"); /* permits a canvas, and changes no answer */
    return settings;
}

/* Numbers as results are written, whatever has rewritten the file since; owned by the caller. */
static char *text_of(const json_t *value)
{
    char *text = NULL;

    if (!json_is_real(value))
        text = json_dumps(value, JSON_ENCODE_ANY);
    else if (asprintf(&text, "%.9g", json_real_value(value)) < 0)
        text = NULL;
    if (!text)
        cli_end_without_memory();
    return text;
}

/* What the result does not hold is no difference. */
static bool differs(const json_t *then, const json_t *now, const char *name)
{
    const json_t *a = json_object_get(then, name), *b = json_object_get(now, name);
    char *was = a ? text_of(a) : NULL, *is = b ? text_of(b) : NULL;
    bool other = was && is && strcmp(was, is) != 0;

    free(was);
    free(is);
    return other;
}

/* The first setting that differs; NULL: none does. */
static const char *find_difference(const json_t *then, const json_t *now)
{
    const char *name;
    json_t *value;

    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (differs(then, now, causes[i]))
            return causes[i];
    json_object_foreach((json_t *)now, name, value)
    {
        if (differs(then, now, name))
            return name;
    }
    return NULL;
}

static int fail_changed(const struct batch_output *output, const struct batch_job *request,
                        const char *name, const json_t *then, const json_t *now)
{
    char *id = text_of(request->id), *was = text_of(then), *is = text_of(now);
    int code =
        cli_fail(CLI_USAGE,
                 "the result of request %.60s in \"%s\" was made with %s %.100s, not %.100s; "
                 "give the same settings, name another output, or remove the results there "
                 "that are to be made anew",
                 id, output->name, name, was, is);

    free(id);
    free(was);
    free(is);
    return code;
}

/* Compares one result, which is released, and may be NULL. */
static int compare(const struct batch_output *output, const struct batch_job *request, json_t *then,
                   const json_t *now)
{
    const char *name;
    int code = CLI_OK;

    json_object_update(then, json_object_get(then, "settings"));
    /* The other samples' seeds follow from that of the first. */
    if (json_integer_value(json_object_get(then, "sample")) > 0)
        json_object_del(then, "seed");
    if ((name = find_difference(then, now)))
        code = fail_changed(output, request, name, json_object_get(then, name),
                            json_object_get(now, name));
    json_decref(then);
    return code;
}

int batch_resume_check(const struct batch_output *output, const struct batch_job *request,
                       int samples, const struct batch_command *command)
{
    json_t *now = NULL;
    int code = CLI_OK;

    for (int sample = 0; !code && sample < samples; sample++) {
        if (!batch_output_has(output, request, sample))
            continue;
        if (!now && !(now = settings_now(request, command)))
            break;
        code = compare(output, request, batch_output_read(output, request, sample), now);
    }
    json_decref(now);
    return code;
}
