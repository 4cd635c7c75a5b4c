/* commands.c: the commands of the program, in the order in which help lists them. */
#include "cli.h"

#include <stddef.h>

const struct command *const cli_commands[] = {&command_run,        &command_tokenize,
                                              &command_inspect,    &command_logits,
                                              &command_bench,      &command_trace,
                                              &command_chat,       &command_pull,
                                              &command_doctor,     &command_eval,
                                              &command_score,      &command_quantize,
                                              &command_completion, NULL};
