/* completion.h: completion scripts for shells. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include <stdbool.h>

/* Prints the script for bash, zsh or fish to stdout; false for another name. */
bool completion_print(const char *shell);

#endif
