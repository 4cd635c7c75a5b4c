/* attention_avx512vnni.c: attention_body.h over lanes_avx512.h. */
#include "lanes_avx512.h"

#define ATTENTION_LEVEL avx512vnni
#define SCORE_TILE      8
#define SCORE_GROUPS    2
#define VALUE_TILE      8
#include "attention_body.h"
