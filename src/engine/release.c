/* release.c: frees what the library hands out, and says which version it is. */
#include "dllm.h"

#include <stdlib.h>

const char *dllm_version(void)
{
    return DLLM_VERSION;
}

void dllm_ids_free(struct dllm_ids *ids)
{
    free(ids->ids);
    *ids = (struct dllm_ids){0};
}

void dllm_text_free(struct dllm_text *text)
{
    free(text->data);
    *text = (struct dllm_text){0};
}

void dllm_result_free(struct dllm_result *result)
{
    dllm_ids_free(&result->ids);
    dllm_text_free(&result->text);
    for (size_t i = 0; i < result->gap_count; i++)
        dllm_text_free(&result->gaps[i].text);
    free(result->gaps);
    free((void *)result->timings.step_seconds);
    *result = (struct dllm_result){0};
}
