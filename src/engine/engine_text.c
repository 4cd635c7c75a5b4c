/* engine_text.c: text to ids and back for a loaded model. */
#include "engine.h"

static enum dllm_status check_flags(unsigned flags, struct dllm_error *error)
{
    if (!(flags & ~(unsigned)(DLLM_ENCODE_SPECIAL | DLLM_ENCODE_NO_BOS)))
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "the flags are 0x%x; 0, or bits of dllm_encode_flags, were expected", flags);
}

enum dllm_status dllm_encode(const struct dllm_engine *engine, struct dllm_string text,
                             unsigned flags, struct dllm_ids *out, struct dllm_error *error)
{
    const struct tokenizer_specials *specials = &engine->specials;
    enum dllm_status status;

    *out = (struct dllm_ids){0};
    TRY(check_flags(flags, error));
    if (specials->add_bos && specials->bos_id >= 0 && !(flags & DLLM_ENCODE_NO_BOS))
        TRY(tokenizer_append(specials->bos_id, out, error));
    TRY_GOTO(tokenizer_encode(engine->tokenizer, text, flags & DLLM_ENCODE_SPECIAL, out, error));
    return DLLM_OK;
fail:
    dllm_ids_free(out);
    return status;
}

enum dllm_status dllm_encode_chat(const struct dllm_engine *engine,
                                  const struct dllm_message *messages, size_t count,
                                  bool parse_special, struct dllm_ids *out,
                                  struct dllm_error *error)
{
    enum dllm_status status;

    *out = (struct dllm_ids){0};
    if (!engine->chat)
        return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                           "no chat template is known for architecture \"%s\"; feed the text "
                           "without one",
                           engine->architecture);
    TRY_GOTO(
        chat_encode(engine->chat, engine->tokenizer, messages, count, parse_special, out, error));
    return DLLM_OK;
fail:
    dllm_ids_free(out);
    return status;
}

enum dllm_status dllm_decode(const struct dllm_engine *engine, const int32_t *ids, size_t count,
                             bool show_control, struct dllm_text *out, struct dllm_error *error)
{
    *out = (struct dllm_text){0};
    return tokenizer_decode(engine->tokenizer, ids, count, show_control, out, error);
}
