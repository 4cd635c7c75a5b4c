/*
 * fuzz_npy.c: NumPy files. The input is rows and columns (u64 each), the length of
 * the file's name (u8), the name, and the bytes of the values.
 *
 * A reader that follows NumPy's format alone must find the same shape and the same
 * values, and nothing else may lie in the folder. The name is any bytes: what the
 * file system does not take is an error that leaves nothing behind.
 */
#include "cli.h"
#include "fuzz.h"
#include "out.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHAPE_BYTES = 16, NAME_MOST = 255, MAGIC_BYTES = 10 };

struct input {
    uint64_t rows, columns;
    char name[NAME_MOST + 1];
    const uint8_t *values;
    size_t value_bytes;
};

/* Bytes that are read in order. */
struct reader {
    const char *at, *end;
};

static char folder[200];

/* Runs when libFuzzer and replay.c end; scripts/fuzz.sh removes what AFL++ leaves. */
static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    const char *above = getenv("TMPDIR");

    if (folder[0])
        return;
    snprintf(folder, sizeof folder, "%.150s/fuzz_npy.XXXXXX", above ? above : "/tmp");
    fuzz_require(mkdtemp(folder) != NULL, "no scratch folder");
    atexit(remove_folder);
}

/* A name inside the folder: no '/', and it ends at a zero. */
static void take_name(struct input *input, const uint8_t *bytes, size_t size)
{
    memcpy(input->name, bytes, size);
    input->name[size] = 0;
    for (char *slash = input->name; (slash = strchr(slash, '/'));)
        *slash = '_';
}

static bool take_input(struct input *input, const uint8_t *data, size_t size)
{
    size_t name;

    if (size < SHAPE_BYTES + 1)
        return false;
    memcpy(&input->rows, data, 8);
    memcpy(&input->columns, data + 8, 8);
    name = data[SHAPE_BYTES];
    if (name > size - SHAPE_BYTES - 1)
        name = size - SHAPE_BYTES - 1;
    take_name(input, data + SHAPE_BYTES + 1, name);
    input->values = data + SHAPE_BYTES + 1 + name;
    input->value_bytes = size - SHAPE_BYTES - 1 - name;
    return true;
}

static bool take_text(struct reader *reader, const char *text)
{
    size_t length = strlen(text);

    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, text, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* Decimal digits without a zero before them. */
static bool take_number(struct reader *reader, uint64_t *out)
{
    const char *first = reader->at;

    for (*out = 0; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*reader->at++ - '0'), out))
            return false;
    return reader->at > first && (*first != '0' || reader->at == first + 1);
}

/* Format 1.0 at the start of a file: fills in the shape, returns where the values
 * begin. */
static size_t read_header(const char *data, size_t size, uint64_t shape[2])
{
    struct reader reader = {data, data + size};
    size_t length;

    fuzz_require(take_text(&reader, "\x93NUMPY\x01") && reader.at < reader.end && !*reader.at++ &&
                     size >= MAGIC_BYTES,
                 "no NumPy file of format 1.0");
    length = (uint8_t)data[8] | (size_t)(uint8_t)data[9] << 8;
    fuzz_require(length <= size - MAGIC_BYTES && (MAGIC_BYTES + length) % 64 == 0,
                 "values that do not begin at a multiple of 64");
    reader = (struct reader){data + MAGIC_BYTES, data + MAGIC_BYTES + length};
    fuzz_require(take_text(&reader, "{'descr': '<f4', 'fortran_order': False, 'shape': (") &&
                     take_number(&reader, &shape[0]) && take_text(&reader, ", ") &&
                     take_number(&reader, &shape[1]) && take_text(&reader, "), }"),
                 "a header that is no dictionary");
    while (take_text(&reader, " "))
        continue;
    fuzz_require(take_text(&reader, "\n") && reader.at == reader.end,
                 "padding that is not blanks and a line feed");
    return MAGIC_BYTES + length;
}

static void check_file(const struct input *input, const char *data, size_t size)
{
    uint64_t shape[2];
    size_t at = 0;

    if (out_is_npy(input->name)) {
        at = read_header(data, size, shape);
        fuzz_require(shape[0] == input->rows && shape[1] == input->columns, "another shape");
    }
    fuzz_require(size - at == input->value_bytes &&
                     memcmp(data + at, input->values, input->value_bytes) == 0,
                 "other values");
}

/* How many files lie in the folder. */
static int count_files(void)
{
    DIR *stream = opendir(folder);
    int count = 0;

    fuzz_require(stream != NULL, "the scratch folder is gone");
    for (const struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

/* Writes as cmd_logits.c does; whether the file was put in place. */
static bool write_file(const struct input *input, const char *path)
{
    struct out_file file;

    if (out_file_open(&file, path) != CLI_OK)
        return false;
    if (out_is_npy(path))
        out_file_write_npy_header(&file, input->rows, input->columns);
    out_file_write(&file, input->values, input->value_bytes);
    return out_file_commit(&file) == CLI_OK;
}

static void read_back(const struct input *input, const char *path)
{
    size_t room = input->value_bytes + 300, size;
    FILE *stream = fopen(path, "rb");
    char *data = malloc(room);

    fuzz_require(stream && data, "a file that cannot be read");
    size = fread(data, 1, room, stream);
    fclose(stream);
    check_file(input, data, size);
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[sizeof folder + NAME_MOST + 2];
    struct input input;
    bool done;

    fuzz_silence_stderr();
    make_folder();
    if (!take_input(&input, data, size))
        return 0;
    snprintf(path, sizeof path, "%s/%s", folder, input.name);
    done = write_file(&input, path);
    fuzz_require(count_files() == done, "a file that should not be there, or none");
    if (done) {
        read_back(&input, path);
        fuzz_require(unlink(path) == 0, "a file under another name");
    }
    return 0;
}
