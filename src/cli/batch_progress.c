/* batch_progress.c: how far a batch is. */
#include "batch.h"
#include "progress_line.h"

#include <time.h>

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void batch_progress_open(struct batch_progress *progress)
{
    *progress = (struct batch_progress){.start = now()};
}

/* ", 45 s left" in hours, minutes or seconds. */
static void put_left(double seconds, char out[40])
{
    if (seconds < 120)
        snprintf(out, 40, ", %.0f s left", seconds);
    else if (seconds < 7200)
        snprintf(out, 40, ", %.0f min left", seconds / 60);
    else
        snprintf(out, 40, ", %.1f h left", seconds / 3600);
}

void batch_progress_draw(struct batch_progress *progress, double share)
{
    long done = progress->answered + progress->failed;
    double time = now(), spent = time - progress->start;
    char failed[40] = "", left[40] = "";

    if (time - progress->drawn < 0.1)
        return;
    progress->drawn = time;
    if (progress->failed)
        snprintf(failed, sizeof failed, ", %ld failed", progress->failed);
    if (share > 0)
        put_left(spent / share - spent, left);
    progress_line(share > 0 ? share : -1, "%ld done, %.1f a second%s%s", done,
                  spent > 0 ? (double)done / spent : 0, failed, left);
}

void batch_progress_close(struct batch_progress *progress)
{
    long done = progress->answered + progress->failed;
    double spent = now() - progress->start;

    progress_line_clear();
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
