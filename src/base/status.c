/* status.c: fills error records. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

enum dllm_status status_fail(struct dllm_error *error, enum dllm_status status, const char *format,
                             ...)
{
    va_list args;

    if (!error)
        return status;
    error->status = status;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return status;
}

enum dllm_status status_no_memory(struct dllm_error *error, size_t bytes)
{
    return status_fail(error, DLLM_ERROR_MEMORY,
                       "out of memory: %zu bytes could not be allocated; close other programs or "
                       "use a smaller canvas",
                       bytes);
}
