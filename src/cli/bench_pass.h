/*
 * bench_pass.h: one denoising step of several prompts in one shared forward pass: each
 * is the first computed step of a generation of its own that is stopped after it, so
 * that the same candidates and the same work come every time.
 */
#ifndef BENCH_PASS_H
#define BENCH_PASS_H

#include "cli.h"

/* Canvases that fit into a pass. */
enum { BENCH_PROMPTS_MOST = 32 };

struct bench_pass {
    struct dllm_engine *engine;
    int prompts, canvas;
    int32_t *ids; /* [prompts][canvas], of which a step uses as many as are no masks */
    struct dllm_session *sessions[BENCH_PROMPTS_MOST]; /* [prompts] */
};

/* What a step of all prompts took. */
struct bench_step {
    double seconds; /* from when the last prompt began it until all had their tokens */
    double matmul_seconds, attention_seconds, head_seconds, rest_seconds;
    struct dllm_products products; /* of all prompts */
    uint64_t workspace_bytes;
};

/* Sessions, and ids that differ from prompt to prompt and are no masks; several prompts are an
 * error on the CPU. 0 or the exit code. Free with bench_pass_free in either case, which takes
 * a zeroed record and leaves the engine. */
int bench_pass_create(struct bench_pass *pass, struct dllm_engine *engine, int prompts, int canvas);
void bench_pass_free(struct bench_pass *pass);

/* Changes one of the first `count` (at least 1) ids of each prompt, as a step commits a token. */
void bench_pass_change(struct bench_pass *pass, int turn, int count);

/* A step of `rows` candidates for each prompt, behind all other positions. 0 or the exit code;
 * it is an error if not all prompts were in the pass. */
int bench_pass_run(struct bench_pass *pass, int rows, struct bench_step *out);

#endif
