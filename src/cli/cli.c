/* cli.c: error reports, interruption and the other things commands share. */
#include "cli.h"

#include "out.h"
#include "term.h"
#include "utf8_text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

const char *const cli_cpu_levels[] = {"ref", "avx2", "avxvnni", "avx512vnni", NULL};

static int argument_count;
static char **arguments;
static atomic_bool interrupted; /* set by a handler, read by several threads */
static _Thread_local struct cli_capture *captured;

void cli_set_arguments(int argc, char **argv)
{
    argument_count = argc;
    arguments = argv;
}

static void print_quoted(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,+@%";

    if (*text && !text[strspn(text, plain)]) {
        fputs(text, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stderr);
        else
            fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
    }
    fputc('\'', stderr);
}

void cli_print_invocation(void)
{
    fprintf(stderr, "dllm %s:", dllm_version());
    for (int i = 0; i < argument_count; i++) {
        fputc(' ', stderr);
        print_quoted(arguments[i]);
    }
    fputc('\n', stderr);
}

void cli_capture_errors(struct cli_capture *capture)
{
    captured = capture;
}

/* Puts a '?' for each byte that a terminal could obey: control characters, those
 * above ASCII included, and bytes that are no UTF-8. */
static void hide_controls(char *text)
{
    size_t size = strlen(text);
    uint32_t code;

    for (size_t at = 0; at < size;) {
        int length = utf8_text_next(text + at, size - at, &code);
        bool hidden = !length || code < 0x20 || (code >= 0x7f && code < 0xa0);

        length += !length;
        if (hidden)
            memset(text + at, '?', (size_t)length);
        at += (size_t)length;
    }
}

int cli_fail(int code, const char *format, ...)
{
    char message[1200];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hide_controls(message);
    if (!captured)
        fprintf(stderr, "error: %s\n", message);
    else if (!captured->message[0])
        strcpy(captured->message, message);
    return code;
}

int cli_fail_error(const struct dllm_error *error)
{
    char message[sizeof error->message + 100];

    if (error->status == DLLM_INTERRUPTED)
        return CLI_INTERRUPTED;
    if (error->status != DLLM_ERROR_USAGE)
        return cli_fail(CLI_FAILURE, "%s", error->message);
    cli_name_options(error->message, message, sizeof message);
    return cli_fail(CLI_USAGE, "%s", message);
}

const char *cli_model_path(const struct opt_value *model)
{
    return model->given ? model->text : DLLM_DEMO_MODEL;
}

static void on_interrupt(int number)
{
    if (atomic_exchange(&interrupted, true)) {
        term_restore();
        out_file_remove_all();
        signal(number, SIG_DFL);
        raise(number); /* takes effect when this returns */
    }
}

void cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, NULL, &before);
    if (before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void)
{
    return atomic_load(&interrupted);
}

void cli_release_interrupt(void)
{
    struct sigaction now;

    sigaction(SIGINT, NULL, &now);
    if (now.sa_handler == on_interrupt)
        signal(SIGINT, SIG_DFL);
    atomic_store(&interrupted, false);
}
