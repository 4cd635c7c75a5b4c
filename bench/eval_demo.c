/*
 * eval_demo.c: how often the demo model answers right, and with how many
 * forward passes, under several decoding settings: the instrument that a
 * decoding option is judged with. Every setting answers the same held-out
 * questions; each is compared with the first one question by question (exact
 * McNemar test).
 *
 * usage: eval_demo [-m MODEL]... [-o OUT.json] [-q QUESTIONS.jsonl] [-e N] [SETTING]...
 *
 * A setting is steps/block, or steps/block/tX (threshold X), or steps/block/fX
 * (factor X). With several models, each runs every setting. -e N asks every
 * Nth question only.
 */
#include "demo_questions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODELS = 8, SETTINGS = 24, RUNS = 48, KINDS = 32, NAME_BYTES = 64 };

/* One model under one setting. */
struct run {
    const char *model, *name;
    struct demo_setting setting;
    char *right; /* [questions] '1' or '0', ending in NUL */
    int right_count;
    int kind_right[KINDS];
    long forward_passes;
};

struct evaluation {
    const char *models[MODELS];
    int model_count;
    const char *settings[SETTINGS];
    int setting_count;
    const char *out, *questions_path;
    size_t every;
    json_t *questions;
    size_t asked;
    const char *kinds[KINDS];
    int kind_asked[KINDS], kind_count;
    struct run runs[RUNS];
    int run_count;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    return 1;
}

static bool parse_setting(const char *text, struct demo_setting *out)
{
    char letter;
    double number;
    int fields = sscanf(text, "%d/%d/%c%lf", &out->steps, &out->block_length, &letter, &number);

    out->threshold = out->factor = 0;
    if (fields == 4 && letter == 't')
        out->threshold = number;
    else if (fields == 4 && letter == 'f')
        out->factor = number;
    else
        return fields == 2;
    return true;
}

static int kind_index(struct evaluation *all, const char *kind)
{
    int i = 0;

    while (i < all->kind_count && strcmp(all->kinds[i], kind) != 0)
        i++;
    if (i == all->kind_count && i < KINDS) {
        all->kinds[i] = kind;
        all->kind_count++;
    }
    return i < KINDS ? i : KINDS - 1;
}

/* Asks everything; false after a message. */
static bool ask_all(struct evaluation *all, struct dllm_engine *engine, struct run *run)
{
    struct dllm_session *session = NULL;
    struct dllm_error error = {0};
    struct demo_reply reply;
    bool fine = dllm_session_create(engine, &session, &error) == DLLM_OK;

    for (size_t i = 0; fine && i < all->asked; i++) {
        struct demo_question question = demo_question_get(all->questions, i * all->every);
        fine =
            demo_question_ask(engine, session, &question, &run->setting, &reply, &error) == DLLM_OK;
        if (!fine)
            break;
        run->right[i] = reply.right ? '1' : '0';
        run->right_count += reply.right;
        run->kind_right[kind_index(all, question.kind)] += reply.right;
        run->forward_passes += reply.forward_passes;
    }
    if (!fine)
        fail(run->name, error.message);
    dllm_session_destroy(session);
    return fine;
}

/* The probability, both ways, of a split as uneven as (better, worse) when
 * either is as likely: exact McNemar. */
static double mcnemar(int better, int worse)
{
    int total = better + worse, least = better < worse ? better : worse;
    double sum = 0;

    for (int k = 0; k <= least; k++)
        sum += exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) - total * log(2));
    return sum > 0.5 ? 1 : 2 * sum;
}

/* Questions that only run has right, and that only base has right. */
static void compare(const struct run *base, const struct run *run, int *better, int *worse)
{
    *better = *worse = 0;
    for (size_t i = 0; base->right[i]; i++) {
        *better += run->right[i] > base->right[i];
        *worse += run->right[i] < base->right[i];
    }
}

static void print_run(const struct evaluation *all, const struct run *run)
{
    int better, worse;

    compare(&all->runs[0], run, &better, &worse);
    printf("%-24s %-14s %6.1f %% %8.1f    +%d -%d, p = %.3g\n", run->model, run->name,
           100.0 * run->right_count / (double)all->asked,
           (double)run->forward_passes / (double)all->asked, better, worse, mcnemar(better, worse));
}

static void print_tables(const struct evaluation *all)
{
    printf("%-24s %-14s %8s %8s    against the first\n", "model", "steps/block", "right",
           "forwards");
    for (int r = 0; r < all->run_count; r++)
        print_run(all, &all->runs[r]);
    printf("\n%-24s %8s", "kind", "asked");
    for (int r = 0; r < all->run_count; r++)
        printf(" %10s", all->runs[r].name);
    printf("\n");
    for (int k = 0; k < all->kind_count; k++) {
        printf("%-24s %8d", all->kinds[k], all->kind_asked[k]);
        for (int r = 0; r < all->run_count; r++)
            printf(" %8.1f %%", 100.0 * all->runs[r].kind_right[k] / all->kind_asked[k]);
        printf("\n");
    }
}

static json_t *run_json(const struct evaluation *all, const struct run *run)
{
    json_t *kinds = json_object();
    int better, worse;

    compare(&all->runs[0], run, &better, &worse);
    for (int k = 0; k < all->kind_count; k++)
        json_object_set_new(
            kinds, all->kinds[k],
            json_pack("{s:i, s:i}", "right", run->kind_right[k], "asked", all->kind_asked[k]));
    return json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:i, s:f, s:o, s:i, s:i, s:f, s:s}", "model",
                     run->model, "setting", run->name, "steps", run->setting.steps, "block_length",
                     run->setting.block_length, "threshold", run->setting.threshold, "factor",
                     run->setting.factor, "right", run->right_count, "forwards_per_answer",
                     (double)run->forward_passes / (double)all->asked, "kinds", kinds, "better",
                     better, "worse", worse, "mcnemar_p", mcnemar(better, worse), "answers",
                     run->right);
}

static int write_json(const struct evaluation *all)
{
    json_t *runs = json_array();
    json_t *root = json_pack("{s:s, s:s, s:i, s:i, s:o}", "version", dllm_version(), "questions",
                             all->questions_path, "asked", (int)all->asked, "canvas", DEMO_CANVAS,
                             "runs", runs);
    int status = 0;

    for (int r = 0; r < all->run_count; r++)
        json_array_append_new(runs, run_json(all, &all->runs[r]));
    if (json_dump_file(root, all->out, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0)
        status = fail(all->out, "cannot be written");
    json_decref(root);
    return status;
}

/* Runs every setting on the model at path. */
static bool evaluate_model(struct evaluation *all, const char *path)
{
    struct dllm_engine_options options = {.model_path = path};
    struct dllm_engine *engine = NULL;
    struct dllm_error error = {0};
    bool fine = dllm_engine_open(&options, &engine, &error) == DLLM_OK;

    if (!fine)
        fail(path, error.message);
    for (int s = 0; fine && s < all->setting_count && all->run_count < RUNS; s++) {
        struct run *run = &all->runs[all->run_count++];
        *run = (struct run){.model = path, .name = all->settings[s]};
        run->right = calloc(1, all->asked + 1);
        fine = run->right && parse_setting(run->name, &run->setting) && ask_all(all, engine, run);
        fprintf(stderr, "%s %s: %d of %zu\n", path, run->name, run->right_count, all->asked);
    }
    dllm_engine_close(engine);
    return fine;
}

static bool parse_arguments(struct evaluation *all, int argc, char **argv)
{
    struct demo_setting setting;
    int letter;

    while ((letter = getopt(argc, argv, "m:o:q:e:")) != -1) {
        if (letter == 'm' && all->model_count < MODELS)
            all->models[all->model_count++] = optarg;
        else if (letter == 'o')
            all->out = optarg;
        else if (letter == 'q')
            all->questions_path = optarg;
        else if (letter == 'e' && atoi(optarg) > 0)
            all->every = (size_t)atoi(optarg);
        else
            return false;
    }
    for (; optind < argc && all->setting_count < SETTINGS; optind++) {
        if (!parse_setting(argv[optind], &setting))
            return false;
        all->settings[all->setting_count++] = argv[optind];
    }
    return optind == argc;
}

static void fill_defaults(struct evaluation *all)
{
    static const char *const settings[] = {"64/64", "64/32", "64/16", "64/8", "32/64",
                                           "32/32", "32/8",  "16/64", "16/8", "8/8"};

    if (all->model_count == 0)
        all->models[all->model_count++] = DLLM_DEMO_MODEL;
    if (all->setting_count == 0)
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            all->settings[all->setting_count++] = settings[i];
}

static void count_kinds(struct evaluation *all)
{
    all->asked = (json_array_size(all->questions) + all->every - 1) / all->every;
    for (size_t i = 0; i < all->asked; i++) {
        struct demo_question question = demo_question_get(all->questions, i * all->every);
        all->kind_asked[kind_index(all, question.kind)]++;
    }
}

int main(int argc, char **argv)
{
    static struct evaluation all = {.questions_path = DEMO_QUESTIONS_PATH, .every = 1};
    bool fine = true;
    int status = 0;

    if (!parse_arguments(&all, argc, argv))
        return fail("usage", "eval_demo [-m MODEL]... [-o OUT.json] [-q QUESTIONS.jsonl] [-e N] "
                             "[STEPS/BLOCK[/tTHRESHOLD|/fFACTOR]]...");
    fill_defaults(&all);
    all.questions = demo_questions_load(all.questions_path);
    if (!all.questions)
        return fail(all.questions_path, "cannot be read; run this in the root of the tree");
    count_kinds(&all);
    for (int m = 0; fine && m < all.model_count; m++)
        fine = evaluate_model(&all, all.models[m]);
    if (fine)
        print_tables(&all);
    if (fine && all.out)
        status = write_json(&all);
    for (int r = 0; r < all.run_count; r++)
        free(all.runs[r].right);
    json_decref(all.questions);
    return fine ? status : 1;
}
