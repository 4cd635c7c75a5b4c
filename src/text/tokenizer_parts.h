/* tokenizer_parts.h: what a tokenizer is made of, for the files that implement tokenizer.h. */
#ifndef TOKENIZER_PARTS_H
#define TOKENIZER_PARTS_H

#include "merges.h"
#include "pretok.h"
#include "specials.h"
#include "vocab.h"

struct tokenizer {
    struct vocab vocab;
    struct merges merges;
    struct specials special_strings;
    struct pretok *pretok;
    struct tokenizer_specials ids;
};

#endif
