/*
 * jsonl.h: test vectors kept one JSON object a line.
 */
#ifndef JSONL_H
#define JSONL_H

#include <jansson.h>

/* All objects of the file as an array, NULL if it cannot be read or parsed.
 * Release with json_decref. */
json_t *jsonl_load(const char *path);

/* The number under key, or other where it is absent or null. */
double jsonl_number(const json_t *object, const char *key, double other);

#endif
