/* split_sample.h: a small model in three parts, whole or with a fault. */
#ifndef SPLIT_SAMPLE_H
#define SPLIT_SAMPLE_H

#include "dllm.h"

enum { SPLIT_PARTS = 3 };

/* What a part says; start from split_sample_part. */
struct split_part {
    int number, count;   /* split.no, split.count; count 0: no such keys */
    int total;           /* split.tensors.count; -1: no such key */
    const char *tensors; /* one tensor per letter, "ab" */
};

/* Part `number` of the whole sample: a and b, none, then c, d and e. */
struct split_part split_sample_part(int number);

/* Its file as malloc'ed bytes. The first part has a key more. */
uint8_t *split_sample_bytes(const struct split_part *part, size_t *size);

#endif
