/* device.h: what computes for an engine: the CPU or a GPU. */
#ifndef DEVICE_H
#define DEVICE_H

#include "engine.h"

/* Sets engine->place, and their names, and engine->device_note where auto took the CPU.
 * options->threads 0: every core this process may use. */
enum dllm_status engine_create_device(struct dllm_engine *engine,
                                      const struct dllm_engine_options *options,
                                      struct dllm_error *error);

/* Shares out the layers between the GPU engine->place.main and the CPU as options say, and
 * copies the GPU's to it. Where not all fit, the message says how many would.
 * (gpu_layers.c) */
enum dllm_status engine_load_gpu(struct dllm_engine *engine,
                                 const struct dllm_engine_options *options,
                                 struct dllm_error *error);

/* A backend for other work than an engine's, with nothing loaded; options as for an
 * engine. */
enum dllm_status engine_create_backend(const char *device, int threads, const char *cpu_level,
                                       struct backend **out, struct dllm_error *error);

/* The usage error for a CPU level with a GPU alone, unless it is NULL. */
enum dllm_status engine_refuse_level(const char *cpu_level, struct dllm_error *error);

/* A CPU backend; threads as above. */
enum dllm_status engine_create_cpu(int threads, const char *cpu_level, struct backend **out,
                                   struct dllm_error *error);

#endif
