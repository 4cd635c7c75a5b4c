/* reading.c: draws and removes the line about a file that is being read. */
#include "reading.h"

#include <stdio.h>
#include <unistd.h>

static void clear(struct reading *reading)
{
    if (reading->drawn)
        fputs("\r\033[K", stderr);
    reading->drawn = false;
}

void reading_open(struct reading *reading)
{
    reading->open = isatty(STDERR_FILENO);
}

void reading_show(void *context, uint64_t bytes_there, uint64_t bytes)
{
    struct reading *reading = context;

    pthread_mutex_lock(&reading->lock);
    if (reading->open && bytes_there < bytes) {
        fprintf(stderr, "\r\033[Kreading the model: %.1f of %.1f GB", (double)bytes_there * 1e-9,
                (double)bytes * 1e-9);
        fflush(stderr);
        reading->drawn = true;
    } else if (reading->open) {
        clear(reading);
    }
    pthread_mutex_unlock(&reading->lock);
}

void reading_close(struct reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    clear(reading);
    reading->open = false;
    pthread_mutex_unlock(&reading->lock);
}
