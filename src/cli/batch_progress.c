/* batch_progress.c: how far a batch is. */
#include "batch.h"

#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void batch_progress_open(struct batch_progress *progress)
{
    *progress = (struct batch_progress){.bar = isatty(STDERR_FILENO), .start = now()};
}

static void print_left(double seconds)
{
    if (seconds < 120)
        fprintf(stderr, ", %.0f s left", seconds);
    else if (seconds < 7200)
        fprintf(stderr, ", %.0f min left", seconds / 60);
    else
        fprintf(stderr, ", %.1f h left", seconds / 3600);
}

void batch_progress_draw(struct batch_progress *progress, double share)
{
    long done = progress->answered + progress->failed;
    double time = now(), spent = time - progress->start;
    int filled = (int)(share * BAR_WIDTH);

    if (!progress->bar || time - progress->drawn < 0.1)
        return;
    progress->drawn = time;
    fputs("\r\033[K", stderr);
    if (share > 0)
        fprintf(stderr, "[%.*s%.*s] ", filled, "##############################", BAR_WIDTH - filled,
                "..............................");
    fprintf(stderr, "%ld done, %.1f a second", done, spent > 0 ? (double)done / spent : 0);
    if (progress->failed)
        fprintf(stderr, ", %ld failed", progress->failed);
    if (share > 0)
        print_left(spent / share - spent);
    fflush(stderr);
}

void batch_progress_close(struct batch_progress *progress)
{
    long done = progress->answered + progress->failed;
    double spent = now() - progress->start;

    if (progress->bar)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "%ld answered, %ld failed", progress->answered, progress->failed);
    if (progress->skipped)
        fprintf(stderr, ", %ld there already", progress->skipped);
    fprintf(stderr, "; %.1f s, %.2f a second\n", spent, spent > 0 ? (double)done / spent : 0);
}

int batch_exit_code(const struct batch_progress *progress, const struct batch_output *output)
{
    long errors = output->errors + progress->failed;

    if (cli_interrupted())
        return CLI_INTERRUPTED;
    if (errors == 0)
        return CLI_OK;
    return cli_fail(CLI_FAILURE, "%ld of %ld results are errors; the output says for each line why",
                    errors, output->lines + progress->failed + progress->answered);
}
