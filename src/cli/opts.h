/*
 * opts.h: command-line options. Each command declares one table; the table
 * parses the arguments, checks kinds and ranges, finds contradictions and
 * prints the help text, so that none of these can disagree.
 *
 * Forms: --name value, --name=value, -x value, -xvalue, flags without a value,
 * "--" before operands that start with a dash. An option's value is the next
 * argument whatever it looks like.
 */
#ifndef OPTS_H
#define OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
    OPT_FLAG,
    OPT_INTEGER, /* whole number in [low, high] */
    OPT_NUMBER,  /* number in [least, most] */
    OPT_TEXT,    /* any text */
    OPT_PATH,    /* a file name */
    OPT_CHOICE,  /* one of choices */
    OPT_DEVICE,  /* cpu, gpu, gpu:N or auto */
    OPT_LAYERS,  /* a whole number, all or auto */
    OPT_IDS,     /* whole numbers from 0, separated by commas */
    OPT_OPERAND  /* an argument without an option's name */
};

struct opt {
    const char *name; /* long name without the dashes; of an operand: as usage shows it */
    char letter;      /* short form, 0: none */
    enum opt_kind kind;
    bool required;
    bool repeatable;      /* OPT_TEXT may be given several times */
    bool may_be_empty;    /* OPT_TEXT may be "" */
    bool once;            /* of a whole command, not of one request of a batch */
    int group;            /* options of one group exclude each other; 0: none */
    const char *metavar;  /* the value's name in the help text */
    const char *fallback; /* the default as the help text shows it; NULL: none */
    const char *help;
    int64_t low, high;
    double least, most;
    const char *const *choices; /* ends in NULL */
    const char *off;            /* the number or choice that switches it off; NULL: none does */
    const char *agrees;         /* the choice that no conflict concerns; NULL: they concern all */
};

/* Two options that may not come together, and why. */
struct opt_conflict {
    int first, second;
    const char *why;
};

enum { OPT_LIMIT = 64, OPT_GROUPS = 4 };

struct opt_table {
    const char *command;
    const char *usage;   /* what follows "dllm COMMAND" */
    const char *summary; /* one line */
    const char *notes;   /* after the options; NULL: none */
    const struct opt *options;
    int count;       /* at most OPT_LIMIT */
    uint64_t absent; /* bit i: option i is another command's that shares the list */
    const struct opt_conflict *conflicts;
    int conflict_count;
    const char *group_why[OPT_GROUPS];     /* [group]: why its options exclude each other */
    const char *group_missing[OPT_GROUPS]; /* the error when none is given; NULL: not needed */
};

/* What was given for one option. texts and ids are owned by struct opts. */
struct opt_value {
    int given;     /* how many times */
    bool off;      /* given as the value that switches the option off */
    bool agrees;   /* given as the choice that no conflict concerns */
    bool borrowed; /* texts and ids belong to other options */
    bool denied;   /* not given, and not to be inherited either */
    const char *text;
    int64_t integer;
    double number;
    int choice;         /* index into choices */
    const char **texts; /* [given], repeatable options */
    int32_t *ids;
    size_t id_count;
};

struct opts {
    const struct opt_table *table;
    struct opt_value values[OPT_LIMIT];
    bool help;         /* --help or -h was given */
    char problem[800]; /* the first usage error, "" if there is none */
};

/* Whether the table has its option of this index. */
bool opts_has(const struct opt_table *table, int index);

/* Parses argv [argc], the arguments after the command's name. Texts point into
 * argv. Free with opts_free, whatever came out. */
void opts_parse(const struct opt_table *table, int argc, char **argv, struct opts *out);
void opts_free(struct opts *opts);

/* Whether the option was given, and not as off. One that is off contradicts nothing and has an
 * effect nowhere; it only takes the place of a default, a preset or an inherited value. */
bool opts_in_force(const struct opts *opts, int index);

/* Takes the values that opts lacks from those of another line, by the same table,
 * but none that is denied or contradicts what was given, and looks for contradictions again.
 * base must outlive opts. */
void opts_inherit(struct opts *opts, const struct opts *base);

/* The option's index in the table, -1 if there is none of that name. */
int opts_find(const struct opt_table *table, const char *name);

/* The help text of a command. */
void opts_print_help(const struct opt_table *table, FILE *stream);

/* Records a usage error unless there is one already. */
void opts_problem(struct opts *opts, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads text as the option's kind demands into out; false: a problem was
 * recorded. (opts_value.c) */
bool opts_read_value(struct opts *opts, const struct opt *option, const char *text,
                     struct opt_value *out);

/* A list of ids, "1,2,3"; brackets around it and blanks are allowed. NULL if
 * text is none (or memory ran out); else malloc'ed. (opts_value.c) */
int32_t *opts_parse_ids(const char *text, size_t *count);

/* An option as another program calls it, without the dashes, and what it is here. */
struct opt_synonym {
    const char *theirs, *ours;
    const char *value; /* of ours, which theirs stands for; NULL: theirs has a value itself */
};
extern const struct opt_synonym opts_synonyms[]; /* ends in an entry of NULLs (synonyms.c) */

/* The synonym of that name, underscores or dashes, behind `before` (NULL: the first one), whose
 * option the table has; NULL if there is none. (synonyms.c) */
const struct opt_synonym *opts_next_synonym(const struct opt_table *table, const char *name,
                                            const struct opt_synonym *before);

/* The one of names [count] that is nearest to text, NULL if none is near.
 * Entries may be NULL. (suggest.c) */
const char *opts_suggest(const char *text, const char *const *names, int count);

#endif
