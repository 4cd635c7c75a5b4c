/*
 * line.c: libedit's editor, or lines as they come. The prompt goes to stderr: stdout holds
 * answers only.
 */
#include "line.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef DLLM_LIBEDIT
#include "term.h"

#include <histedit.h>
#include <signal.h>
#include <sys/stat.h>
#endif

enum { HISTORY_LINES = 1000, LINE_MOST = 64 << 20 };

struct line_reader {
    char *history_path; /* NULL: none */
    bool failed;
#ifdef DLLM_LIBEDIT
    EditLine *editor; /* NULL: plain reading */
    History *history;
#endif
};

bool line_is_typed(void)
{
    return isatty(STDIN_FILENO);
}

/* A line of standard input without its end, at most LINE_MOST bytes: *line is owned.
 * Its size, or -1 at the end of the input or with errno set. */
static ssize_t read_bytes(char **line)
{
    size_t size = 0, capacity = 0;
    int byte;

    while ((byte = getchar()) != EOF && byte != '\n') {
        if (size + 2 > capacity) {
            char *grown = realloc(*line, capacity = capacity * 2 + 256);
            if (!grown)
                return -1;
            *line = grown;
        }
        (*line)[size++] = (char)byte;
        if (size > LINE_MOST) {
            errno = EFBIG;
            return -1;
        }
    }
    if (byte == EOF && (size == 0 || ferror(stdin)))
        return -1;
    if (size == 0 && !(*line = malloc(1)))
        return -1;
    (*line)[size] = 0;
    return (ssize_t)size;
}

static char *read_plain(struct line_reader *reader, size_t *size)
{
    char *line = NULL;
    ssize_t bytes;

    if (line_is_typed())
        fputs("> ", stderr);
    errno = 0;
    bytes = read_bytes(&line);
    *size = (size_t)bytes;
    if (bytes >= 0)
        return line;
    free(line);
    reader->failed = errno != 0 && (!feof(stdin) || errno == ENOMEM);
    if (reader->failed)
        cli_fail(CLI_FAILURE, "standard input could not be read: %s", strerror(errno));
    return NULL;
}

#ifdef DLLM_LIBEDIT

static bool cancelled;

static char *prompt(EditLine *editor)
{
    static char text[] = "> ";

    (void)editor;
    return text;
}

/* Bound to ctrl-c. */
static unsigned char cancel(EditLine *editor, int character)
{
    (void)editor;
    (void)character;
    cancelled = true;
    fputs("^C\r\n", stderr);
    return CC_NEWLINE;
}

/* Bound to ctrl-z. */
static unsigned char stop(EditLine *editor, int character)
{
    (void)editor;
    (void)character;
    kill(0, SIGTSTP);
    return CC_REDISPLAY;
}

/* The folder of a path and those above it, for the user alone. */
static void make_folders(const char *path)
{
    char *copy = strdup(path);

    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    free(copy);
}

/* What holds something else is left alone: it would be replaced by the lines typed. */
static void load_history(struct line_reader *reader)
{
    HistEvent event;
    struct stat info;

    if (history(reader->history, &event, H_LOAD, reader->history_path) >= 0 ||
        stat(reader->history_path, &info) != 0 || info.st_size == 0)
        return;
    fprintf(stderr,
            "note: \"%s\" holds no lines typed before; it stays as it is, and none are kept\n",
            reader->history_path);
    free(reader->history_path);
    reader->history_path = NULL;
}

static bool open_editor(struct line_reader *reader)
{
    struct term term;
    HistEvent event;

    term_look(&term); /* the editor measures characters by the same locale */
    reader->editor = el_init("dllm", stdin, stderr, stderr);
    reader->history = history_init();
    if (!reader->editor || !reader->history)
        return false;
    history(reader->history, &event, H_SETSIZE, HISTORY_LINES);
    history(reader->history, &event, H_SETUNIQUE, 1);
    if (reader->history_path)
        load_history(reader);
    el_set(reader->editor, EL_PROMPT, prompt);
    el_set(reader->editor, EL_EDITOR, "emacs");
    el_set(reader->editor, EL_HIST, history, reader->history);
    el_set(reader->editor, EL_ADDFN, "dllm-cancel", "give up the line", cancel);
    el_set(reader->editor, EL_BIND, "^C", "dllm-cancel", NULL);
    el_set(reader->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* While a line is edited ctrl-c and ctrl-z are keys, not signals. */
    el_set(reader->editor, EL_SETTY, "-d", "-isig", NULL);
    el_set(reader->editor, EL_ADDFN, "dllm-stop", "stop the program", stop);
    el_set(reader->editor, EL_BIND, "^Z", "dllm-stop", NULL);
    el_set(reader->editor, EL_SIGNAL, 1); /* the terminal is given back for a stop */
    return true;
}

static char *read_edited(struct line_reader *reader, size_t *size)
{
    HistEvent event;
    int typed;

    for (;;) {
        const char *line;
        cancelled = false;
        line = el_gets(reader->editor, &typed);
        if (cancelled)
            continue;
        if (!line || typed <= 0)
            return NULL;
        if (line[strspn(line, " \n")])
            history(reader->history, &event, H_ENTER, line);
        *size = strnlen(line, (size_t)typed - (line[typed - 1] == '\n'));
        return strndup(line, *size);
    }
}

/* Written beside the old one and put in its place. What fails here costs the
 * user nothing but old lines, and is not reported. */
static void save_history(const struct line_reader *reader)
{
    HistEvent event;
    char *temporary;
    int descriptor;

    if (!reader->history_path)
        return;
    make_folders(reader->history_path);
    if (asprintf(&temporary, "%s.XXXXXX", reader->history_path) < 0)
        return;
    descriptor = mkstemp(temporary);
    if (descriptor >= 0) {
        close(descriptor);
        if (history(reader->history, &event, H_SAVE, temporary) < 0 ||
            rename(temporary, reader->history_path) != 0)
            unlink(temporary);
    }
    free(temporary);
}

static void close_editor(struct line_reader *reader)
{
    if (reader->editor && reader->history)
        save_history(reader);
    if (reader->editor)
        el_end(reader->editor);
    if (reader->history)
        history_end(reader->history);
}

#endif

struct line_reader *line_open(const char *history_path)
{
    struct line_reader *reader = calloc(1, sizeof *reader);

    if (!reader || (history_path && !(reader->history_path = strdup(history_path))))
        goto fail;
#ifdef DLLM_LIBEDIT
    if (line_is_typed() && term_can_draw() && !open_editor(reader))
        goto fail;
#endif
    return reader;
fail:
    cli_fail(CLI_FAILURE, "out of memory");
    line_close(reader);
    return NULL;
}

char *line_read(struct line_reader *reader, size_t *size)
{
#ifdef DLLM_LIBEDIT
    if (reader->editor)
        return read_edited(reader, size);
#endif
    return read_plain(reader, size);
}

bool line_failed(const struct line_reader *reader)
{
    return reader->failed;
}

void line_close(struct line_reader *reader)
{
    if (!reader)
        return;
#ifdef DLLM_LIBEDIT
    close_editor(reader);
#endif
    free(reader->history_path);
    free(reader);
}
