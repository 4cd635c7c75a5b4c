/* check_start.c: whether a model can be one for this build, from its first
 * bytes. */
#include "arch.h"
#include "gguf.h"

enum dllm_status dllm_check_start(const char *name, const void *bytes, size_t size,
                                  struct dllm_error *error)
{
    struct dllm_string found;

    TRY(gguf_peek_string(name, bytes, size, "general.architecture", &found, error));
    if (!found.data || arch_find(found))
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                       "%s: model architecture '%.*s' is not supported; supported: %s", name,
                       (int)MIN(found.size, 64), found.data, arch_names());
}
