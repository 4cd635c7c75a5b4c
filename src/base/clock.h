/* clock.h: monotonic time. */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds since an arbitrary fixed moment; never goes back. */
double clock_seconds(void);

#endif
