/*
 * json_memory.c: what JSON values are made with. Jansson does not bear a lack of
 * memory everywhere: reading, it runs over its buffer; writing, it leaves names
 * out. So the program ends there: nobody uses JSON but its commands, whose files
 * are whole or not there at any moment.
 */
#include "cli.h"
#include "out.h"
#include "term.h"

#include <stdlib.h>
#include <unistd.h>

_Noreturn void cli_end_without_memory(void)
{
    static const char message[] = "error: out of memory\n";

    term_restore();
    out_file_remove_all();
    term_write(message, sizeof message - 1);
    _exit(CLI_FAILURE);
}

void *cli_allocate(size_t size)
{
    void *block = malloc(size);

    if (!block && size)
        cli_end_without_memory();
    return block;
}

void cli_guard_json(void)
{
    json_set_alloc_funcs(cli_allocate, free);
}
