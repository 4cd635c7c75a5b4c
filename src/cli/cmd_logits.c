/*
 * cmd_logits.c: dllm logits: one forward pass over given ids, the raw scores of
 * chosen rows into a file: [rows, vocabulary] f32, row major, little endian;
 * with a NumPy header when the file's name ends in .npy.
 */
#include "cli.h"
#include "memory_check.h"
#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LOGITS_MODEL,
    LOGITS_PULL,
    LOGITS_TOKENS,
    LOGITS_ROWS,
    LOGITS_OUT,
    LOGITS_LAYERS,
    LOGITS_ALLOW_LONG,
    LOGITS_VERBOSE,
    LOGITS_FORCE,
    LOGITS_THREADS,
    LOGITS_DEVICE,
    LOGITS_GPU_LAYERS,
    LOGITS_CPU_LEVEL,
    LOGITS_OPTIONS
};

static const struct opt options[LOGITS_OPTIONS] = {
    [LOGITS_MODEL] = CLI_OPTION_MODEL,
    [LOGITS_PULL] = CLI_OPTION_PULL,
    [LOGITS_TOKENS] = {.name = "tokens",
                       .kind = OPT_IDS,
                       .required = true,
                       .metavar = "IDS",
                       .help = "the token ids of the canvas, such as 3,5,17"},
    [LOGITS_ROWS] = {.name = "rows",
                     .kind = OPT_TEXT,
                     .metavar = "ROWS",
                     .fallback = "all",
                     .help = "which positions, counted from 0: all, or an ascending list with "
                             "ranges, such as 0,4-7"},
    [LOGITS_OUT] = {.name = "out",
                    .letter = 'o',
                    .kind = OPT_PATH,
                    .required = true,
                    .metavar = "FILE",
                    .help = "the file to write; NAME.npy gets a NumPy header, others hold bare "
                            "f32 values"},
    [LOGITS_LAYERS] = {.name = "layers",
                       .kind = OPT_PATH,
                       .metavar = "DIR",
                       .help = "also write the hidden states behind the embedding and behind each "
                               "layer, as NumPy files in this folder"},
    [LOGITS_ALLOW_LONG] = {.name = "allow-long",
                           .kind = OPT_FLAG,
                           .help = "permit more ids than the model's context length"},
    [LOGITS_VERBOSE] = {.name = "verbose",
                        .kind = OPT_FLAG,
                        .help = "tell about model, times and memory on stderr"},
    [LOGITS_FORCE] = CLI_OPTION_FORCE,
    [LOGITS_THREADS] = CLI_OPTION_THREADS,
    [LOGITS_DEVICE] = CLI_OPTION_DEVICE,
    [LOGITS_GPU_LAYERS] = CLI_OPTION_GPU_LAYERS,
    [LOGITS_CPU_LEVEL] = CLI_OPTION_CPU_LEVEL,
};

static const struct opt_table table = {
    .command = "logits",
    .usage = "[-m MODEL] --tokens IDS --out FILE [options]",
    .summary = "Write the scores of one forward pass to a file",
    .options = options,
    .count = LOGITS_OPTIONS,
};

/* The rows asked for, owned. */
struct row_list {
    int32_t *rows;
    size_t count;
    bool broken; /* an entry could not be taken */
};

/* A whole number below `limit` at *at, which moves behind it. */
static bool take_row(const char **at, size_t limit, size_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoul(*at, &end, 10);
    *at = end;
    return !errno && *out < limit;
}

/* Appends one entry, N or N-M, behind the rows so far; false: it is none. */
static bool take_range(const char **at, size_t limit, struct row_list *list)
{
    size_t first, last;

    list->broken = true;
    if (!take_row(at, limit, &first))
        return false;
    last = first;
    if (**at == '-' && (++*at, !take_row(at, limit, &last)))
        return false;
    if (last < first || (list->count && first <= (size_t)list->rows[list->count - 1]))
        return false;
    for (size_t row = first; row <= last; row++)
        list->rows[list->count++] = (int32_t)row;
    list->broken = false;
    return true;
}

static int parse_rows(const char *text, size_t limit, struct row_list *list)
{
    char all[32];
    const char *at = text;

    snprintf(all, sizeof all, "0-%zu", limit - 1);
    if (!text || strcmp(text, "all") == 0)
        at = all;
    list->rows = malloc(limit * sizeof *list->rows);
    if (!list->rows)
        return cli_fail(CLI_FAILURE, "out of memory");
    while (take_range(&at, limit, list) && *at == ',')
        at++;
    if (list->broken || *at)
        return cli_fail(CLI_USAGE,
                        "--rows needs \"all\" or an ascending list of rows from 0 to %zu (--tokens "
                        "gives %zu ids), such as 0,4-7, not \"%.60s\"",
                        limit - 1, limit, text);
    return CLI_OK;
}

struct writer {
    struct out_file *file;
    size_t vocab;
    const char *layers; /* folder for hidden states; NULL: not wanted */
    int code;           /* of the first one that could not be written */
};

/* A NumPy file of its own per layer. */
static void write_layer(void *context, int layer, const float *hidden, size_t rows, size_t width)
{
    struct writer *writer = context;
    struct out_file file;
    char path[4096];

    if (writer->code || cli_interrupted())
        return;
    if (layer < 0)
        snprintf(path, sizeof path, "%s/embedding.npy", writer->layers);
    else
        snprintf(path, sizeof path, "%s/layer-%02d.npy", writer->layers, layer);
    if ((writer->code = out_file_open(&file, path)))
        return;
    out_file_write_npy_header(&file, rows, width);
    out_file_write(&file, hidden, sizeof *hidden * rows * width);
    writer->code = out_file_commit(&file);
}

/* Makes the folder unless it is there. */
static int make_folder(const char *path)
{
    struct stat info;

    if (path && out_file_refuse_dash(path))
        return CLI_USAGE;
    if (!path || mkdir(path, 0777) == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return CLI_OK;
    return cli_fail(CLI_FAILURE, "\"%s\" could not be made as a folder: %s", path, strerror(errno));
}

/* Receives rows; ends the pass after ctrl-c or when the disk is full. */
static int write_rows(void *context, const float *logits, size_t first, size_t count)
{
    struct writer *writer = context;

    (void)first;
    out_file_write(writer->file, logits, sizeof *logits * writer->vocab * count);
    return cli_interrupted() || writer->file->failure || writer->code;
}

/* Runs the pass into the open file. An interrupted pass on a full disk is left
 * to the commit to report. */
static int write_logits(struct dllm_session *session, const struct dllm_logits_query *query,
                        int vocab, struct out_file *file, const struct opt_value *values)
{
    struct writer writer = {file, (size_t)vocab, values[LOGITS_LAYERS].text, CLI_OK};
    struct dllm_logits_sink sink = {write_rows, &writer, writer.layers ? write_layer : NULL};
    struct dllm_error error = {0};
    enum dllm_status status;

    if (out_is_npy(values[LOGITS_OUT].text))
        out_file_write_npy_header(file, query->row_count, (size_t)vocab);
    status = dllm_logits_each(session, query, &sink, &error);
    if (status == DLLM_INTERRUPTED && cli_interrupted())
        return CLI_INTERRUPTED;
    if (writer.code)
        return writer.code;
    if (status && status != DLLM_INTERRUPTED)
        return cli_fail_error(&error);
    return out_file_commit(file);
}

static int run_pass(const struct opts *opts, struct dllm_engine *engine,
                    const struct row_list *list)
{
    const struct opt_value *values = opts->values;
    const char *path = values[LOGITS_OUT].text;
    struct dllm_logits_query query = {.ids = values[LOGITS_TOKENS].ids,
                                      .count = values[LOGITS_TOKENS].id_count,
                                      .rows = list->rows,
                                      .row_count = list->count,
                                      .allow_long = values[LOGITS_ALLOW_LONG].given};
    struct dllm_session *session = NULL;
    struct out_file file = {0};
    struct dllm_model_info info;
    struct dllm_error error = {0};
    int code;

    dllm_engine_info(engine, &info);
    if (dllm_session_create(engine, &session, &error))
        return cli_fail_error(&error);
    code = make_folder(values[LOGITS_LAYERS].text);
    if (!code)
        code = out_file_open(&file, path);
    if (!code)
        code = out_file_check_room(&file,
                                   (uint64_t)list->count * (uint64_t)info.vocab * sizeof(float));
    if (!code)
        code = write_logits(session, &query, info.vocab, &file, values);
    out_file_discard(&file);
    dllm_session_destroy(session);
    return code;
}

static void print_notes(const struct dllm_engine *engine, const struct row_list *list)
{
    struct dllm_model_info info;
    char size[32];

    dllm_engine_info(engine, &info);
    fprintf(stderr, "wrote %zu rows of %d scores; %s, %s, level %s, %d threads\n", list->count,
            info.vocab, info.architecture, info.quantization, info.cpu_level, info.threads);
    fprintf(stderr, "peak memory: %s\n", out_size_text(dllm_peak_rss_bytes(), size));
}

static int open_and_run(const struct opts *opts, const struct row_list *list)
{
    const struct opt_value *values = opts->values;
    const struct cli_engine_values engine_values = {&values[LOGITS_MODEL],
                                                    &values[LOGITS_PULL],
                                                    &values[LOGITS_THREADS],
                                                    &values[LOGITS_DEVICE],
                                                    &values[LOGITS_GPU_LAYERS],
                                                    &values[LOGITS_CPU_LEVEL],
                                                    NULL};
    struct memory_need need = {.force = values[LOGITS_FORCE].given,
                               .allow_long = values[LOGITS_ALLOW_LONG].given};
    struct dllm_engine *engine = NULL;
    int code = cli_open_engine(&engine_values, &engine);

    if (code)
        return code;
    if (values[LOGITS_VERBOSE].given)
        cli_print_invocation();
    need.canvas = values[LOGITS_TOKENS].id_count;
    need.workspace = dllm_engine_workspace_bytes(engine, need.canvas, list->count);
    code = memory_check(engine, &need);
    if (!code)
        code = run_pass(opts, engine, list);
    if (!code && values[LOGITS_VERBOSE].given)
        print_notes(engine, list);
    dllm_engine_close(engine);
    return code;
}

static int run_logits(struct opts *opts)
{
    struct row_list list = {0};
    int code =
        parse_rows(opts->values[LOGITS_ROWS].text, opts->values[LOGITS_TOKENS].id_count, &list);

    if (!code) {
        cli_catch_interrupt();
        code = open_and_run(opts, &list);
    }
    free(list.rows);
    return code;
}

const struct command command_logits = {&table, run_logits};
