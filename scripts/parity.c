/*
 * parity.c: dllm beside llama.cpp on a model of the user's: the logits of one
 * pass, its hidden states layer by layer, or a generation step by step.
 * scripts/parity.sh builds and runs it.
 *
 * usage: parity logits FILE IDS THREADS
 *        parity layers FILE IDS THREADS
 *        parity generate FILE IDS THREADS POSITIONS STEPS
 *
 * generate: before each step both sides see the same canvas. dllm says how many
 * positions the step commits; the reference loop, over llama.cpp's logits,
 * takes as many: the surest best tokens of the block at hand. The first step
 * where the two differ is shown with both sides' confidences, and ends the run.
 */
#include "parity.h"
#include "dllm.h"
#include "hidden_states.h"
#include "llama_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 4096 };

/* Both programs on one model. */
struct sides {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    struct llama_peer_model *model;
    struct llama_peer_context *context;
    struct hidden_states own_states, peer_states; /* of the last pass with layers */
    bool *banned;                                 /* [vocab]: ids that are never predicted */
};

/* What one side thinks of a masked position. */
struct choice {
    int position;
    int32_t token;
    double sureness;
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    return 1;
}

/* Ids without text are never predicted, the mask among them. */
static bool list_banned(struct sides *sides)
{
    struct dllm_error error;

    sides->banned = calloc((size_t)sides->info.vocab, sizeof *sides->banned);
    for (int32_t id = 0; sides->banned && id < sides->info.vocab; id++) {
        struct dllm_text text = {0};

        dllm_decode(sides->engine, &id, 1, true, &text, &error);
        sides->banned[id] = text.size == 0 || id == sides->info.mask_id;
        dllm_text_free(&text);
    }
    return sides->banned != NULL;
}

/* With layers the peer keeps the hidden states of its passes. */
static const char *open_sides(struct sides *sides, const char *path, int threads, int canvas,
                              bool layers)
{
    static struct dllm_error error;
    struct llama_peer_options peer_options = {.canvas = canvas,
                                              .threads = threads,
                                              .on_layer = layers ? hidden_states_keep : NULL,
                                              .user = &sides->peer_states};
    struct dllm_engine_options options = {.model_path = path, .threads = threads};
    const char *why = llama_peer_open(NULL);

    if (why)
        return why;
    if (dllm_engine_open(&options, &sides->engine, &error) != DLLM_OK ||
        dllm_session_create(sides->engine, &sides->session, &error) != DLLM_OK)
        return error.message;
    dllm_engine_info(sides->engine, &sides->info);
    if (!list_banned(sides))
        return "out of memory";
    why = llama_peer_model_load(path, false, &sides->model);
    if (why)
        return why;
    return llama_peer_context_create(sides->model, &peer_options, &sides->context);
}

static void close_sides(struct sides *sides)
{
    llama_peer_context_free(sides->context);
    llama_peer_model_free(sides->model);
    dllm_session_destroy(sides->session);
    dllm_engine_close(sides->engine);
    hidden_states_free(&sides->own_states);
    hidden_states_free(&sides->peer_states);
    free(sides->banned);
}

static int parse_ids(const char *text, int32_t ids[MOST_IDS])
{
    int count = 0;
    char *end;

    for (; *text && count < MOST_IDS; text = end + (*end == ',')) {
        ids[count] = (int32_t)strtol(text, &end, 10);
        if (end == text)
            return 0;
        count++;
    }
    return count;
}

static int32_t top_of(const float *row, int vocab)
{
    int32_t best = 0;

    for (int32_t id = 1; id < vocab; id++)
        if (row[id] > row[best])
            best = id;
    return best;
}

/* Logits of every row from dllm, [count, vocab], owned by the caller; NULL after a message. */
static float *own_logits(const struct sides *sides, const int32_t *ids, int count)
{
    size_t rows = (size_t)count, vocab = (size_t)sides->info.vocab;
    float *logits = malloc(sizeof *logits * rows * vocab);
    int32_t *every = malloc(sizeof *every * rows);
    struct dllm_error error = {.message = "out of memory"};

    for (int i = 0; every && i < count; i++)
        every[i] = i;
    if (!logits || !every ||
        dllm_logits(sides->session, ids, rows, every, rows, true, logits, &error) != DLLM_OK) {
        complain("dllm", error.message);
        free(logits);
        logits = NULL;
    }
    free(every);
    return logits;
}

static int compare_logits(const struct sides *sides, const int32_t *ids, int count)
{
    int vocab = sides->info.vocab, same = 0;
    float *logits = own_logits(sides, ids, count);
    const char *why = logits ? llama_peer_forward(sides->context, ids, count) : NULL;

    if (!logits)
        return 1;
    if (why) {
        free(logits);
        return complain("llama.cpp", why);
    }
    printf("%4s %8s %12s %10s  %8s %9s\n", "row", "id", "relative RMS", "cosine", "dllm",
           "llama.cpp");
    for (int i = 0; i < count; i++) {
        const float *got = logits + (size_t)i * (size_t)vocab;
        const float *want = llama_peer_logits(sides->context, i);
        struct row_distance distance = parity_of_row(got, want, (size_t)vocab);

        same += distance.same_top;
        printf("%4d %8d %12.3e %10.7f  %8d %9d%s\n", i, (int)ids[i], distance.relative_rms,
               distance.cosine, (int)top_of(got, vocab), (int)top_of(want, vocab),
               distance.same_top ? "" : "  differs");
    }
    printf("same best id in %d of %d rows\n", same, count);
    free(logits);
    return 0;
}

static int drop_rows(void *context, const float *logits, size_t first, size_t count)
{
    (void)context, (void)logits, (void)first, (void)count;
    return 0;
}

static int compare_layers(struct sides *sides, const int32_t *ids, int count)
{
    struct dllm_logits_sink sink = {drop_rows, &sides->own_states, hidden_states_keep};
    struct dllm_logits_query query = {.ids = ids, .count = (size_t)count, .allow_long = true};
    int32_t rows[MOST_IDS];
    struct dllm_error error;
    const char *why;

    for (int i = 0; i < count; i++)
        rows[i] = i;
    query.rows = rows;
    query.row_count = query.count;
    if (dllm_logits_each(sides->session, &query, &sink, &error) != DLLM_OK)
        return complain("dllm", error.message);
    why = llama_peer_forward(sides->context, ids, count);
    if (why)
        return complain("llama.cpp", why);
    if (!hidden_states_compare(&sides->own_states, &sides->peer_states))
        return complain("the layers", "llama.cpp shows others under the names embd and l_out-N");
    return 0;
}

/* The best token that may be predicted from a row, and its probability. */
static struct choice best_of(const struct sides *sides, const float *row, int position)
{
    struct choice choice = {position, -1, 0};
    double sum = 0;

    for (int32_t id = 0; id < sides->info.vocab; id++)
        if (!sides->banned[id] && (choice.token < 0 || row[id] > row[choice.token]))
            choice.token = id;
    for (int32_t id = 0; id < sides->info.vocab; id++)
        if (!sides->banned[id])
            sum += exp((double)row[id] - (double)row[choice.token]);
    choice.sureness = 1 / sum;
    return choice;
}

/* The row whose logits score a position. */
static int row_of(const struct sides *sides, int position)
{
    return sides->info.shift_logits && position > 0 ? position - 1 : position;
}

/* A generation that is followed. */
struct follower {
    const struct sides *sides;
    int32_t *canvas; /* [length] before the step */
    int length, start, block;
    int steps; /* alike so far */
    bool differs;
    double largest;  /* difference of confidences so far */
    const char *why; /* what went wrong */
};

static int by_sureness(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;

    if (a->sureness != b->sureness)
        return a->sureness > b->sureness ? -1 : 1;
    return a->position - b->position;
}

/* The reference's choices for the masks of the first block that has some, surest
 * first; their number. */
static int peer_choices(struct follower *f, struct choice *out)
{
    int32_t mask = f->sides->info.mask_id;
    int first = f->start, count = 0;

    while (first < f->length && f->canvas[first] != mask)
        first++;
    first = f->start + (first - f->start) / f->block * f->block;
    f->why = llama_peer_forward(f->sides->context, f->canvas, f->length);
    for (int i = first; !f->why && i < first + f->block && i < f->length; i++)
        if (f->canvas[i] == mask)
            out[count++] =
                best_of(f->sides, llama_peer_logits(f->sides->context, row_of(f->sides, i)), i);
    qsort(out, (size_t)count, sizeof *out, by_sureness);
    return count;
}

static void print_choice(const struct sides *sides, const char *who, const struct choice *choice)
{
    struct dllm_text text = {0};
    struct dllm_error error;

    dllm_decode(sides->engine, &choice->token, 1, true, &text, &error);
    printf("%s %d (%.*s) at %.6f", who, (int)choice->token, (int)text.size,
           text.data ? text.data : "", choice->sureness);
    dllm_text_free(&text);
}

/* Both sides' choices for one position. */
static void print_both(const struct follower *f, const float *own, int position)
{
    size_t row = (size_t)row_of(f->sides, position);
    struct choice ours = best_of(f->sides, own + row * (size_t)f->sides->info.vocab, position);
    struct choice theirs =
        best_of(f->sides, llama_peer_logits(f->sides->context, (int)row), position);

    printf("  position %d: ", position);
    print_choice(f->sides, "dllm", &ours);
    print_choice(f->sides, ", llama.cpp", &theirs);
    putchar('\n');
}

static void show_difference(struct follower *f, const struct dllm_step *step,
                            const struct choice *peer)
{
    float *own = own_logits(f->sides, f->canvas, f->length);

    f->differs = true;
    printf("step %d differs; what each side thinks of the positions that either commits:\n",
           step->step + 1);
    for (size_t i = 0; own && i < step->committed; i++)
        print_both(f, own, step->positions[i]);
    for (size_t i = 0; own && i < step->committed; i++) {
        bool common = false;

        for (size_t j = 0; j < step->committed; j++)
            common = common || step->positions[j] == peer[i].position;
        if (!common)
            print_both(f, own, peer[i].position);
    }
    free(own);
}

/* Whether the reference commits the same tokens at the same positions. */
static bool is_same(struct follower *f, const struct dllm_step *step, const struct choice *peer)
{
    for (size_t i = 0; i < step->committed; i++) {
        bool found = false;

        for (size_t j = 0; j < step->committed && !found; j++) {
            found = peer[j].position == step->positions[i] &&
                    peer[j].token == step->canvas[step->positions[i]];
            if (found)
                f->largest = fmax(f->largest, fabs(peer[j].sureness - step->confidences[i]));
        }
        if (!found)
            return false;
    }
    return true;
}

static int on_step(void *context, const struct dllm_step *step)
{
    struct follower *f = context;
    struct choice *peer = malloc(sizeof *peer * (size_t)f->length);
    int count = peer && step->computed ? peer_choices(f, peer) : 0;

    if (!peer)
        f->why = "out of memory";
    if (!f->why && step->committed && (size_t)count < step->committed)
        f->why = "dllm commits more than the block holds";
    if (!f->why && step->committed && !is_same(f, step, peer))
        show_difference(f, step, peer);
    free(peer);
    f->steps += !f->differs;
    memcpy(f->canvas, step->canvas, sizeof *f->canvas * (size_t)f->length);
    return f->why || f->differs;
}

static int follow(const struct sides *sides, int32_t *ids, int count, int positions, int steps)
{
    struct follower f = {
        .sides = sides, .canvas = ids, .length = count + positions, .start = count};
    struct dllm_generate_options options;
    struct dllm_result result = {0};
    struct dllm_error error;
    int32_t prompt[MOST_IDS];

    memcpy(prompt, ids, sizeof *ids * (size_t)count);
    dllm_generate_defaults(sides->engine, false, &options);
    options.max_tokens = positions;
    options.steps = steps;
    options.temperature = 0;
    options.remasking = DLLM_REMASKING_LOW_CONFIDENCE;
    options.no_early_stop = options.allow_long = true;
    options.on_step = on_step;
    options.context = &f;
    f.block = options.block_length ? options.block_length : positions;
    for (int i = 0; i < positions; i++)
        ids[count + i] = sides->info.mask_id;
    if (dllm_generate(sides->session, prompt, (size_t)count, &options, &result, &error) != DLLM_OK)
        return complain("the generation", error.message);
    dllm_result_free(&result);
    if (f.why)
        return complain("llama.cpp", f.why);
    printf("%d steps the same; confidences differ by at most %.2e there\n", f.steps, f.largest);
    return f.differs;
}

int main(int argc, char **argv)
{
    bool logits = argc == 5 && strcmp(argv[1], "logits") == 0;
    bool layers = argc == 5 && strcmp(argv[1], "layers") == 0;
    bool generate = argc == 7 && strcmp(argv[1], "generate") == 0;
    static int32_t ids[MOST_IDS];
    struct sides sides = {0};
    int count, positions = generate ? atoi(argv[5]) : 0, code;
    const char *why;

    if (!logits && !layers && !generate) {
        fprintf(stderr,
                "usage: %s logits|layers FILE IDS THREADS\n"
                "       %s generate FILE IDS THREADS POSITIONS STEPS\n",
                argv[0], argv[0]);
        return 2;
    }
    count = parse_ids(argv[3], ids);
    if (count == 0 || positions < 0 || count + positions > MOST_IDS)
        return complain("IDS", "expected token ids such as 3,5,17, from 1 to 4096 together with "
                               "the positions to generate");
    why = open_sides(&sides, argv[2], atoi(argv[4]), count + positions, layers);
    if (why)
        code = complain(argv[2], why);
    else if (logits)
        code = compare_logits(&sides, ids, count);
    else if (layers)
        code = compare_layers(&sides, ids, count);
    else
        code = follow(&sides, ids, count, positions, atoi(argv[6]));
    close_sides(&sides);
    return code;
}
