/*
 * cli.h: what the commands share: exit codes, error reports, the option texts
 * that several commands have.
 */
#ifndef CLI_H
#define CLI_H

#include "dllm.h"
#include "opts.h"
#include "reading.h"

enum cli_exit { CLI_OK = 0, CLI_FAILURE = 1, CLI_USAGE = 2, CLI_INTERRUPTED = 130 };

/* A command gets its parsed options (no problem in them) and returns the exit
 * code. */
struct command {
    const struct opt_table *table;
    int (*run)(struct opts *opts);
};

extern const struct command command_run;
extern const struct command command_tokenize;
extern const struct command command_inspect;
extern const struct command command_logits;
extern const struct command command_bench;
extern const struct command command_trace;
extern const struct command command_chat;
extern const struct command command_pull;
extern const struct command command_doctor;
extern const struct command command_eval;
extern const struct command command_score;
extern const struct command command_quantize;
extern const struct command command_completion;

/* All of them, in the order of the help text; ends in NULL. (commands.c) */
enum { CLI_COMMANDS = 13 };
extern const struct command *const cli_commands[CLI_COMMANDS + 1];

/* The arguments the program was started with, for --verbose. */
void cli_set_arguments(int argc, char **argv);

/* Prints the version and the command line, quoted as a shell wants it, to
 * stderr. */
void cli_print_invocation(void);

/* Prints "error: " and the message to stderr, control characters masked (names
 * in a message may come from a hostile file), and returns code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where messages of the calling thread's cli_fail go instead of stderr; NULL: to
 * stderr again. The first one stays. */
struct cli_capture {
    char message[1200];
};
void cli_capture_errors(struct cli_capture *capture);

/* The same for an error of the library; returns the exit code of its status. */
int cli_fail_error(const struct dllm_error *error);

/* A message of the library's with its names of settings as options: block_length becomes
 * --block-length. Cut off at size. (option_names.c) */
void cli_name_options(const char *message, char *out, size_t size);

/* The value of -m, or the built-in model where none was given. */
const char *cli_model_path(const struct opt_value *model);

/* From what -m says to what the library opens: a file's path or DLLM_DEMO_MODEL
 * stays, a name becomes the path of its file in the cache (or of one that is
 * fetched, with pull) in storage that lasts until the next call. 0, or the exit
 * code after a message that tells what -m wants. (model_source.c) */
int cli_find_model(const char **model, bool pull);

/* From now on a model file that is cut short or cannot be read while it is in use
 * ends the program with exit code 1 and a message that names it, and no file half
 * written stays behind. (bus_error.c) */
void cli_catch_bus_errors(void);

/* The values of the options that say what a command's model is and what computes. */
struct cli_engine_values {
    const struct opt_value *model, *pull, *threads, *device, *gpu_layers, *cpu_level;
    struct reading *reading; /* tells how much of the model was read; NULL: nothing does */
};

/* Opens it (cli_find_model, then dllm_engine_open). 0, or the exit code after a
 * message; *out is then unchanged. (open_engine.c) */
int cli_open_engine(const struct cli_engine_values *values, struct dllm_engine **out);

/* The name of the device that the values of --device and --gpu-layers stand for.
 * (open_engine.c) */
const char *cli_device_name(const struct opt_value *device, const struct opt_value *gpu_layers);

/* From now on the program ends with a message where JSON lacks memory.
 * (json_memory.c) */
void cli_guard_json(void);

/* malloc for what JSON values are made of: a lack of memory ends the program with a
 * message, and no file half written stays behind. (json_memory.c) */
void *cli_allocate(size_t size);
_Noreturn void cli_end_without_memory(void);

/* From the first call on, ctrl-c sets a flag instead of ending the process; a
 * second ctrl-c ends it. A process that was started to ignore it goes on to. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);
/* Forgets an interruption; ctrl-c ends the process again. */
void cli_release_interrupt(void);

/* Names of the CPU levels, ending in NULL. */
extern const char *const cli_cpu_levels[];

/* Entries of option tables that several commands have word for word. */
#define CLI_OPTION_MODEL                                                                           \
    {                                                                                              \
        .name = "model", .once = true, .letter = 'm', .kind = OPT_PATH, .metavar = "MODEL",        \
        .fallback = "demo",                                                                        \
        .help = "the model: a GGUF file; OWNER/NAME[:QUANT], llada or dream, which pull fetches; " \
                "demo: the built-in one"                                                           \
    }
#define CLI_OPTION_PULL                                                                            \
    {                                                                                              \
        .name = "pull", .once = true, .kind = OPT_FLAG,                                            \
        .help = "fetch the model if it is a name and not in the cache"                             \
    }
#define CLI_OPTION_FORCE                                                                           \
    {                                                                                              \
        .name = "force", .once = true, .kind = OPT_FLAG,                                           \
        .help = "run even if the model does not fit into memory"                                   \
    }
#define CLI_OPTION_THREADS                                                                         \
    {                                                                                              \
        .name = "threads", .once = true, .letter = 't', .kind = OPT_INTEGER, .low = 1,             \
        .high = 1024, .metavar = "N", .fallback = "cores this process may use",                    \
        .help = "worker threads"                                                                   \
    }
#define CLI_OPTION_MESSAGES(of_group)                                                              \
    {                                                                                              \
        .name = "messages", .kind = OPT_PATH, .group = of_group, .metavar = "FILE",                \
        .help = "a whole conversation, a JSON array of {\"role\", \"content\"}"                    \
    }
#define CLI_OPTION_SYSTEM                                                                          \
    {                                                                                              \
        .name = "system", .kind = OPT_TEXT, .may_be_empty = true, .metavar = "TEXT",               \
        .fallback = "by chat template", .help = "the system message"                               \
    }
#define CLI_OPTION_DEVICE                                                                          \
    {                                                                                              \
        .name = "device", .once = true, .kind = OPT_DEVICE, .metavar = "NAME", .fallback = "auto", \
        .help = "where to compute: cpu, gpu, gpu:N (a GPU's number, from 0), or auto: a GPU if "   \
                "one works and the model fits"                                                     \
    }
#define CLI_OPTION_GPU_LAYERS                                                                      \
    {                                                                                              \
        .name = "gpu-layers", .once = true, .kind = OPT_LAYERS, .metavar = "N", .fallback = "all", \
        .help = "how many layers a GPU computes, the last ones, and the CPU the others; auto: as " \
                "many as fit"                                                                      \
    }
#define CLI_OPTION_CPU_LEVEL                                                                       \
    {                                                                                              \
        .name = "cpu-level", .once = true, .kind = OPT_CHOICE, .choices = cli_cpu_levels,          \
        .metavar = "NAME", .fallback = "the best here",                                            \
        .help = "instruction set; all give the same bits"                                          \
    }

#endif
