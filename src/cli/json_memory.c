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

void *cli_allocate(size_t size)
{
    static const char message[] = "error: out of memory\n";
    void *block = malloc(size);

    if (block || size == 0)
        return block;
    term_restore();
    out_file_remove_all();
    term_write(message, sizeof message - 1);
    _exit(CLI_FAILURE);
}

void cli_guard_json(void)
{
    json_set_alloc_funcs(cli_allocate, free);
}
