/*
 * fuzz_template.c: text with gaps. What is read has its gaps in order and inside
 * the text, and filling them with nothing gives the text.
 */
#include "fuzz.h"
#include "template.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct template *template)
{
    struct dllm_gap *gaps = calloc(template->mark_count, sizeof *gaps);
    struct dllm_text filled;
    int64_t positions = 0;

    fuzz_require(gaps != NULL && template->mark_count > 0, "no gaps");
    for (size_t i = 0; i < template->mark_count; i++) {
        gaps[i].text.data = "";
        fuzz_require(template->marks[i].count > 0 && template->marks[i].at <= template->size &&
                         (i == 0 || template->marks[i].at > template->marks[i - 1].at),
                     "gaps out of order");
        positions += template->marks[i].count;
    }
    fuzz_require(positions == template_positions(template), "another number of positions");
    filled = template_fill(template, gaps);
    fuzz_require(filled.size == template->size &&
                     memcmp(filled.data, template->text, filled.size) == 0,
                 "another text");
    dllm_text_free(&filled);
    free(gaps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct template template;

    fuzz_silence_stderr();
    if (template_parse(&template, (const char *)data, size) == 0)
        check(&template);
    template_free(&template);
    return 0;
}
