/*
 * main.c: the dllm program: finds the command, parses its options, and turns
 * the outcome into an exit code: 0 done, 1 failure, 2 usage error (nothing was
 * loaded or written), 130 interrupted.
 */
#include "cli.h"
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of stack that no command outgrows: the most goes to reading JSON that is nested as deep as
 * Jansson allows (2048 levels). */
enum { STACK_BYTES = 256 << 10 };

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < CLI_COMMANDS; i++)
        if (strcmp(cli_commands[i]->table->command, name) == 0)
            return cli_commands[i];
    return NULL;
}

static int print_general_help(void)
{
    printf("dllm %s: masked-diffusion language models (LLaDA, Dream) from GGUF files\n\n"
           "usage: dllm COMMAND [options]\n\n",
           dllm_version());
    for (int i = 0; i < CLI_COMMANDS; i++)
        printf("  %-12s%s\n", cli_commands[i]->table->command, cli_commands[i]->table->summary);
    printf("  %-12s%s\n", "help", "The options of a command: dllm help COMMAND");
    printf("\ndllm --version prints the version.\n");
    return out_finish();
}

static int print_help(const struct command *command)
{
    opts_print_help(command->table, stdout);
    return out_finish();
}

static int fail_unknown_command(const char *name)
{
    const char *names[CLI_COMMANDS + 3] = {"help", "--help", "--version"};
    const char *near;

    for (int i = 0; i < CLI_COMMANDS; i++)
        names[i + 3] = cli_commands[i]->table->command;
    near = opts_suggest(name, names, CLI_COMMANDS + 3);
    if (!near && strchr(name, ' '))
        return cli_fail(CLI_USAGE, "unknown command \"%.60s\"; a prompt follows \"dllm run\"",
                        name);
    if (!near && name[0] == '-')
        return cli_fail(CLI_USAGE,
                        "\"%.60s\" stands where a command must; options follow it: dllm COMMAND "
                        "[options], and \"dllm help\" lists the commands",
                        name);
    return cli_fail(CLI_USAGE, "unknown command \"%s\"; %s%s%s", name,
                    near ? "did you mean \"dllm " : "\"dllm help\" lists the commands",
                    near ? near : "", near ? "\"?" : "");
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* dllm help [COMMAND] */
static int run_help(int argc, char **argv)
{
    const struct command *command;

    if (argc == 0 || asks_for_help(argc, argv))
        return print_general_help();
    if (argc > 1)
        return cli_fail(CLI_USAGE, "unexpected argument \"%s\"; help takes one COMMAND", argv[1]);
    if (strcmp(argv[0], "help") == 0)
        return print_general_help();
    command = find_command(argv[0]);
    return command ? print_help(command) : fail_unknown_command(argv[0]);
}

/* What the program does without a command that exists. */
static int run_other(int argc, char **argv)
{
    if (argc && strcmp(argv[0], "help") == 0)
        return run_help(argc - 1, argv + 1);
    if (asks_for_help(argc, argv))
        return print_general_help();
    if (argc == 0)
        return cli_fail(CLI_USAGE, "a command is missing; \"dllm help\" lists the commands");
    if (strcmp(argv[0], "--version") != 0)
        return fail_unknown_command(argv[0]);
    if (argc > 1)
        return cli_fail(CLI_USAGE, "unexpected argument \"%s\" after --version", argv[1]);
    printf("dllm %s\n", dllm_version());
    return out_finish();
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct opts opts;
    int code;

    opts_parse(command->table, argc, argv, &opts);
    if (opts.help)
        code = print_help(command);
    else if (opts.problem[0])
        code = cli_fail(CLI_USAGE, "%s", opts.problem);
    else
        code = command->run(&opts);
    opts_free(&opts);
    return code;
}

/* A stream that was closed by the caller is opened so that using it fails:
 * else the next file opened would take its place. */
static void occupy_standard_streams(void)
{
    static const int wrong_way[3] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int i = 0; i < 3; i++)
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF && open("/dev/null", wrong_way[i]) < 0)
            _exit(CLI_FAILURE);
}

/* A stack that ends while a command runs ends the process without a word. Arguments and environment
 * count too: they lie above everything else, from the list of arguments up to the program's path.
 * Threads get as much as the limit says. */
static int check_stack(char *const argv[])
{
    struct rlimit limit;
    uintptr_t bottom = (uintptr_t)argv, top = getauxval(AT_EXECFN);
    uint64_t taken = top > bottom ? top - bottom : 0;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= taken + STACK_BYTES)
        return CLI_OK;
    return cli_fail(CLI_FAILURE,
                    "the stack may have %llu KiB, of which arguments and environment take %llu; "
                    "dllm needs %d KiB beside them: raise the limit, for instance with "
                    "\"ulimit -s 8192\"",
                    (unsigned long long)limit.rlim_cur >> 10, (unsigned long long)taken >> 10,
                    STACK_BYTES >> 10);
}

int main(int argc, char **argv)
{
    const struct command *command;

    occupy_standard_streams();
    if (check_stack(argv))
        return CLI_FAILURE;
    /* A closed pipe and a limit on file sizes show as failed writes, so that half-written files are
     * removed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    cli_catch_bus_errors();
    cli_guard_json();
    cli_set_arguments(argc, argv);
    command = argc > 1 ? find_command(argv[1]) : NULL;
    if (command)
        return run_command(command, argc - 2, argv + 2);
    return run_other(argc - 1, argv + 1);
}
