/* thread.h: threads that a program which uses the library does not notice. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <stdbool.h>

typedef void *thread_main(void *argument);

/* As pthread_create with the usual attributes, but that the new thread blocks every signal that
 * is sent to the process: the program's handlers run on its own threads. Those that a
 * thread's own fault raises, such as SIGBUS, come to it. False: it could not be started. */
bool thread_start(pthread_t *out, thread_main *run, void *argument);

#endif
