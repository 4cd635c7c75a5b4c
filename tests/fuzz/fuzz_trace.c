/*
 * fuzz_trace.c: traces. What is accepted is what the page relies on: as many
 * pieces as positions, tokens at positions of the canvas.
 */
#include "fuzz.h"
#include "trace_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(const json_t *trace)
{
    const json_t *header = json_object_get(trace, "header");
    size_t canvas = json_array_size(json_object_get(header, "canvas"));
    json_t *step, *token;
    size_t i, k;

    fuzz_require(canvas > 0 && json_array_size(json_object_get(header, "pieces")) == canvas,
                 "a header that contradicts itself");
    json_array_foreach(json_object_get(trace, "steps"), i, step)
    {
        json_array_foreach(json_object_get(step, "tokens"), k, token)
        {
            json_int_t position = json_integer_value(json_object_get(token, "position"));
            fuzz_require(position >= 0 && (size_t)position < canvas, "a token off the canvas");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_BYTES];
    bool whole;
    int descriptor;
    json_t *trace;
    char *text;

    fuzz_silence_stderr();
    descriptor = fuzz_file(data, size, path);
    trace = trace_read(path, &whole);
    close(descriptor);
    if (!trace)
        return 0;
    check(trace);
    text = json_dumps(trace, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    fuzz_require(text != NULL, "a trace that cannot be written");
    free(text);
    json_decref(trace);
    return 0;
}
