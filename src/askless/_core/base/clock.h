/* The time of day in seconds, for deadlines inside kernels. */
#ifndef ASKLESS_CLOCK_H
#define ASKLESS_CLOCK_H

#include <time.h>

static inline double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
