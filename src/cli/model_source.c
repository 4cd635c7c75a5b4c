/*
 * model_source.c: from what -m says to a file on this machine: a path is taken
 * as it is, a name is looked up in the cache, and fetched when that is asked
 * for.
 */
#include "model_source.h"

#include "cli.h"
#include "out.h"
#include "progress_line.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* What the progress line knows. */
struct pull_report {
    double began, last; /* seconds, of the current file and its last line */
    uint64_t had;       /* bytes that were here when it began */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_progress(struct pull_report *report, const struct hub_event *event)
{
    double seconds = now() - report->began, rate;
    char have[32], size[32], speed[32], left[40] = "";

    if (now() - report->last < 0.2 && event->have < event->size)
        return;
    report->last = now();
    rate = seconds > 0 ? (double)(event->have - report->had) / seconds : 0;
    if (rate > 0)
        snprintf(left, sizeof left, ", %.0f s left", (double)(event->size - event->have) / rate);
    progress_line((double)event->have / (double)event->size, "%.0f %%  %s of %s, %s a second%s",
                  100.0 * (double)event->have / (double)event->size,
                  out_size_text(event->have, have), out_size_text(event->size, size),
                  out_size_text((uint64_t)rate, speed), left);
}

/* Names and reasons come from strangers: what a terminal would obey is escaped. */
static void print_safely(const char *text)
{
    out_print_name(stderr, (struct dllm_string){text, strlen(text)});
}

static void begin_file(struct pull_report *report, const struct hub_event *event)
{
    char size[32], have[32];

    report->began = now();
    report->had = event->have;
    fprintf(stderr, ": %s", out_size_text(event->size, size));
    if (event->have)
        fprintf(stderr, ", %s of them are here", out_size_text(event->have, have));
    fputc('\n', stderr);
}

static void on_event(void *context, const struct hub_event *event)
{
    struct pull_report *report = context;

    if (event->kind == HUB_PROGRESS) {
        print_progress(report, event);
        return;
    }
    progress_line_clear();
    print_safely(event->file);
    switch (event->kind) {
    case HUB_STARTING:
        begin_file(report, event);
        break;
    case HUB_WAITING:
        fputs(": another process is fetching it; waiting\n", stderr);
        break;
    case HUB_RETRYING:
        fputs(": ", stderr);
        print_safely(event->reason);
        fputs("; trying again\n", stderr);
        break;
    case HUB_HASHING:
        fputs(": all there, checking its sha256\n", stderr);
        break;
    case HUB_COMPLETE:
        fputs(": complete\n", stderr);
        break;
    case HUB_THERE_ALREADY:
        fputs(": in the cache already\n", stderr);
        break;
    case HUB_PROGRESS:
        break;
    }
}

int model_pull(const struct hub_spec *spec, char path[HUB_PATH_BYTES])
{
    struct pull_report report = {0};
    struct hub_watch watch = {on_event, cli_interrupted, &report};
    struct dllm_error error = {0};
    enum dllm_status status;

    cli_catch_interrupt();
    status = hub_pull(spec, &watch, path, &error);
    progress_line_clear();
    if (status == DLLM_OK)
        return CLI_OK;
    if (status == DLLM_INTERRUPTED)
        fputs("interrupted; what was fetched is kept, the next pull goes on from there\n", stderr);
    return cli_fail_error(&error);
}

/* A name: its file in the cache, or one that is fetched now. */
static int find_named(const char *name, const struct hub_spec *spec, bool pull,
                      char path[HUB_PATH_BYTES])
{
    struct dllm_error error = {0};
    bool found;

    if (hub_find(spec, &found, path, &error))
        return cli_fail_error(&error);
    if (found)
        return CLI_OK;
    if (pull)
        return model_pull(spec, path);
    return cli_fail(CLI_FAILURE,
                    "model %s is neither a file nor in the cache of models; fetch it with \"dllm "
                    "pull %s\", or add --pull",
                    name, name);
}

int cli_find_model(const char **model, bool pull)
{
    static char path[HUB_PATH_BYTES];
    struct hub_spec spec;
    struct dllm_error error;
    struct stat info;
    int missing;

    if (strcmp(*model, DLLM_DEMO_MODEL) == 0)
        return CLI_OK;
    missing = stat(*model, &info) != 0 ? errno : 0;
    if ((missing == ENOENT || missing == ENOTDIR || (!missing && S_ISDIR(info.st_mode))) &&
        hub_parse(*model, &spec, &error) == DLLM_OK) {
        int code = find_named(*model, &spec, pull, path);

        *model = path;
        return code;
    }
    if (missing == ENOENT && strstr(*model, "://"))
        return cli_fail_error(&error);
    if (missing == ENOENT)
        return cli_fail(CLI_FAILURE,
                        "there is no file \"%s\"; the model must be the path of a GGUF file, "
                        "OWNER/NAME[:QUANT] at the hub, llada, dream, or demo, the built-in one",
                        *model);
    if (!missing && S_ISDIR(info.st_mode))
        return cli_fail(CLI_FAILURE,
                        "\"%s\" is a directory; the model must be the path of a GGUF file", *model);
    return CLI_OK;
}
