/*
 * model_data.h: the small models that tests run (shared/data/models, of which a
 * few are kept in tests/data/models), their input ids and the peer's logits.
 *
 * For cmocka tests: what fails here fails the running test.
 */
#ifndef MODEL_DATA_H
#define MODEL_DATA_H

#include "dllm.h"

enum { MAX_TOKENS = 64, PATH_BYTES = 4096 };

/* The path of models/FILE in the shared data (environment DLLM_SHARED, else
 * ../shared), else in the few kept here; false when neither has it. */
bool model_data_find(const char *file, char path[PATH_BYTES]);

/* The same for the file NAME + ending. */
bool model_data_find_model(const char *name, const char *ending, char path[PATH_BYTES]);

/* Comma-separated ids; returns their number, at least 1. */
size_t model_data_read_ids(const char *text, int32_t ids[MAX_TOKENS]);

/* An open model with one session. */
struct opened {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
};

/* Opens the file at path; level NULL: the best. Close with model_data_close. */
struct opened model_data_open(const char *path, const char *level, int threads);

/* The same on a device. */
struct opened model_data_open_on(const char *path, const char *device);

/* The same on a GPU that has so many of the layers (dllm_engine_options). */
struct opened model_data_open_shared(const char *path, const char *gpu_layers);
void model_data_close(struct opened *model);

/* Logits of all rows of one pass [count, vocab]; the caller frees them. */
float *model_data_logits(const char *path, const char *level, int threads, const int32_t *ids,
                         size_t count);

/* The ids and the peer's logits that belong to a model. */
struct reference {
    int32_t ids[MAX_TOKENS];
    size_t count, vocab;
    float *logits; /* [count, vocab] */
};

/* Reads NAME.tokens and NAME.logits; free logits. */
void model_data_load_reference(const char *name, struct reference *out);

#endif
