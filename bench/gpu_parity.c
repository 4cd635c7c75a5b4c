/*
 * gpu_parity.c: how near a GPU's answers are to the CPU's, and whether they are the
 * same every time. bench/gpu runs it and keeps what it prints.
 *
 * usage: gpu_parity MODEL...
 *
 * For each model: the logits of one canvas on the GPU beside the CPU's (beside
 * llama.cpp's too where a file .logits lies with .tokens next to the model), and
 * with half of the layers on the GPU; greedy generations on both; their numbers
 * when they are repeated, and when they share passes with others.
 * Prints one JSON object; exit status 1 where something is not as it must be: logits
 * outside the bounds of parity.h, other bits in another run, F32 models with other
 * ids than the CPU's.
 */
#include "dllm.h"
#include "parity.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANVAS = 24, GIVEN = 11, PROMPTS = 8, TOKENS = 8, NUMBERS = 6 };
static const int companies[] = {1, 3, PROMPTS};
enum { COMPANIES = sizeof companies / sizeof *companies };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    exit(2);
}

/* --- engines --- */

/* A model on a device, with sessions enough for all prompts. */
struct side {
    struct dllm_engine *engine;
    struct dllm_session *sessions[PROMPTS];
    struct dllm_model_info info;
};

static struct side open_side(const char *path, const char *device, const char *gpu_layers)
{
    struct dllm_engine_options options = {
        .model_path = path, .device = device, .gpu_layers = gpu_layers};
    struct dllm_error error;
    struct side side;

    if (dllm_engine_open(&options, &side.engine, &error))
        die(path, error.message);
    for (int i = 0; i < PROMPTS; i++)
        if (dllm_session_create(side.engine, &side.sessions[i], &error))
            die(path, error.message);
    dllm_engine_info(side.engine, &side.info);
    return side;
}

static void close_side(struct side *side)
{
    for (int i = 0; i < PROMPTS; i++)
        dllm_session_destroy(side->sessions[i]);
    dllm_engine_close(side->engine);
}

/* --- logits --- */

/* A canvas, and llama.cpp's logits of it where there are some. */
struct question {
    int32_t ids[CANVAS];
    float *peer; /* [CANVAS, vocab], or NULL */
};

/* What lies beside the model: its path with another ending. */
static FILE *open_beside(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    char name[4096];

    if (!dot)
        return NULL;
    snprintf(name, sizeof name, "%.*s%s", (int)(dot - path), path, ending);
    return fopen(name, "rbe");
}

static bool read_ids(const char *path, int32_t ids[CANVAS])
{
    FILE *file = open_beside(path, ".tokens");
    int count = 0;

    while (file && count < CANVAS && fscanf(file, "%d,", &ids[count]) == 1)
        count++;
    if (file)
        fclose(file);
    return count == CANVAS;
}

static float *logits_memory(int vocab)
{
    float *logits = malloc(sizeof *logits * CANVAS * (size_t)vocab);

    if (!logits)
        die("logits", "out of memory");
    return logits;
}

static float *read_peer(const char *path, int vocab)
{
    FILE *file = open_beside(path, ".logits");
    float *logits = logits_memory(vocab);
    bool whole = file && fread(logits, sizeof *logits * (size_t)vocab, CANVAS, file) == CANVAS;

    if (file)
        fclose(file);
    if (whole)
        return logits;
    free(logits);
    return NULL;
}

static struct question question_for(const char *path, const struct dllm_model_info *info)
{
    struct question question = {{0}, NULL};

    if (read_ids(path, question.ids)) {
        question.peer = read_peer(path, info->vocab);
        return question;
    }
    for (int i = 0; i < CANVAS; i++)
        question.ids[i] = i < GIVEN ? (i * 41 + 41) % info->vocab : info->mask_id;
    return question;
}

static float *logits_of(const struct side *side, const struct question *question)
{
    float *logits = logits_memory(side->info.vocab);
    int32_t rows[CANVAS];
    struct dllm_error error;

    for (int i = 0; i < CANVAS; i++)
        rows[i] = i;
    if (dllm_logits(side->sessions[0], question->ids, CANVAS, rows, CANVAS, true, logits, &error))
        die(side->info.device, error.message);
    return logits;
}

/* --- generations --- */

/* Every number that a generation tells of: for each committed token position, id,
 * confidence, probability, the likeliest other id and its probability. */
struct record {
    double numbers[TOKENS][NUMBERS];
    int count;
    int32_t ids[TOKENS];
};

static int keep_step(void *context, const struct dllm_step *step)
{
    struct record *record = context;

    for (size_t i = 0; i < step->committed && record->count < TOKENS; i++) {
        const struct dllm_choice *choice = &step->choices[i];
        const double numbers[NUMBERS] = {step->positions[i],   step->canvas[step->positions[i]],
                                         step->confidences[i], choice->probability,
                                         choice->runner_up,    choice->runner_up_probability};

        memcpy(record->numbers[record->count++], numbers, sizeof numbers);
    }
    return 0;
}

/* A generation on a thread of its own. */
struct guest {
    const struct side *side;
    int prompt;
    struct record record;
    pthread_t thread;
};

/* Prompts of different lengths, without masks. */
static int prompt_ids(const struct dllm_model_info *info, int prompt, int32_t ids[CANVAS])
{
    const int count = 3 + prompt;

    for (int i = 0; i < count; i++) {
        ids[i] = (i * 41 + prompt * 13 + 7) % info->vocab;
        ids[i] -= ids[i] == info->mask_id;
    }
    return count;
}

static void *generate(void *context)
{
    struct guest *guest = context;
    struct dllm_generate_options options;
    struct dllm_result result;
    struct dllm_error error;
    int32_t ids[CANVAS];
    int count = prompt_ids(&guest->side->info, guest->prompt, ids);

    guest->record = (struct record){.count = 0};
    dllm_generate_defaults(guest->side->engine, false, &options);
    options.max_tokens = options.block_length = TOKENS;
    options.no_early_stop = options.allow_long = options.record_choices = true;
    options.on_step = keep_step;
    options.context = &guest->record;
    if (dllm_generate(guest->side->sessions[guest->prompt], ids, (size_t)count, &options, &result,
                      &error))
        die(guest->side->info.device, error.message);
    memcpy(guest->record.ids, result.ids.ids, sizeof guest->record.ids);
    dllm_result_free(&result);
    return NULL;
}

static void generate_together(struct guest *guests, int count)
{
    struct dllm_error error;

    if (count > 1 && dllm_share_passes(guests->side->engine, count, &error))
        die(guests->side->info.device, error.message);
    for (int i = 0; i < count; i++)
        if (pthread_create(&guests[i].thread, NULL, generate, &guests[i]))
            die("threads", "one could not be started");
    for (int i = 0; i < count; i++)
        pthread_join(guests[i].thread, NULL);
    if (count > 1)
        dllm_share_passes(guests->side->engine, 0, NULL);
}

/* All prompts, so many at a time. */
static void generate_all(const struct side *side, int company, struct record records[PROMPTS])
{
    struct guest guests[PROMPTS];

    for (int i = 0; i < PROMPTS; i++)
        guests[i] = (struct guest){.side = side, .prompt = i};
    for (int i = 0; i < PROMPTS; i += company)
        generate_together(guests + i, PROMPTS - i < company ? PROMPTS - i : company);
    for (int i = 0; i < PROMPTS; i++)
        records[i] = guests[i].record;
}

static int count_same_ids(const struct record *a, const struct record *b)
{
    int same = 0;

    for (int i = 0; i < PROMPTS; i++)
        for (int at = 0; at < TOKENS; at++)
            same += a[i].ids[at] == b[i].ids[at];
    return same;
}

/* Generations that tell the same numbers to the last bit. */
static int count_same_records(const struct record *a, const struct record *b)
{
    int same = 0;

    for (int i = 0; i < PROMPTS; i++)
        same += a[i].count == b[i].count &&
                memcmp(a[i].numbers, b[i].numbers, sizeof a[i].numbers) == 0 &&
                memcmp(a[i].ids, b[i].ids, sizeof a[i].ids) == 0;
    return same;
}

/* --- a model --- */

static json_t *parity_json(const struct parity *parity)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:i, s:i}", "median_rms", parity->median_rms,
                     "worst_rms", parity->worst_rms, "median_cosine", parity->median_cosine,
                     "lowest_cosine", parity->lowest_cosine, "same_top", (int)parity->same_top,
                     "rows", (int)parity->rows);
}

/* Both devices, and one that has half of the layers. */
struct subject {
    const char *path;
    struct side cpu, gpu, half;
    struct question question;
    json_t *result;
    bool quantized, good;
};

static void put_parity(struct subject *subject, const char *key, const float *got,
                       const float *want)
{
    struct parity parity = parity_of_rows(got, want, CANVAS, (size_t)subject->cpu.info.vocab);
    char line[256];

    parity_describe(&parity, line, sizeof line);
    fprintf(stderr, "  %-14s %s\n", key, line);
    subject->good = subject->good && parity_is_good(&parity, subject->quantized);
    json_object_set_new(subject->result, key, parity_json(&parity));
}

static void compare_logits(struct subject *subject)
{
    const size_t bytes = sizeof(float) * CANVAS * (size_t)subject->cpu.info.vocab;
    float *cpu = logits_of(&subject->cpu, &subject->question);
    float *gpu = logits_of(&subject->gpu, &subject->question);
    float *again = logits_of(&subject->gpu, &subject->question);
    float *half = logits_of(&subject->half, &subject->question);
    bool same_bits = memcmp(gpu, again, bytes) == 0;

    put_parity(subject, "beside_cpu", gpu, cpu);
    put_parity(subject, "half_of_layers", half, cpu);
    if (subject->question.peer)
        put_parity(subject, "beside_llama", gpu, subject->question.peer);
    json_object_set_new(subject->result, "logits_repeat", json_boolean(same_bits));
    subject->good = subject->good && same_bits;
    free(cpu);
    free(gpu);
    free(again);
    free(half);
}

static void compare_generations(struct subject *subject)
{
    struct record cpu[PROMPTS], half[PROMPTS], alone[PROMPTS], other[PROMPTS];
    json_t *same = json_object();
    int ids;

    generate_all(&subject->cpu, 1, cpu);
    generate_all(&subject->half, 1, half);
    generate_all(&subject->gpu, 1, alone);
    ids = count_same_ids(alone, cpu);
    for (int i = 0; i < COMPANIES; i++) {
        char name[16];
        int count;

        generate_all(&subject->gpu, companies[i], other);
        count = count_same_records(alone, other);
        snprintf(name, sizeof name, "%d", companies[i]);
        json_object_set_new(same, name, json_integer(count));
        subject->good = subject->good && count == PROMPTS;
    }
    subject->good = subject->good && (subject->quantized || ids == PROMPTS * TOKENS);
    json_object_set_new(subject->result, "generations", json_integer(PROMPTS));
    json_object_set_new(subject->result, "same_in_company", same);
    json_object_set_new(subject->result, "ids", json_integer(PROMPTS * TOKENS));
    json_object_set_new(subject->result, "same_ids", json_integer(ids));
    json_object_set_new(subject->result, "same_ids_half", json_integer(count_same_ids(half, cpu)));
    fprintf(stderr, "  same ids as the CPU %d of %d\n", ids, PROMPTS * TOKENS);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static json_t *compare_model(const char *path, bool *good)
{
    struct subject subject = {.path = path, .good = true, .cpu = open_side(path, "cpu", NULL)};
    char half[16];

    snprintf(half, sizeof half, "%d", subject.cpu.info.layers / 2);
    subject.gpu = open_side(path, "gpu", NULL);
    subject.half = open_side(path, "gpu", half);
    subject.question = question_for(path, &subject.cpu.info);
    subject.quantized = strncmp(subject.cpu.info.quantization, "F32", 4) != 0;
    subject.result =
        json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "model", base_name(path), "arch",
                  subject.cpu.info.architecture, "quantization", subject.cpu.info.quantization,
                  "layers", subject.cpu.info.layers, "device", subject.gpu.info.device, "cpu_level",
                  subject.gpu.info.cpu_level);
    if (!subject.result)
        die("result", "out of memory");
    fprintf(stderr, "%s\n", base_name(path));
    compare_logits(&subject);
    compare_generations(&subject);
    json_object_set_new(subject.result, "good", json_boolean(subject.good));
    *good = *good && subject.good;
    close_side(&subject.cpu);
    close_side(&subject.gpu);
    close_side(&subject.half);
    free(subject.question.peer);
    return subject.result;
}

int main(int argc, char **argv)
{
    json_t *models = json_array(), *result;
    bool good = true;

    if (argc < 2) {
        fprintf(stderr, "usage: %s MODEL...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        json_array_append_new(models, compare_model(argv[i], &good));
    result = json_pack("{s:s, s:o}", "version", dllm_version(), "models", models);
    if (!result || json_dumpf(result, stdout, JSON_REAL_PRECISION(9)))
        die("result", "it could not be written");
    putchar('\n');
    json_decref(result);
    return !good;
}
