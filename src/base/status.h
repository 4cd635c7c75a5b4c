/*
 * status.h: how errors travel inside the library.
 *
 * A function that can fail returns enum dllm_status and takes a
 * struct dllm_error * that may be NULL. It fills the record once, where the
 * error is found, and callers pass the status up unchanged.
 */
#ifndef STATUS_H
#define STATUS_H

#include "compiler.h"
#include "dllm.h"

/* Writes the formatted message and returns status, so that a failing function
 * can end in `return status_fail(error, DLLM_ERROR_IO, ...)`. error may be
 * NULL. A message too long for the record is cut at its end. */
enum dllm_status status_fail(struct dllm_error *error, enum dllm_status status, const char *format,
                             ...) PRINTF_LIKE(3, 4);

/* The message of an allocation of that many bytes that failed. */
enum dllm_status status_no_memory(struct dllm_error *error, size_t bytes);

/* Returns from the enclosing function when expr is not DLLM_OK. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum dllm_status try_status_ = (expr);                                                     \
        if (try_status_ != DLLM_OK)                                                                \
            return try_status_;                                                                    \
    } while (0)

/* The same, but leaves through a fail: label after setting `status`. */
#define TRY_GOTO(expr)                                                                             \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != DLLM_OK)                                                                     \
            goto fail;                                                                             \
    } while (0)

#endif
