/*
 * jsonl.c: reads JSON lines for tests.
 */
#include "jsonl.h"

#include <stdio.h>

json_t *jsonl_load(const char *path)
{
    FILE *file = fopen(path, "r");
    json_t *rows = json_array(), *row;
    json_error_t error;

    if (!file || !rows)
        goto fail;
    while ((row = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error)))
        if (json_array_append_new(rows, row))
            goto fail;
    if (!feof(file))
        goto fail;
    fclose(file);
    return rows;
fail:
    if (file)
        fclose(file);
    json_decref(rows);
    return NULL;
}

double jsonl_number(const json_t *object, const char *key, double other)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : other;
}
