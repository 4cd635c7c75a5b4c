/*
 * trace_file.h: --trace: what each step of a run did, as JSON lines: a header,
 * an object per step, an end. docs/seeing.md describes every field.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "dllm.h"

struct run_facts;
struct trace_file;

/* Opens the file (under a temporary name) and writes the header; start describes
 * the canvas as a step without commits would. 0, or the exit code after a
 * message. The engine must outlive the file. */
int trace_file_open(struct trace_file **out, const char *path, const struct dllm_engine *engine,
                    const struct run_facts *facts, const struct dllm_step *start);

/* Adds a step, which must bring choices. 0, or the exit code after a message. */
int trace_file_step(struct trace_file *trace, const struct dllm_step *step);

/* Adds the end and puts the file in place. 0, or the exit code after a message. */
int trace_file_finish(struct trace_file *trace, const struct dllm_result *result);

/* Closes it; what was not finished is removed. Takes NULL. */
void trace_file_close(struct trace_file *trace);

#endif
