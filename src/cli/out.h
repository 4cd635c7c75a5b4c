/*
 * out.h: results on stdout and in files: JSON, text from models and files made
 * safe for a terminal, files that appear whole or not at all.
 */
#ifndef OUT_H
#define OUT_H

#include "dllm.h"

#include <jansson.h>
#include <stdio.h>

/* Flushes stdout and returns the exit code: 0, or 1 after a message when what
 * was printed could not be written. A closed pipe ends the process quietly, by
 * the signal that it would have got. */
int out_finish(void);

/* A JSON string of any bytes; those that are not UTF-8 become U+FFFD. */
json_t *out_json_text(const char *data, size_t size);
json_t *out_json_ids(const int32_t *ids, size_t count);
/* Not-a-number and infinities, which JSON lacks, become strings. */
json_t *out_json_real(double value);
/* Numbers beyond a signed 64-bit integer become strings. */
json_t *out_json_unsigned(uint64_t value);

/* Why a text is no JSON value that can be used, in words. */
const char *out_json_problem(const json_error_t *where);

/* Prints the value on one line to stdout and releases it; NULL means that
 * memory ran out. Returns out_finish(). */
int out_print_json(json_t *value);

/* Text between quotes, with everything that is not printable escaped as in
 * JSON, at most `limit` bytes of it ("..." marks the cut; 0: no limit). */
void out_print_quoted(FILE *stream, const char *data, size_t size, size_t limit);

/* A name without quotes, what is not printable escaped likewise. */
void out_print_name(FILE *stream, struct dllm_string name);

/* "4.58 GiB", "1.35 MiB", "12 bytes". */
const char *out_size_text(uint64_t bytes, char text[32]);

/* A file that is written under a temporary name beside its target. */
struct out_file {
    FILE *stream;
    char *target, *temporary;
    int failure; /* errno of the first write that failed */
};

/* From now on the file of that path, if there is one, is not replaced by one that is written:
 * it is read by this command, and may be all that there is of it. */
void out_file_keep(const char *path);

/* A usage error for "-", which would be a file that nobody meant: 0, or the exit code after a
 * message. */
int out_file_refuse_dash(const char *path);

/* For a file that lines are appended to, before it is read: two writers would answer everything
 * twice, and cut off each other's lines. Until the descriptor is closed; 0, or the exit code after
 * a message that somebody else has it. */
int out_file_lock(int descriptor, const char *path);

/* Opens it; 0, or the exit code after a message. A target that exists is refused where it is not a
 * regular file, or one to keep: it would be replaced. "-" is refused: a file is not streamed. */
int out_file_open(struct out_file *file, const char *path);

/* Whether the disk has room for that many bytes; 0, or the exit code after a message. A disk that
 * cannot be asked may have it. What another program takes meanwhile is a failed write. */
int out_file_check_room(const struct out_file *file, uint64_t bytes);

/* Appends bytes; a failure is kept for the commit to report. */
void out_file_write(struct out_file *file, const void *data, size_t size);

/* Whether the file's name asks for a NumPy header: NAME.npy. */
bool out_is_npy(const char *path);

/* NumPy's header of an array [rows, columns] of f32; the values follow. */
void out_file_write_npy_header(struct out_file *file, size_t rows, size_t columns);

/* Puts the file in place; 0, or the exit code after a message (nothing is left
 * behind then). */
int out_file_commit(struct out_file *file);

/* Removes what was written. Accepts a committed or zeroed record. */
void out_file_discard(struct out_file *file);

/* Removes what was written to all open files, for a signal handler that ends the
 * process. Signals that end it otherwise do the same: SIGTERM, SIGHUP and a second
 * ctrl-c. */
void out_file_remove_all(void);

#endif
