/*
 * test_divergence: what quantizing activations costs. The same file with its
 * weights expanded to F32 is the truth; the Kullback-Leibler divergence of the
 * quantized path's distributions from it must not be above llama.cpp's.
 */
#include "convert_model.h"
#include "divergence.h"
#include "model_data.h"
#include "test_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const models[] = {
    "llada-Q8_0",        "llada-Q4_K_M", "llada-Q5_K_M", "llada-gqa-Q4_K_M",
    "llada-tied-Q4_K_M", "dream-Q8_0",   "dream-Q4_K_M",
};

/* Breaks if activations lose accuracy: a scale per 256 where 32 is needed, a
 * rounding that is not to nearest. */
static void test_divergence_not_above_the_peer(void **state)
{
    double ours = 0, peer = 0;
    int count = 0;

    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        char path[PATH_BYTES], expanded[TEST_PATH_BYTES];
        struct reference reference;
        float *truth, *got;
        double of_ours, of_peer;

        if (!model_data_find_model(models[m], ".gguf", path))
            continue;
        model_data_load_reference(models[m], &reference);
        test_temporary_path(expanded);
        assert_true(convert_model(path, expanded, CONVERT_EXPANDED));
        truth = model_data_logits(expanded, NULL, 2, reference.ids, reference.count);
        got = model_data_logits(path, NULL, 2, reference.ids, reference.count);
        of_ours = divergence(truth, got, reference.count, reference.vocab);
        of_peer = divergence(truth, reference.logits, reference.count, reference.vocab);
        print_message("%s: divergence %.3g nats a row, llama.cpp %.3g\n", models[m], of_ours,
                      of_peer);
        ours += of_ours;
        peer += of_peer;
        count++;
        unlink(expanded);
        free(truth);
        free(got);
        free(reference.logits);
    }
    print_message("sum over %d models: %.3g, llama.cpp %.3g\n", count, ours, peer);
    assert_true(count > 0);
    assert_true(ours <= peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence_not_above_the_peer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
