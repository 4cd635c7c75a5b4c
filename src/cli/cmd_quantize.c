/* cmd_quantize.c: dllm quantize: a file with its matrices in blocks. */
#include "cli.h"
#include "out.h"
#include "progress_line.h"

#include <string.h>

enum { QUANTIZE_IN, QUANTIZE_OUT, QUANTIZE_TYPE, QUANTIZE_THREADS, QUANTIZE_OPTIONS };

static const struct opt options[QUANTIZE_OPTIONS] = {
    [QUANTIZE_IN] = {.name = "IN",
                     .kind = OPT_OPERAND,
                     .required = true,
                     .help = "a GGUF file with F32, F16 or BF16 matrices"},
    [QUANTIZE_OUT] = {.name = "OUT",
                      .kind = OPT_OPERAND,
                      .required = true,
                      .help = "the file to write; it appears when it is whole"},
    [QUANTIZE_TYPE] = {.name = "TYPE",
                       .kind = OPT_OPERAND,
                       .required = true,
                       .help = "Q4_K_M, Q5_K_M, Q8_0, Q6_K, Q5_K or Q4_K"},
    [QUANTIZE_THREADS] = CLI_OPTION_THREADS,
};

static const struct opt_table table = {
    .command = "quantize",
    .usage = "IN OUT TYPE [options]",
    .summary = "Make a smaller file of a converted model",
    .notes = "Q4_K_M, the usual choice, and Q5_K_M are mixes: the output matrix and some of\n"
             "the value and down projections are Q6_K. Vectors, norms, routers and metadata\n"
             "stay as they are. Rows that are no multiple of 256 get blocks of 32. Any number\n"
             "of threads gives the same bytes.\n",
    .options = options,
    .count = QUANTIZE_OPTIONS,
};

struct sink {
    struct out_file file;
    int code;  /* of a disk that is too small; 0: it is not */
    int shown; /* percent */
};

static bool take_bytes(void *user, const void *data, size_t size)
{
    struct sink *sink = user;

    out_file_write(&sink->file, data, size);
    return !sink->file.failure;
}

static bool show_progress(void *user, const struct dllm_quantize_progress *progress)
{
    struct sink *sink = user;
    int percent =
        progress->bytes_to_read
            ? (int)(100.0 * (double)progress->bytes_read / (double)progress->bytes_to_read)
            : 100;

    if (progress->bytes_written == 0)
        sink->code = out_file_check_room(&sink->file, progress->bytes_to_write);
    if (percent != sink->shown)
        progress_line(percent / 100.0, "%d %%, tensor %zu of %zu", percent, progress->tensor + 1,
                      progress->tensors);
    sink->shown = percent;
    return !sink->code && !cli_interrupted();
}

static void print_summary(const struct dllm_quantize_progress *result, const char *type)
{
    char before[32], after[32];

    fprintf(stderr, "%s: %zu tensors, %s before, %s after\n", type, result->tensors,
            out_size_text(result->bytes_to_read, before),
            out_size_text(result->bytes_written, after));
}

static int quantize_to(struct sink *sink, const char *in, const struct opts *opts)
{
    const char *type = opts->values[QUANTIZE_TYPE].text;
    struct dllm_quantize_options quantize = {
        .type = type,
        .threads = (int)opts->values[QUANTIZE_THREADS].integer,
        .write = take_bytes,
        .on_progress = show_progress,
        .user = sink,
    };
    struct dllm_quantize_progress result;
    struct dllm_error error = {0};
    enum dllm_status status = dllm_quantize(in, &quantize, &result, &error);
    int code;

    progress_line_clear();
    if (sink->code)
        return sink->code;
    if (status != DLLM_OK && !sink->file.failure)
        return cli_fail_error(&error);
    code = out_file_commit(&sink->file); /* tells of a failed write */
    if (!code)
        print_summary(&result, type);
    return code;
}

/* Whether the library knows the type, whatever the case of its letters: before a file is opened. */
static bool is_type(const char *type)
{
    const char *names = dllm_quantize_types(), *found = strcasestr(names, type);
    size_t size = strlen(type);

    while (found && size) {
        bool starts = found == names || found[-1] == ' ';

        if (starts && (found[size] == ',' || found[size] == 0))
            return true;
        found = strcasestr(found + 1, type);
    }
    return false;
}

static int run_quantize(struct opts *opts)
{
    const char *in = opts->values[QUANTIZE_IN].text, *out = opts->values[QUANTIZE_OUT].text;
    struct sink sink = {.shown = -1};
    int code;

    if (!is_type(opts->values[QUANTIZE_TYPE].text))
        return cli_fail(CLI_USAGE, "there is no file type \"%s\"; expected one of %s",
                        opts->values[QUANTIZE_TYPE].text, dllm_quantize_types());
    out_file_keep(in);
    cli_catch_interrupt();
    code = out_file_open(&sink.file, out);
    if (code)
        return code;
    code = quantize_to(&sink, in, opts);
    out_file_discard(&sink.file);
    return code;
}

const struct command command_quantize = {&table, run_quantize};
