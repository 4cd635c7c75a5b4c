/*
 * completion.c: writes completion scripts from the option tables. What a script
 * knows of an option is its names, whether it takes a value, and the values of
 * a choice; other values are completed as file names where the table says that
 * they are some.
 */
#include "completion.h"

#include "cli.h"

#include <stdio.h>
#include <string.h>

/* Words that -m takes besides files. */
#define MODEL_NAMES "demo llada dream"

static bool takes_value(const struct opt *option)
{
    return option->kind != OPT_FLAG && option->kind != OPT_OPERAND;
}

static bool is_model(const struct opt *option)
{
    return strcmp(option->name, "model") == 0;
}

static void print_choices(const struct opt *option)
{
    for (int i = 0; option->choices && option->choices[i]; i++)
        printf("%s%s", i ? " " : "", option->choices[i]);
}

static void print_commands(void)
{
    for (int i = 0; cli_commands[i]; i++)
        printf("%s ", cli_commands[i]->table->command);
    printf("help");
}

/* Text inside single quotes, for all three shells. extra: characters that get a
 * backslash. */
static void print_text(const char *text, const char *extra)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(extra, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* ---------------------------------------------------------------- bash --- */

/* A case of "COMMAND OPTION": what may follow it. */
static void bash_value(const char *command, const struct opt *option)
{
    printf("    \"%s --%s\"", command, option->name);
    if (option->letter)
        printf(" | \"%s -%c\"", command, option->letter);
    fputs(") ", stdout);
    if (option->kind == OPT_CHOICE) {
        fputs("_dllm_words '", stdout);
        print_choices(option);
        fputs("'; return ;;\n", stdout);
    } else if (is_model(option)) {
        puts("_dllm_words '" MODEL_NAMES "'; _dllm_files; return ;;");
    } else {
        puts(option->kind == OPT_PATH ? "_dllm_files; return ;;" : "return ;;");
    }
}

static void bash_options(const struct opt_table *table)
{
    printf("    %s) _dllm_words '", table->command);
    for (int i = 0; i < table->count; i++) {
        const struct opt *option = &table->options[i];

        if (option->kind == OPT_OPERAND || !opts_has(table, i))
            continue;
        printf("--%s ", option->name);
        if (option->letter)
            printf("-%c ", option->letter);
    }
    puts("--help -h' ;;");
}

static void print_bash(void)
{
    puts("# bash completion for dllm, printed by `dllm completion bash`\n"
         "_dllm_words() {\n"
         "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
         "}\n"
         "_dllm_files() {\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "}\n"
         "_dllm() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local command=${COMP_WORDS[1]}\n"
         "    COMPREPLY=()\n"
         "    # --name=value arrives as three words.\n"
         "    if [ \"$cur\" = = ]; then\n"
         "        cur=\n"
         "    elif [ \"$prev\" = = ]; then\n"
         "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi");
    fputs("    if [ \"$COMP_CWORD\" = 1 ]; then\n        _dllm_words '", stdout);
    print_commands();
    puts(" --version --help'\n        return\n    fi\n"
         "    case \"$command $prev\" in");
    for (int i = 0; cli_commands[i]; i++)
        for (int j = 0; j < cli_commands[i]->table->count; j++)
            if (opts_has(cli_commands[i]->table, j) &&
                takes_value(&cli_commands[i]->table->options[j]))
                bash_value(cli_commands[i]->table->command, &cli_commands[i]->table->options[j]);
    puts("    esac\n"
         "    if [ \"${cur:0:1}\" != - ]; then\n"
         "        case $command in");
    fputs("        help) [ \"$COMP_CWORD\" = 2 ] && _dllm_words '", stdout);
    print_commands();
    puts("' ;;\n"
         "        completion) [ \"$COMP_CWORD\" = 2 ] && _dllm_words 'bash zsh fish' ;;\n"
         "        inspect | pull | doctor) _dllm_words '" MODEL_NAMES "'; _dllm_files ;;\n"
         "        esac\n"
         "        return\n"
         "    fi\n"
         "    case $command in");
    for (int i = 0; cli_commands[i]; i++)
        bash_options(cli_commands[i]->table);
    puts("    esac\n"
         "}\n"
         "complete -F _dllm dllm");
}

/* ----------------------------------------------------------------- zsh --- */

/* What _arguments completes a value with. */
static void zsh_value(const struct opt *option)
{
    printf(":%s:", option->kind == OPT_OPERAND ? option->name : option->metavar);
    if (option->kind == OPT_CHOICE) {
        fputs("(", stdout);
        print_choices(option);
        fputs(")", stdout);
    } else if (is_model(option) || strcmp(option->name, "MODEL") == 0) {
        fputs("_dllm_model", stdout);
    } else if (option->kind == OPT_PATH) {
        fputs("_files", stdout);
    } else if (strcmp(option->name, "SHELL") == 0) {
        fputs("(bash zsh fish)", stdout);
    }
}

static void zsh_option(const struct opt *option)
{
    fputs("            ", stdout);
    if (option->kind == OPT_OPERAND) {
        fputs("'", stdout);
        zsh_value(option);
        puts("' \\");
        return;
    }
    if (option->repeatable)
        printf("'*'");
    else if (option->letter)
        printf("'(-%c --%s)'", option->letter, option->name);
    if (option->letter && takes_value(option))
        printf("{-%c+,--%s=}", option->letter, option->name);
    else
        printf("--%s%s", option->name, takes_value(option) ? "=" : "");
    fputs("'[", stdout);
    print_text(option->help, "[]\\:");
    fputs("]", stdout);
    if (takes_value(option))
        zsh_value(option);
    puts("' \\");
}

static void print_zsh(void)
{
    puts("#compdef dllm\n"
         "# zsh completion for dllm, printed by `dllm completion zsh`\n"
         "_dllm_model() {\n"
         "    _alternative 'names:model:(" MODEL_NAMES ")' 'files:file:_files'\n"
         "}\n"
         "_dllm() {\n"
         "    local -a commands=(");
    for (int i = 0; cli_commands[i]; i++) {
        printf("        '%s:", cli_commands[i]->table->command);
        print_text(cli_commands[i]->table->summary, "\\:");
        puts("'");
    }
    puts("        'help:The options of a command'\n"
         "    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $command in\n"
         "    help) _describe command commands ;;");
    for (int i = 0; cli_commands[i]; i++) {
        const struct opt_table *table = cli_commands[i]->table;

        printf("    %s)\n        _arguments -s \\\n", table->command);
        for (int j = 0; j < table->count; j++)
            if (opts_has(table, j))
                zsh_option(&table->options[j]);
        puts("            '(-h --help)'{-h,--help}'[this text]'\n        ;;");
    }
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _dllm ]; then\n"
         "    _dllm \"$@\"\n"
         "else\n"
         "    compdef _dllm dllm\n"
         "fi");
}

/* ---------------------------------------------------------------- fish --- */

static void fish_option(const char *command, const struct opt *option)
{
    if (option->kind == OPT_OPERAND)
        return;
    printf("complete -c dllm -n '__fish_seen_subcommand_from %s' -l %s", command, option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->kind == OPT_CHOICE) {
        fputs(" -x -a '", stdout);
        print_choices(option);
        fputs("'", stdout);
    } else if (is_model(option)) {
        fputs(" -r -a '" MODEL_NAMES "'", stdout);
    } else if (takes_value(option)) {
        fputs(option->kind == OPT_PATH ? " -r" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    for (const char *at = option->help; *at; at++)
        printf(strchr("'\\", *at) ? "\\%c" : "%c", *at);
    puts("'");
}

static void print_fish(void)
{
    puts("# fish completion for dllm, printed by `dllm completion fish`\n"
         "complete -c dllm -n __fish_use_subcommand -l version -d 'print the version'");
    for (int i = 0; cli_commands[i]; i++) {
        const struct opt_table *table = cli_commands[i]->table;

        printf("complete -c dllm -f -n __fish_use_subcommand -a %s -d '", table->command);
        for (const char *at = table->summary; *at; at++)
            printf(strchr("'\\", *at) ? "\\%c" : "%c", *at);
        puts("'");
        for (int j = 0; j < table->count; j++)
            if (opts_has(table, j))
                fish_option(table->command, &table->options[j]);
    }
    puts("complete -c dllm -f -n __fish_use_subcommand -a help -d 'The options of a command'\n"
         "complete -c dllm -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n"
         "complete -c dllm -n '__fish_seen_subcommand_from inspect pull' -a '" MODEL_NAMES "'");
    fputs("complete -c dllm -f -n '__fish_seen_subcommand_from help' -a '", stdout);
    print_commands();
    puts("'");
}

bool completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return false;
    return true;
}
