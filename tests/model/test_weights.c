/*
 * test_weights: a model file with one fault is refused, and the message says
 * which key or tensor, what was found and what was expected.
 */
#include "test_paths.h"
#include "tiny_model.h"
#include "weights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Opens the model as the engine does; returns the first failure. */
static enum dllm_status open_model(const struct tiny_model *tiny, struct dllm_error *error)
{
    char path[TEST_PATH_BYTES];
    struct dllm_file *file = tiny_model_open(tiny, path);
    struct hparams hparams;
    struct weights weights;
    enum dllm_status status;

    unlink(path);
    assert_non_null(file);
    status = hparams_read(file, &hparams, error);
    if (status == DLLM_OK)
        status = weights_bind(file, &hparams, &weights, error);
    if (status == DLLM_OK)
        weights_free(&weights);
    dllm_file_close(file);
    return status;
}

static void expect(const struct tiny_model *tiny, enum dllm_status status, const char *message)
{
    struct dllm_error error = {DLLM_OK, ""};

    assert_int_equal(open_model(tiny, &error), status);
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, status);
}

#define MODEL(base, field, value, status, message)                                                 \
    do {                                                                                           \
        struct tiny_model tiny = tiny_model_##base();                                              \
        tiny.field = value;                                                                        \
        expect(&tiny, status, message);                                                            \
    } while (0)
#define LLADA(field, value, status, message) MODEL(llada, field, value, status, message)
#define MOE(field, value, status, message)   MODEL(llada_moe, field, value, status, message)

static void test_whole_models_open(void **state)
{
    struct tiny_model tiny = tiny_model_llada();

    (void)state;
    assert_int_equal(open_model(&tiny, NULL), DLLM_OK);
    tiny.tied = true;
    assert_int_equal(open_model(&tiny, NULL), DLLM_OK);
    tiny = tiny_model_dream();
    assert_int_equal(open_model(&tiny, NULL), DLLM_OK);
    tiny = tiny_model_llada_moe();
    assert_int_equal(open_model(&tiny, NULL), DLLM_OK);
    tiny = tiny_model_rnd1();
    assert_int_equal(open_model(&tiny, NULL), DLLM_OK);
}

/* Breaks if a number that the forward pass relies on goes unchecked. */
static void test_bad_numbers(void **state)
{
    (void)state;
    LLADA(architecture, "qwen2", DLLM_ERROR_UNSUPPORTED,
          "model architecture 'qwen2' is not supported; supported: llada, dream, llada-moe, rnd1");
    LLADA(causal, true, DLLM_ERROR_UNSUPPORTED,
          "key llada.attention.causal is true; a diffusion model attends both ways (false)");
    LLADA(kv_heads, 3, DLLM_ERROR_FORMAT,
          "2 query heads cannot be shared by 3 key/value heads; the second must divide the first");
    LLADA(key_length, 48, DLLM_ERROR_UNSUPPORTED,
          "48 dimensions per head are not supported; a multiple of 32 up to 1024 was expected");
    LLADA(rope_dims, 33, DLLM_ERROR_FORMAT,
          "key llada.rope.dimension_count is 33; an even number up to the 32 dimensions of a head "
          "was expected");
    LLADA(layers, 70, DLLM_OK, "");
}

static void expect_missing(struct tiny_model tiny, const char *key)
{
    struct dllm_error error;

    tiny.without_key = key;
    assert_int_equal(open_model(&tiny, &error), DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, key));
}

static void test_missing_keys(void **state)
{
    static const char *const required[] = {"block_count", "embedding_length", "feed_forward_length",
                                           "attention.head_count",
                                           "attention.layer_norm_rms_epsilon"};

    static const char *const of_experts[] = {"expert_feed_forward_length", "expert_count",
                                             "expert_used_count"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(required); i++)
        expect_missing(tiny_model_llada(), required[i]);
    for (size_t i = 0; i < ARRAY_COUNT(of_experts); i++)
        expect_missing(tiny_model_rnd1(), of_experts[i]);
}

/* Breaks if a tensor is bound without a look at its type and shape. */
static void test_bad_tensors(void **state)
{
    (void)state;
    LLADA(without_tensor, "blk.1.attn_k.weight", DLLM_ERROR_FORMAT,
          "tensor blk.1.attn_k.weight is missing; a llada model of 2 layers must have it");
    LLADA(wrong_shape, "blk.0.ffn_down.weight", DLLM_ERROR_FORMAT,
          "tensor blk.0.ffn_down.weight has shape [128, 64, 1, 1]; [96, 64] was expected");
    LLADA(wrong_shape, "output_norm.weight", DLLM_ERROR_FORMAT,
          "tensor output_norm.weight has shape [96, 1, 1, 1]; [64] was expected");
    LLADA(wrong_type, "blk.0.attn_q.weight", DLLM_ERROR_UNSUPPORTED,
          "tensor blk.0.attn_q.weight has type Q8_1; matrices can be F32, F16, BF16, Q8_0, Q4_0, "
          "Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, IQ3_S, IQ3_XXS, IQ2_S, "
          "IQ2_XS, IQ2_XXS, IQ1_M, IQ1_S, MXFP4, TQ1_0, TQ2_0");
    LLADA(wrong_type, "blk.0.attn_norm.weight", DLLM_ERROR_UNSUPPORTED,
          "tensor blk.0.attn_norm.weight has type F16; norms and biases must be F32");
    LLADA(extra_tensor, "blk.0.attn_q_norm.weight", DLLM_ERROR_UNSUPPORTED,
          "tensor blk.0.attn_q_norm.weight has no place in a llada model of 2 layers; running "
          "without it would give wrong answers");
    LLADA(extra_tensor, "blk.00.attn_q.weight", DLLM_ERROR_UNSUPPORTED,
          "tensor blk.00.attn_q.weight has no place in a llada model of 2 layers; running "
          "without it would give wrong answers");
    LLADA(extra_tensor, "blk.+1.ffn_up.weight", DLLM_ERROR_UNSUPPORTED,
          "tensor blk.+1.ffn_up.weight has no place in a llada model of 2 layers; running "
          "without it would give wrong answers");
    LLADA(biases, 1, DLLM_ERROR_FORMAT,
          "tensor blk.0.attn_k.bias is missing; a llada model of 2 layers must have it");
    LLADA(without_tensor, "token_embd.weight", DLLM_ERROR_FORMAT,
          "tensor token_embd.weight is missing; a llada model of 2 layers must have it");
}

/* Breaks if a file with experts is bound as if some of its parts were optional. */
static void test_bad_experts(void **state)
{
    (void)state;
    MOE(experts_used, 6, DLLM_ERROR_FORMAT,
        "6 of 5 experts for a token are more than this program handles; no more than there are, "
        "and those up to 256, was expected");
    MOE(head_norms, false, DLLM_ERROR_FORMAT,
        "tensor blk.0.attn_q_norm.weight is missing; a llada-moe model of 2 layers must have it");
    MOE(without_tensor, "blk.1.ffn_gate_inp.weight", DLLM_ERROR_FORMAT,
        "tensor blk.1.ffn_gate_inp.weight is missing; a llada-moe model of 2 layers must have it");
    MOE(wrong_shape, "blk.0.ffn_up_exps.weight", DLLM_ERROR_FORMAT,
        "tensor blk.0.ffn_up_exps.weight has shape [96, 96, 5, 1]; [64, 96, 5] was expected");
    MOE(extra_tensor, "blk.0.ffn_gate.weight", DLLM_ERROR_UNSUPPORTED,
        "tensor blk.0.ffn_gate.weight has no place in a llada-moe model of 2 layers; running "
        "without it would give wrong answers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_models_open), cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_missing_keys),      cmocka_unit_test(test_bad_tensors),
        cmocka_unit_test(test_bad_experts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
