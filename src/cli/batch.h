/*
 * batch.h: run --input (score --input has parts of it): many requests, one JSON object a line,
 * answered by several sessions at once, results written in input order.
 *
 * The main thread reads lines (batch_input.c, batch_requests.c) and hands out jobs; each worker
 * turns one into options (batch_line.c), generates and makes the line of the
 * result (batch_job.c); results are appended in order (batch_output.c), a line a
 * write, so that a kill at any moment leaves whole lines and at most a torn last
 * one, which --resume drops. It first looks whether what is there was made with the
 * same settings (batch_resume.c).
 */
#ifndef BATCH_H
#define BATCH_H

#include "request.h"

#include <stdatomic.h>
#include <sys/types.h>

/* dllm run --input; the exit code. (batch.c) */
int batch_run(const struct opts *opts);

/* --- input --- */

struct batch_input {
    int descriptor;
    const char *name;
    char *data; /* [capacity] what was read: [begin, end) is not yet handed out */
    size_t begin, end, capacity;
    bool at_end;
    off_t start;           /* of the first line, -1 where it comes but once: from a pipe */
    long line;             /* of the line handed out last, counted from 1 */
    uint64_t taken, total; /* bytes handed out, of the file; total 0: unknown */
};

/* "-" is standard input. 0, or the exit code after a message. */
int batch_input_open(struct batch_input *input, const char *name);
void batch_input_close(struct batch_input *input);

/* Begins anew with the first line; false where lines come but once. */
bool batch_input_rewind(struct batch_input *input);

/* What the next line is waited for: returns false when the wait must end. */
typedef bool batch_go_on(void *context);

/* The next line without its end, valid until the next call; *line NULL at the
 * end, or when go_on (asked at least five times a second) said so. 0, or the exit
 * code after a message. */
int batch_input_next(struct batch_input *input, batch_go_on *go_on, void *context,
                     const char **line, size_t *size);

/* --- one line --- */

/* A request of a line, as an option line of the command. */
struct batch_line {
    char **words; /* owned */
    int word_count;
    struct opts opts;
};

/* Nothing but white space. */
bool batch_line_is_blank(const char *line, size_t size);

/* Reads the object's fields as options of base's command, those of base where it has none.
 * 0, or the exit code after a message. Free with batch_line_free, whatever came
 * out; base must live until then. */
int batch_line_parse(struct batch_line *line, const json_t *object, const struct opts *base);
void batch_line_free(struct batch_line *line);

/* A message about a request, in place: options become the fields of that name, "--max-tokens"
 * "\"max_tokens\"", but for those that a line cannot have and those from the command line.
 * (batch_fields.c) */
void batch_name_fields(const struct opts *opts, char *message);
/* An option as a field, such as max_tokens. (batch_fields.c) */
enum { BATCH_FIELD_MOST = 60 };
void batch_field_name(const char *option, char out[BATCH_FIELD_MOST]);

/* --- jobs --- */

enum batch_state { BATCH_FREE = 0, BATCH_READY, BATCH_RUNNING, BATCH_DONE };

enum { BATCH_NO_SAMPLE = -1 };

/* One sample of one line. */
struct batch_job {
    enum batch_state state;
    json_t *id; /* null where the line has none that can be used */
    long line;
    int sample;     /* BATCH_NO_SAMPLE: the command has none */
    json_t *object; /* the request; NULL: the line is none, problem says why */
    char problem[200];
    char *result; /* the line to write, its end included; owned; NULL without memory */
    bool failed;
};

/* Makes a new job of a line: its object and the id it is known by. An id that is in
 * seen came before (it would be answered twice, and only once after a resume); a new one
 * is put there. */
void batch_job_parse(struct batch_job *job, const char *line, size_t size, long number,
                     json_t *seen);
/* Fills in result and failed: who it is for, then the result (released), or the problem if
 * that is NULL. */
void batch_job_finish(struct batch_job *job, json_t *result, const char *problem);

/* Seed of a sample: sample 0 has the request's own; sample k has the upper 63 bits
 * of splitmix64's k-th output from that seed, whatever else is generated. */
uint64_t batch_sample_seed(uint64_t seed, int sample);

/* Who runs jobs: one session of several on the same engine. */
struct batch_worker {
    struct batch *batch; /* batch.c's own */
    const struct opts *opts;
    const struct dllm_engine *engine;
    struct dllm_session *session;
    int sessions;                /* of the batch */
    atomic_uint_least64_t *held; /* bytes of all their workspaces */
};

/* Generates and fills in result and failed. */
void batch_job_run(struct batch_job *job, const struct batch_worker *worker);
/* Releases what the job holds and marks it free. */
void batch_job_clear(struct batch_job *job);

/* --- output --- */

struct batch_output {
    int descriptor;
    const char *name;
    bool keeps;   /* a regular file: a line that could not be written whole is removed again */
    off_t size;   /* of its whole lines */
    json_t *done; /* keys of what is answered already, and where in the file */
    FILE *file;   /* where that is read again; NULL: nothing is answered already */
    long written; /* lines of this run */
    long lines, errors; /* results that were there already, and those of them that are errors */
    int failure;        /* errno of the write that failed */
};

/* Opens name (NULL or "-": standard output), which may not be the open input's file.
 * With resume a torn last line is dropped and the others are read; without it a file
 * that has something in it is refused. 0, or the exit code after a message.
 * (batch_output.c) */
int batch_output_open(struct batch_output *output, const struct batch_input *input,
                      const char *name, bool resume);
/* 0, or the exit code after a message that says what was written. */
int batch_output_close(struct batch_output *output);

/* Whether a sample of a request is there already. */
bool batch_output_has(const struct batch_output *output, const struct batch_job *job, int sample);
/* Its result, if it is there, is no error and can be read; else NULL. */
json_t *batch_output_read(const struct batch_output *output, const struct batch_job *job,
                          int sample);

/* Appends one line; after a failure nothing is written any more. */
void batch_output_write(struct batch_output *output, const char *line);

/* The key of a request in a set of them: its id, or the line where that is null;
 * owned by the caller; without memory the program ends. */
char *batch_key(const json_t *id, long line, int sample);

/* --- results that are there --- */

/* How a request with these options is answered, as its result tells; NULL after a message. */
typedef json_t *batch_settings(const struct opts *opts, const struct dllm_engine *engine);
/* That of run. (batch_job.c) */
json_t *batch_job_settings(const struct opts *opts, const struct dllm_engine *engine);

/* How requests are answered now. */
struct batch_command {
    const struct opts *opts;
    const struct dllm_engine *engine;
    batch_settings *settings;
};

/* Refuses results of the request's samples [samples] that are there already and were made with
 * other settings than they would be now: 0, or the exit code after a message that names the first
 * that differs. (batch_resume.c) */
int batch_resume_check(const struct batch_output *output, const struct batch_job *request,
                       int samples, const struct batch_command *command);

/* --- requests, one after the other --- */

/* What is done with a request: 0, or the exit code after a message. */
typedef int batch_take(void *context, const struct batch_job *request);

struct batch_requests {
    struct batch_input *input;
    const struct batch_output *output;
    long shard, shards;       /* every `shards`th line, beginning with line `shard` */
    batch_go_on *go_on;       /* whether any more are taken */
    batch_take *check, *take; /* compares with what is in the output; answers */
    void *context;            /* of all three */
    bool checked;             /* check is done with */
};

/* Checks all requests before the first is taken, if something is in the output, but for those that
 * come but once: they are checked when they are taken. 0, or the exit code after a message.
 * (batch_requests.c) */
int batch_requests_check(struct batch_requests *requests);
int batch_requests_take(const struct batch_requests *requests);

/* --- progress --- */

struct batch_progress {
    double start, drawn; /* seconds */
    long answered, failed, skipped;
};

/* Starts the clock; draws only where stderr is a terminal. */
void batch_progress_open(struct batch_progress *progress);
/* Redraws the bar, at most ten times a second. share is the part of the input that
 * was taken, 0: unknown. */
void batch_progress_draw(struct batch_progress *progress, double share);
/* Removes the bar and prints a summary. */
void batch_progress_close(struct batch_progress *progress);

/* The exit code of a batch of which no write failed, after a message if results, of this run
 * or there already, are errors. (batch_progress.c) */
int batch_exit_code(const struct batch_progress *progress, const struct batch_output *output);

#endif
