/*
 * test_synonyms.c: the options that other programs call otherwise.
 *
 * What would break: a message that sends somebody to an option, or to a value of it, that no
 * command has; an entry that is never found because a command has an option of that name itself.
 */
#include "cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool has_choice(const struct opt *option, const char *value)
{
    if (option->kind != OPT_CHOICE)
        return false;
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], value) == 0)
            return true;
    return false;
}

/* Whether the entry says something true of the command: it has the option, with that value,
 * and not the other program's. */
static bool holds(const struct opt_synonym *synonym, const struct opt_table *table)
{
    int index = opts_find(table, synonym->ours);

    if (index < 0)
        return false;
    if (synonym->value && !has_choice(&table->options[index], synonym->value))
        fail_msg("--%s of %s does not take %s", synonym->ours, table->command, synonym->value);
    return opts_find(table, synonym->theirs) < 0;
}

static void test_targets(void **state)
{
    (void)state;
    for (const struct opt_synonym *at = opts_synonyms; at->theirs; at++) {
        int commands = 0;
        for (int i = 0; i < CLI_COMMANDS; i++)
            commands += holds(at, cli_commands[i]->table);
        if (!commands)
            fail_msg("no command has --%s for --%s", at->ours, at->theirs);
    }
}

static void test_each_once(void **state)
{
    (void)state;
    for (const struct opt_synonym *a = opts_synonyms; a->theirs; a++)
        for (const struct opt_synonym *b = a + 1; b->theirs; b++)
            if (strcmp(a->theirs, b->theirs) == 0 && strcmp(a->ours, b->ours) == 0)
                fail_msg("--%s is --%s twice", a->theirs, a->ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_each_once),
    };

    return cmocka_run_group_tests_name("synonyms", tests, NULL, NULL);
}
