/* reading.c: draws and removes the line about a file that is being read. */
#include "reading.h"

#include "progress_line.h"

void reading_open(struct reading *reading)
{
    reading->open = true;
}

void reading_show(void *context, uint64_t bytes_there, uint64_t bytes)
{
    struct reading *reading = context;

    pthread_mutex_lock(&reading->lock);
    if (reading->open && bytes_there < bytes)
        progress_line(-1, "reading the model: %.1f of %.1f GB", (double)bytes_there * 1e-9,
                      (double)bytes * 1e-9);
    else if (reading->open)
        progress_line_clear();
    pthread_mutex_unlock(&reading->lock);
}

void reading_close(struct reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    if (reading->open)
        progress_line_clear();
    reading->open = false;
    pthread_mutex_unlock(&reading->lock);
}
