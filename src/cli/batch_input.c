/* batch_input.c: the lines of a batch, from a file or from a pipe that may be slow. */
#include "batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, WAIT_MS = 200, LINE_MOST = 64 << 20 };

static int fail(const struct batch_input *input)
{
    return cli_fail(CLI_FAILURE, "the input \"%s\" could not be read: %s", input->name,
                    strerror(errno));
}

int batch_input_open(struct batch_input *input, const char *name)
{
    struct stat info;

    *input = (struct batch_input){.name = name, .descriptor = STDIN_FILENO};
    if (strcmp(name, "-") != 0)
        input->descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (input->descriptor < 0 || fstat(input->descriptor, &info) != 0)
        return fail(input);
    input->total = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    input->start = S_ISREG(info.st_mode) ? lseek(input->descriptor, 0, SEEK_CUR) : -1;
    return CLI_OK;
}

bool batch_input_rewind(struct batch_input *input)
{
    if (input->start < 0 || lseek(input->descriptor, input->start, SEEK_SET) < 0)
        return false;
    input->begin = input->end = 0;
    input->at_end = false;
    input->line = 0;
    input->taken = 0;
    return true;
}

void batch_input_close(struct batch_input *input)
{
    if (input->descriptor > STDIN_FILENO)
        close(input->descriptor);
    free(input->data);
}

/* Waits for something to read; false when the wait must end. What cannot be waited for is read. */
static bool wait_for_more(const struct batch_input *input, batch_go_on *go_on, void *context)
{
    struct pollfd state = {.fd = input->descriptor, .events = POLLIN};
    int ready;

    do {
        if (!go_on(context))
            return false;
        ready = poll(&state, 1, WAIT_MS);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    return true;
}

/* Makes room for a piece behind what is there. */
static bool make_room(struct batch_input *input)
{
    char *grown;

    if (input->begin > 0)
        memmove(input->data, input->data + input->begin, input->end - input->begin);
    input->end -= input->begin;
    input->begin = 0;
    if (input->capacity - input->end >= PIECE)
        return true;
    grown = realloc(input->data, input->capacity * 2 + PIECE);
    if (!grown)
        return false;
    input->data = grown;
    input->capacity = input->capacity * 2 + PIECE;
    return true;
}

static int read_piece(struct batch_input *input)
{
    ssize_t got;

    if (!make_room(input)) {
        errno = ENOMEM;
        return fail(input);
    }
    got = read(input->descriptor, input->data + input->end, PIECE);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return fail(input);
    if (got > 0)
        input->end += (size_t)got;
    input->at_end = got == 0;
    return CLI_OK;
}

/* Hands out [begin, begin + length), which is followed by `skip` bytes. */
static void take_line(struct batch_input *input, size_t length, size_t skip, const char **line,
                      size_t *size)
{
    *line = input->data + input->begin;
    *size = length;
    input->begin += length + skip;
    input->taken += length + skip;
    if (input->line++ == 0 && length >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
        *line += 3; /* the byte order mark that some editors begin a file with */
        *size -= 3;
    }
}

int batch_input_next(struct batch_input *input, batch_go_on *go_on, void *context,
                     const char **line, size_t *size)
{
    size_t looked = 0;
    int code;

    *line = NULL;
    while (true) {
        size_t length = input->end - input->begin;
        const char *newline =
            length > looked ? memchr(input->data + input->begin + looked, '\n', length - looked)
                            : NULL;
        looked = length;
        if (newline)
            take_line(input, (size_t)(newline - input->data) - input->begin, 1, line, size);
        else if (input->at_end && length)
            take_line(input, length, 0, line, size);
        if (*line || input->at_end)
            return CLI_OK;
        if (length > LINE_MOST)
            return cli_fail(CLI_FAILURE, "line %ld of \"%s\" has more than %d MiB", input->line + 1,
                            input->name, LINE_MOST >> 20);
        if (!wait_for_more(input, go_on, context))
            return CLI_OK;
        if ((code = read_piece(input)))
            return code;
    }
}
