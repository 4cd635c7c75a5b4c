/* attention_avx2.c: attention_body.h over lanes_avx2.h. */
#include "lanes_avx2.h"

#define ATTENTION_LEVEL avx2
#define SCORE_TILE      4
#define SCORE_GROUPS    1
#define VALUE_TILE      4
#include "attention_body.h"
