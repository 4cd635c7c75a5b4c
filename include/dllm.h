/*
 * dllm.h: run masked-diffusion language models (LLaDA, Dream) from GGUF files.
 *
 * An engine is a loaded model: immutable, shared by any number of sessions.
 * A session is one mutable timeline: it owns the workspace of a canvas. Whoever
 * opens an engine destroys its sessions first, in any order, then closes it.
 *
 * Threads: any function may be called from any thread, and calls may overlap unless
 * they use the same session, the same product (below), or what one of them closes,
 * destroys or frees. Sessions of one engine take turns, pass by pass, at its threads;
 * dllm_session_create_apart says who does not. Callbacks come on the thread of the call
 * that they were given to, but for dllm_read_callback; they may call the library,
 * though not with the session at work, unless they say otherwise. Threads of the library (a GPU's
 * driver has its own) block all signals but those that their own faults raise. A thread that
 * calls needs a stack of 64 KiB, and rounds to nearest as programs do by default: results are not
 * the same otherwise. After fork the child has none of the library's threads: it may call exec,
 * but nothing here with what was opened before, dllm_engine_close included.
 *
 * Errors: every function that can fail returns a dllm_status and, when the caller
 * passes an error record (NULL: none), fills in a message that says what is wrong, what was
 * expected and what to do. What it hands out is then NULL or holds nothing to
 * free. Its comment says with which status it fails; any that allocates may fail
 * with DLLM_ERROR_MEMORY, any that runs a model on a GPU with DLLM_ERROR_DEVICE. After an
 * error a session can be used again, unless its GPU failed. Some messages advise an option of
 * the program, such as --device: that is the field or argument of this name here; for --no-chat
 * dllm_encode, for --parallel fewer calls at once. The library never prints, exits or aborts.
 *
 * Pointers may not be NULL and texts (const char *) end in NUL unless it says otherwise; an
 * array of no elements may be NULL. Lengths and positions count tokens, sizes bytes; token ids
 * are those of the model's vocabulary, from 0 to dllm_model_info's vocab - 1. A canvas has at most
 * 4,194,304 positions.
 */
#ifndef DLLM_H
#define DLLM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DLLM_API __attribute__((visibility("default")))
#else
#define DLLM_API
#endif

/* ------------------------------------------------------------- errors --- */

enum dllm_status {
    DLLM_OK = 0,
    DLLM_ERROR_USAGE,       /* an argument is out of range or contradictory */
    DLLM_ERROR_IO,          /* the operating system refused a file operation */
    DLLM_ERROR_FORMAT,      /* a file's contents are not what they must be */
    DLLM_ERROR_UNSUPPORTED, /* a valid file asks for something not built in */
    DLLM_ERROR_MEMORY,      /* an allocation failed */
    DLLM_ERROR_NUMERIC,     /* NaN or no finite value where one is needed */
    DLLM_INTERRUPTED,       /* a callback asked to stop */
    DLLM_ERROR_DEVICE       /* a GPU is not there, too small, or failed: that stays, close the
                               engine */
};

/* Filled by a failing call, to be looked at after one alone. message ends in NUL; its own words
 * are ASCII, names in it are as a file or the caller has them, and a long one is cut. */
struct dllm_error {
    enum dllm_status status;
    char message[1000];
};

/* The version of this header, for #if. */
#define DLLM_VERSION_MAJOR 0
#define DLLM_VERSION_MINOR 1
#define DLLM_VERSION_PATCH 0

/* Version of the library, such as "0.1.0". Static storage. */
DLLM_API const char *dllm_version(void);

/* -------------------------------------------------------------- strings --- */

/* Bytes that need not end in NUL and may contain any byte. Not owned; data may be NULL where
 * size is 0. */
struct dllm_string {
    const char *data;
    size_t size;
};

/* Token ids owned by the caller; free with dllm_ids_free. */
struct dllm_ids {
    int32_t *ids;
    size_t count;
};

/* Bytes owned by the caller (a NUL follows the last one); free with
 * dllm_text_free. */
struct dllm_text {
    char *data;
    size_t size;
};

/* Both zero the record, and accept a zeroed or already freed one. */
DLLM_API void dllm_ids_free(struct dllm_ids *ids);
DLLM_API void dllm_text_free(struct dllm_text *text);

/* ----------------------------------------------------------- GGUF files --- */

/* The value types of GGUF, numbered as in the format. */
enum dllm_value_type {
    DLLM_VALUE_U8 = 0,
    DLLM_VALUE_I8,
    DLLM_VALUE_U16,
    DLLM_VALUE_I16,
    DLLM_VALUE_U32,
    DLLM_VALUE_I32,
    DLLM_VALUE_F32,
    DLLM_VALUE_BOOL,
    DLLM_VALUE_STRING,
    DLLM_VALUE_ARRAY,
    DLLM_VALUE_U64,
    DLLM_VALUE_I64,
    DLLM_VALUE_F64
};

/* A metadata value. It and what it points to live as long as the file. Unsigned kinds and bool are
 * in u, signed in i, floats in f, strings in s (points into the mapped file). An array has its
 * element type and count here; read its elements with an iterator. */
struct dllm_value {
    enum dllm_value_type type;
    union {
        uint64_t u;
        int64_t i;
        double f;
        struct dllm_string s;
        struct {
            enum dllm_value_type element_type;
            uint64_t count;
            const uint8_t *bytes; /* first element, inside the mapped file */
            uint64_t size;        /* bytes of all elements */
        } array;
    };
};

struct dllm_key {
    struct dllm_string name;
    struct dllm_value value;
};

/* A tensor of the directory. shape[0] is the row length; unused dims are 1. */
struct dllm_tensor {
    struct dllm_string name;
    uint32_t dims;
    uint64_t shape[4];
    uint32_t type;    /* GGUF type id; dllm_type_name says its name */
    uint32_t part;    /* of the files of a split model the one it lies in, from 0 */
    uint64_t offset;  /* from the start of that file, bytes */
    uint64_t size;    /* bytes */
    const void *data; /* inside the mapping */
};

struct dllm_file;

/* Stands for the built-in demo model wherever the path of a model is asked for;
 * it is opened without touching the disk. A file of that name is "./demo". */
#define DLLM_DEMO_MODEL "demo"

/* Maps the file at path and checks its whole directory. The path of any part of a split model
 * (NAME-00001-of-00003.gguf) opens all of them as one. On success *out must be closed with
 * dllm_file_close. DLLM_ERROR_IO for a file, or a part, that cannot be opened or mapped, is empty
 * or no regular file; DLLM_ERROR_FORMAT for one that is no GGUF file or damaged;
 * DLLM_ERROR_UNSUPPORTED for a version, or a type of values or of weights, that is not built in. */
DLLM_API enum dllm_status dllm_file_open(const char *path, struct dllm_file **out,
                                         struct dllm_error *error);
/* Takes NULL. What was got from the file must not be used any more. */
DLLM_API void dllm_file_close(struct dllm_file *file);

/* The path of the open file (of an engine's, too) whose bytes lie at the address, NULL if none do.
 * A file that becomes shorter while it is open, or whose disk fails, raises SIGBUS where its bytes
 * are used. The library installs no handler; a program's own may call this with si_addr to say
 * which file it was, and must then end the process. */
DLLM_API const char *dllm_path_at(const void *address);

/* Looks into the first bytes of a model that is not there as a whole; a megabyte
 * is enough. DLLM_OK unless they show that this build cannot run it, so for too few bytes to tell,
 * or none: DLLM_ERROR_FORMAT if they are no GGUF file's, DLLM_ERROR_UNSUPPORTED if its version or
 * architecture is not built in. name stands for the path in messages. */
DLLM_API enum dllm_status dllm_check_start(const char *name, const void *bytes, size_t size,
                                           struct dllm_error *error);

/* Header facts; version is 2 or 3, size in bytes, of all parts together. */
DLLM_API uint32_t dllm_file_version(const struct dllm_file *file);
DLLM_API uint64_t dllm_file_size(const struct dllm_file *file);
DLLM_API size_t dllm_file_key_count(const struct dllm_file *file);
DLLM_API size_t dllm_file_tensor_count(const struct dllm_file *file);

/* The files of a split model in order, 1 otherwise; index < the count, sizes in
 * bytes. A path lives as long as the file. */
DLLM_API size_t dllm_file_part_count(const struct dllm_file *file);
DLLM_API const char *dllm_file_part_path(const struct dllm_file *file, size_t index);
DLLM_API uint64_t dllm_file_part_size(const struct dllm_file *file, size_t index);

/* index < the count; the record lives as long as the file. */
DLLM_API const struct dllm_key *dllm_file_key(const struct dllm_file *file, size_t index);
DLLM_API const struct dllm_tensor *dllm_file_tensor(const struct dllm_file *file, size_t index);

/* NULL when there is none. name ends in NUL. */
DLLM_API const struct dllm_key *dllm_file_find_key(const struct dllm_file *file, const char *name);
DLLM_API const struct dllm_tensor *dllm_file_find_tensor(const struct dllm_file *file,
                                                         const char *name);

/* Walks an array value: set *at to 0, call until it returns false, as it does at once for a value
 * that is none. Elements that are arrays themselves do not occur: the reader refuses them. */
DLLM_API bool dllm_array_next(const struct dllm_value *array, uint64_t *at,
                              struct dllm_value *element);

/* The name of a type of weights, "Q4_K" for 12; NULL for an unknown id. Static storage. */
DLLM_API const char *dllm_type_name(uint32_t type);

/* --------------------------------------------------------- quantizing --- */

/* How far dllm_quantize is. */
struct dllm_quantize_progress {
    size_t tensor, tensors; /* the one at work, from 0; all */
    uint64_t bytes_read, bytes_to_read;
    uint64_t bytes_written, bytes_to_write;
};

struct dllm_quantize_options {
    const char *type; /* Q8_0, Q6_K, Q5_K, Q4_K, or the mixes Q5_K_M and Q4_K_M; or q8_0 */
    int threads;      /* up to 1024; 0: the cores this process may use */
    /* Takes the next bytes of the new file, which are valid until it returns; false: they could
     * not be written. */
    bool (*write)(void *user, const void *data, size_t size);
    /* Called before the first byte and after each portion, unless NULL; false stops with
     * DLLM_INTERRUPTED. */
    bool (*on_progress)(void *user, const struct dllm_quantize_progress *progress);
    void *user;
};

/*
 * Writes the GGUF file at `in` anew with its matrices in blocks. They must be
 * F32, F16 or BF16. Vectors, norms, routers and metadata are carried over. In a
 * mix the output matrix and some of the value and down projections are Q6_K. Rows
 * that are no multiple of 256 get the nearest type of 32 weights a block. The
 * bytes do not depend on the number of threads. *result, if not NULL, is the
 * state at the end; it is left alone by a call that fails: as dllm_file_open, with
 * DLLM_ERROR_USAGE for an unknown type or a wrong number of threads, DLLM_ERROR_UNSUPPORTED for
 * matrices that are quantized already, DLLM_ERROR_NUMERIC for weights that are not finite or too
 * large for the type, DLLM_ERROR_IO where write said no, DLLM_INTERRUPTED where on_progress did.
 */
DLLM_API enum dllm_status dllm_quantize(const char *in, const struct dllm_quantize_options *options,
                                        struct dllm_quantize_progress *result,
                                        struct dllm_error *error);

/* The file types, "Q8_0, Q6_K, ...". Static storage. */
DLLM_API const char *dllm_quantize_types(void);

/* -------------------------------------------------------------- engines --- */

/* Told, by a thread of the library, how much of a file that was not in memory has
 * been read since the engine was opened: bytes there by now, of all weights. The
 * last call has both equal, unless the engine is closed before. Not called for what is there
 * already, nor after dllm_engine_close has returned. With a GPU: how much was copied to it, called
 * by dllm_engine_open. Must not call the library. */
typedef void dllm_read_callback(void *context, uint64_t bytes_there, uint64_t bytes);

struct dllm_engine_options {
    const char *model_path; /* a GGUF file, or DLLM_DEMO_MODEL */
    int threads;            /* up to 1024; 0: every core this process may use */
    const char *cpu_level;  /* NULL: the best; else ref, avx2, avxvnni, avx512vnni */
    const char *device;     /* NULL or "cpu"; "gpu" (the first) or "gpu:N"; "auto": a GPU where
                               one works and the model fits, else the CPU */
    /* How many layers a GPU computes, the last ones, and the output matrix; the CPU the
     * embedding and the layers before them, at cpu_level. A number from 0 to all of them;
     * "auto": as many as fit beside a canvas of 512; NULL or "all". Where it is given,
     * device "auto" is "gpu", and "cpu" an error. */
    const char *gpu_layers;
    bool vocab_only; /* load the tokenizer alone; only text calls work */
    /* Weights that are not in memory are read while the first pass computes. NULL:
     * nobody is told. */
    dllm_read_callback *on_read;
    void *context;
};

struct dllm_engine;

/* Opens a model. The CPU reads weights in the mapped file, a GPU gets a copy.
 * On success *out must be closed with dllm_engine_close, after all its sessions were
 * destroyed. Options that are zero, or NULL, but for model_path, are the defaults; none is used
 * after the call but on_read with its context. Fails as dllm_file_open; with DLLM_ERROR_USAGE for
 * an option out of range or without effect on the device; DLLM_ERROR_UNSUPPORTED for an
 * architecture, pre-tokenizer or type of a tensor that is not built in; DLLM_ERROR_FORMAT where
 * keys or tensors of the architecture are missing or of wrong shapes; DLLM_ERROR_MEMORY also where
 * a thread could not be started; DLLM_ERROR_DEVICE for a GPU that is not there or too small (not
 * with "auto"). */
DLLM_API enum dllm_status dllm_engine_open(const struct dllm_engine_options *options,
                                           struct dllm_engine **out, struct dllm_error *error);
/* Takes NULL. Its sessions must be destroyed before, and calls with it over; strings of
 * dllm_model_info end with it. Ids, texts and results that the caller owns do not. */
DLLM_API void dllm_engine_close(struct dllm_engine *engine);

/* Which published sampler a model is run with: it decides the schedule and
 * which options mean something. */
enum dllm_sampler { DLLM_SAMPLER_LLADA = 0, DLLM_SAMPLER_DREAM };

/* What was loaded. Strings live as long as the engine. An id is -1 and a
 * number 0 where the file has none. With vocab_only vocab is the tokenizer's; the other shapes are
 * 0, sampler, shift_logits and what computes are not known: 0, false and "none". */
struct dllm_model_info {
    const char *name;
    const char *architecture;
    const char *quantization; /* the types by bytes, such as "Q4_K + Q6_K" */
    int layers, hidden, vocab, heads, kv_heads, head_dim;
    int context_length; /* longest canvas without allow_long, prompt and suffix included; 0: any */
    int32_t mask_id, eos_id, eot_id, bos_id;
    enum dllm_sampler sampler;
    bool shift_logits;          /* row i scores position i + 1 */
    bool has_chat;              /* a chat template is known */
    bool chat_template_differs; /* the file's own template has other control tokens */
    uint64_t weight_bytes, file_bytes;
    int threads;             /* of the CPU, or of the host beside a GPU */
    int parallel;            /* sessions at once that get the most done: on the CPU one a thread
                                (apart), on a GPU more, which share its passes */
    const char *device;      /* "cpu", "gpu:0", "gpu:0 (12 of 32 layers)" */
    bool device_is_gpu;      /* which computes all layers or the last ones */
    int gpu_layers;          /* how many */
    uint64_t host_bytes;     /* of the file that the CPU reads; 0: a GPU has all weights */
    const char *device_note; /* why auto took the CPU, a part of a sentence; "": it did not */
    const char *cpu_level;   /* of a GPU its architecture, such as "sm_90"; "sm_90 + avx2" */
    double load_seconds;
};
/* Fills *info in. */
DLLM_API void dllm_engine_info(const struct dllm_engine *engine, struct dllm_model_info *info);

/* Bytes that a session needs beyond the file itself for a pass over a canvas of so
 * many positions with the logits of so many rows; 0 with vocab_only, and for sizes
 * that no session takes. Each thread takes some, and those of the engine are counted: a session
 * apart with more of them needs more. */
DLLM_API uint64_t dllm_engine_workspace_bytes(const struct dllm_engine *engine, size_t canvas,
                                              size_t rows);

/* ----------------------------------------------------------------- text --- */

struct dllm_message {
    const char *role; /* "system", "user" or "assistant" */
    struct dllm_string content;
};

/* Bits of dllm_encode's flags. */
enum dllm_encode_flags {
    DLLM_ENCODE_SPECIAL = 1, /* control strings in the text become control ids */
    DLLM_ENCODE_NO_BOS = 2   /* text that continues other text: no id of the file's in front */
};

/* Text to ids; user-defined strings always become their ids. The begin-of-text
 * id comes first where the file asks for it. Any bytes are a text; an empty one gives no ids of its
 * own. flags: bits of dllm_encode_flags, or 0. DLLM_ERROR_FORMAT for a byte that the vocabulary has
 * no token for, DLLM_ERROR_USAGE for a word of 2 GiB and for other flags. */
DLLM_API enum dllm_status dllm_encode(const struct dllm_engine *engine, struct dllm_string text,
                                      unsigned flags, struct dllm_ids *out,
                                      struct dllm_error *error);

/* A conversation [count] through the model's chat template, ending where the answer
 * starts. White space around a message's text is dropped; the text yields control ids only with
 * parse_special. DLLM_ERROR_UNSUPPORTED where no template is known (has_chat),
 * DLLM_ERROR_FORMAT where the vocabulary lacks what the template needs, DLLM_ERROR_USAGE for an
 * empty conversation or another role. */
DLLM_API enum dllm_status dllm_encode_chat(const struct dllm_engine *engine,
                                           const struct dllm_message *messages, size_t count,
                                           bool parse_special, struct dllm_ids *out,
                                           struct dllm_error *error);

/* Ids [count] to bytes, which need not be whole UTF-8 characters. Control tokens print nothing
 * unless show_control. DLLM_ERROR_USAGE for an id outside the tokenizer's vocabulary. */
DLLM_API enum dllm_status dllm_decode(const struct dllm_engine *engine, const int32_t *ids,
                                      size_t count, bool show_control, struct dllm_text *out,
                                      struct dllm_error *error);

/* ------------------------------------------------------------- sessions --- */

struct dllm_session;

/* A session starts without memory; the first call that runs the model sizes
 * its workspace, a longer canvas grows it. On success *out must be destroyed with
 * dllm_session_destroy before the engine is closed. DLLM_ERROR_USAGE with vocab_only. */
DLLM_API enum dllm_status dllm_session_create(struct dllm_engine *engine, struct dllm_session **out,
                                              struct dllm_error *error);
/* A session with threads of its own (as in dllm_engine_options) instead of the
 * engine's, so that its calls run at the same time as those of other sessions:
 * several requests under way, each on its own thread, get more done than one after
 * the other on all of them. On a GPU it is as any other: steps of generations that are
 * under way on several threads share passes. The results are the same. To be destroyed as
 * any other. Fails as dllm_session_create; DLLM_ERROR_USAGE too for a number of threads outside 0
 * to 1024. */
DLLM_API enum dllm_status dllm_session_create_apart(struct dllm_engine *engine, int threads,
                                                    struct dllm_session **out,
                                                    struct dllm_error *error);
/* So that who shares passes with whom depends on no clock: the next `generations`
 * generations (1 to 32, half as many under guidance) wait without end, before the first
 * step for all of them to begin, before each further one for those under way, and a pass
 * has room for all of their canvases where these are of one length. To be called before
 * they begin, and again before the next ones; with 0 to end it, which lets those go on that
 * wait for one that never begins. On the CPU, where no pass is shared, all but 0 is a usage
 * error. */
DLLM_API enum dllm_status dllm_share_passes(struct dllm_engine *engine, int generations,
                                            struct dllm_error *error);

/* Takes NULL. No call with the session may be under way. */
DLLM_API void dllm_session_destroy(struct dllm_session *session);

/* Bytes that its workspace takes now; 0 before its first pass. */
DLLM_API uint64_t dllm_session_workspace_bytes(const struct dllm_session *session);

/* One forward pass over ids [count]. logits is [row_count, vocab] f32, row major,
 * owned by the caller: the scores of rows [row_count], which ascend and are below count each. With
 * shift_logits row i scores position i + 1, else position i. allow_long permits
 * more ids than the model's context length. Scores are not looked at: a damaged model gives NaN.
 * DLLM_ERROR_USAGE for no ids or no rows, ids outside the vocabulary, rows out of order or range,
 * and for too many ids; logits is then as it was. After another error some of it may be written. */
DLLM_API enum dllm_status dllm_logits(struct dllm_session *session, const int32_t *ids,
                                      size_t count, const int32_t *rows, size_t row_count,
                                      bool allow_long, float *logits, struct dllm_error *error);

/* What a pass is asked: ids [count], and the rows wanted, as in dllm_logits. */
struct dllm_logits_query {
    const int32_t *ids;
    size_t count;
    const int32_t *rows;
    size_t row_count;
    bool allow_long;
};

/* Receives rows [first, first + count) of the answer, [count, vocab] f32, valid
 * until it returns. Return 0 to go on; anything else ends with
 * DLLM_INTERRUPTED. */
typedef int dllm_logits_callback(void *context, const float *logits, size_t first, size_t count);

/* Receives the hidden states [rows, width] f32, row major, behind the embedding (layer -1) and
 * behind each layer, in order: of all positions, but behind the last layer only
 * of the rows asked for. Valid until it returns; it may not call the library. */
typedef void dllm_layer_callback(void *context, int layer, const float *hidden, size_t rows,
                                 size_t width);

struct dllm_logits_sink {
    dllm_logits_callback *on_rows;
    void *context;                 /* of both */
    dllm_layer_callback *on_layer; /* NULL: not wanted */
};

/* The same for answers too large to hold: the pass runs once, its logits
 * arrive in pieces, in order. DLLM_INTERRUPTED where on_rows ended it. */
DLLM_API enum dllm_status dllm_logits_each(struct dllm_session *session,
                                           const struct dllm_logits_query *query,
                                           const struct dllm_logits_sink *sink,
                                           struct dllm_error *error);

enum dllm_remasking {
    DLLM_REMASKING_LOW_CONFIDENCE = 0, /* probability of the token (maskgit_plus) */
    DLLM_REMASKING_RANDOM,
    DLLM_REMASKING_TOPK_MARGIN, /* Dream only */
    DLLM_REMASKING_ENTROPY,     /* Dream, and LLaDA with entropy_bound */
    DLLM_REMASKING_ORIGIN       /* Dream only */
};

enum dllm_eos_policy { DLLM_EOS_NONE = 0, DLLM_EOS_FORBID, DLLM_EOS_DEFER };

/* What is kept between the steps of a block instead of being computed anew: the
 * keys and values of every row before the block (prefix), or of every row
 * outside it (dual). Both are approximations: answers may differ. */
enum dllm_cache { DLLM_CACHE_NONE = 0, DLLM_CACHE_PREFIX, DLLM_CACHE_DUAL };

enum dllm_finish {
    DLLM_FINISH_EOS = 0,
    DLLM_FINISH_LENGTH,
    DLLM_FINISH_STOP,
    DLLM_FINISH_INTERRUPTED
};

/* A committed token beside the likeliest other one that was allowed, by LLaDA's
 * plain softmax (end tokens that are deferred have their part in it) or Dream's filtered
 * one, which allows what its filters left. */
struct dllm_choice {
    double probability; /* of the token */
    double runner_up_probability;
    int32_t runner_up; /* id, -1: no other was allowed */
};

/* What a step did; passed to the step callback after each step. The arrays
 * live until the callback returns. Positions count from the canvas' begin, from 0. */
struct dllm_step {
    int step;              /* 0-based index in the schedule */
    int steps;             /* of the whole run; where they are not counted out, at most */
    int forward_passes;    /* so far */
    bool computed;         /* false: a step that commits nothing was skipped */
    double seconds;        /* of this step */
    const int32_t *canvas; /* all ids, prompt and suffix included */
    size_t canvas_count;
    size_t region_start; /* [start, start + count): from the first position to fill to the last */
    size_t region_count;
    const int32_t *positions;          /* [committed], surest first */
    const double *confidences;         /* [committed], by the remasking rule */
    const struct dllm_choice *choices; /* [committed] with record_choices, else NULL */
    size_t committed;
    size_t masks_left, masks_at_start;
};

/* Return 0 to go on; anything else ends the run as interrupted. */
typedef int dllm_step_callback(void *context, const struct dllm_step *step);

/* Start from dllm_generate_defaults. What is out of range, contradicts another option or would do
 * nothing with the model's sampler is a usage error; docs/decoding.md says what each does. */
struct dllm_generate_options {
    int max_tokens;     /* positions to generate, at least 1 */
    int steps;          /* denoising steps, one a block at least, up to 1,000,000; 0: max_tokens */
    int block_length;   /* 0: one region of max_tokens */
    double temperature; /* 0, the best token, to 1000 */
    uint64_t seed;
    enum dllm_remasking remasking;
    double top_p;         /* Dream's, from 0; 1 or more: off */
    int top_k;            /* Dream's, 0: off */
    double alg_temp;      /* Dream's, to 1000; 0: off */
    double eps;           /* Dream's schedule, 1e-9 to 1 - 1e-9; 0: 1e-3 */
    double cfg_scale;     /* LLaDA's, to 1000; 0: off */
    double threshold;     /* to 1; 0: off; else commit every token at least this sure */
    double factor;        /* to 1000; 0: off; else Fast-dLLM's factor rule */
    double entropy_bound; /* nats, to 1000; 0: off; else EB-Sampler's, with remasking entropy */
    bool early_commit;    /* the rest of a block at once when it is sure enough (Prophet) */
    enum dllm_cache cache;
    int cache_refresh;  /* every so many steps of a block all rows; 0: at its entry alone */
    int prompt_refresh; /* of those, rows before the answer only after so many steps; 0: always */
    int suffix_window;  /* positions seen past the block's end; 0: all */
    enum dllm_eos_policy eos_policy; /* LLaDA's */
    bool no_early_stop;              /* run all steps even when the answer is final */
    bool allow_long;                 /* permit a canvas longer than the model's context length */
    const int32_t *suffix;           /* [suffix_count] ids after the generated region */
    size_t suffix_count;
    const struct dllm_string *stop; /* [stop_count], none empty: the answer ends before the first */
    size_t stop_count;
    dllm_step_callback *on_step; /* may be NULL */
    void *context;
    bool record_choices; /* steps tell of runners-up */
};

/* Fills in the defaults of the loaded model; chat says whether the prompt
 * comes from dllm_encode_chat (Dream then samples at 0.2 with top-p 0.95). */
DLLM_API void dllm_generate_defaults(const struct dllm_engine *engine, bool chat,
                                     struct dllm_generate_options *options);

/* Presets for how much speed may cost: nothing (the model's schedule, a token a
 * step), little, or some. docs/decoding.md says what each sets and how it did. */
enum dllm_quality { DLLM_QUALITY_EXACT = 0, DLLM_QUALITY_BALANCED, DLLM_QUALITY_FAST };

/* Puts a preset's settings (remasking, threshold, cache, block_length) over those of
 * dllm_generate_defaults. */
DLLM_API void dllm_generate_quality(enum dllm_quality quality,
                                    struct dllm_generate_options *options);

/* What matrix products took, the layers' and the output matrix's together. */
struct dllm_products {
    double seconds;
    double int8_operations, float_operations; /* two per multiply-add, by the weights' kind */
    double weight_bytes;                      /* read */
};

/* Where the time of all passes went: the layers' matrices, attention, the output
 * matrix with the choice of tokens, and what is left. A GPU runs its layers at once: their
 * time is rest_seconds, and that of products the whole pass. Where sessions share a pass
 * each has all of its time and its part of the products. */
struct dllm_timings {
    double generate_seconds; /* without those of the step callback */
    double matmul_seconds, attention_seconds, head_seconds, rest_seconds;
    struct dllm_products products;
    const double *step_seconds; /* [computed_steps], owned by the result */
    int computed_steps;
    int pass_sessions; /* in each of its passes at least so many sessions, itself included */
};

/* What was put at positions [start, start + count) of the canvas. */
struct dllm_gap {
    size_t start, count;
    struct dllm_text text; /* up to its end token, stop string or first mask left over */
    int tokens;            /* tokens of that text */
    enum dllm_finish finish;
};

/* What a run gave; all in it is owned by the caller, to be freed by dllm_result_free. */
struct dllm_result {
    struct dllm_ids ids;   /* the generated region; left-over masks included */
    struct dllm_text text; /* the answer: up to its end token, stop string or first mask left
                              over. What an interrupted run has behind that is in ids alone */
    int answer_tokens;     /* tokens of that answer, of all gaps */
    enum dllm_finish finish;
    struct dllm_gap *gaps; /* [gap_count]; of dllm_generate the one region */
    size_t gap_count;
    int forward_passes;
    int64_t rows_computed;    /* positions that went through the layers, all passes together */
    int steps;                /* that were run or skipped as empty */
    bool stopped_early;       /* the answer was final before the last step */
    uint64_t workspace_bytes; /* memory of the session beside the file */
    struct dllm_timings timings;
};

/* Bytes that a session needs beyond the file itself to generate max_tokens positions with these
 * options on a canvas of so many, prompt and suffix included: guidance's second canvas and what a
 * cache keeps are counted. 0 as for dllm_engine_workspace_bytes. */
DLLM_API uint64_t dllm_generate_workspace_bytes(const struct dllm_engine *engine, size_t canvas,
                                                const struct dllm_generate_options *options);

/* Fills the region after the prompt [prompt_count], which may be empty, and before the suffix;
 * masks in these are filled too, but the result has the region alone: dllm_fill gives the whole
 * canvas. On a CPU the answer depends on model, ids and options alone, not
 * on threads, level or what the session did before. An interrupted run
 * returns DLLM_OK with what was committed and finish = INTERRUPTED. Free the
 * result with dllm_result_free. DLLM_ERROR_USAGE for options that contradict each other or the
 * sampler, ids outside the vocabulary, a canvas longer than the model's context length without
 * allow_long; DLLM_ERROR_NUMERIC where the model gives a row of scores that is not finite. */
DLLM_API enum dllm_status dllm_generate(struct dllm_session *session, const int32_t *prompt,
                                        size_t prompt_count,
                                        const struct dllm_generate_options *options,
                                        struct dllm_result *result, struct dllm_error *error);

/* Fills the masks of canvas [count] wherever they are; each run of masks is a gap.
 * Blocks and steps count the masks, not what is given between them; each gap's text ends
 * before its first end token, stop string or mask left over. options->max_tokens is 0 or the
 * number of masks, suffix_count 0. The result's ids are the whole canvas, its text all that the
 * canvas prints, its finish that of the last gap (or interrupted). As dllm_generate in all else;
 * DLLM_ERROR_USAGE for a canvas without a mask, too. */
DLLM_API enum dllm_status dllm_fill(struct dllm_session *session, const int32_t *canvas,
                                    size_t count, const struct dllm_generate_options *options,
                                    struct dllm_result *result, struct dllm_error *error);

/* Zeroes the record, and accepts a zeroed one. */
DLLM_API void dllm_result_free(struct dllm_result *result);

/* ----------------------------------------------------------- likelihood --- */

/* After each batch of samples. Return 0 to go on; anything else ends with
 * DLLM_INTERRUPTED. */
typedef int dllm_score_callback(void *context, int done, int samples);

struct dllm_score_options {
    int samples;      /* of the estimate, 1 to 1,000,000 */
    int batch;        /* samples whose numbers of masks are spread evenly; at least 1. As in the
                         published code even batches are biased, most so for short answers
                         (docs/scoring.md), and standard_error does not show it; odd ones not */
    double cfg_scale; /* from 0, which is off */
    uint64_t seed;
    bool allow_long;                 /* permit more ids than the model's context length */
    dllm_score_callback *on_samples; /* may be NULL */
    void *context;
};

/* The published settings: 128 samples in batches of 16. */
DLLM_API void dllm_score_defaults(struct dllm_score_options *options);

/* An answer and what it follows. Not owned. The prompt may be empty but for shift_logits. */
struct dllm_score_query {
    const int32_t *prompt;
    size_t prompt_count;
    const int32_t *answer; /* without the model's mask */
    size_t answer_count;   /* at least 1 */
};

/* Bytes that a session needs beyond the file itself; only the query's counts matter. 0 as for
 * dllm_engine_workspace_bytes. */
DLLM_API uint64_t dllm_score_workspace_bytes(const struct dllm_engine *engine,
                                             const struct dllm_score_query *query,
                                             const struct dllm_score_options *options);

struct dllm_likelihood {
    double log_likelihood; /* of the whole answer, natural */
    double standard_error; /* of that, from the batches; NaN if there is one alone */
    int samples;
    int forward_passes; /* samples with the same masks share one; guidance doubles them */
    double seconds;
};

/* Estimates the log-likelihood of an answer: samples of the answer with some of its tokens masked,
 * the cross entropies of the masked ones divided by their share, the mean over the samples, negated
 * (LLaDA's Monte-Carlo estimate of a lower bound). It depends on query, samples, batch, cfg_scale
 * and seed alone. DLLM_ERROR_USAGE for an empty answer, a mask in it, an empty prompt where the
 * model has shift_logits (the first token has no row then) or with guidance (there is nothing to
 * leave out), ids outside the vocabulary, a canvas longer than the model's context length without
 * allow_long, options out of range; DLLM_ERROR_NUMERIC where the model gives a token of the answer
 * no finite score; DLLM_INTERRUPTED where on_samples ended it. */
DLLM_API enum dllm_status dllm_score(struct dllm_session *session,
                                     const struct dllm_score_query *query,
                                     const struct dllm_score_options *options,
                                     struct dllm_likelihood *result, struct dllm_error *error);

/* --------------------------------------------------------- measurements --- */

/* Operations a second that the engine's threads reach now in a loop on registers alone, int8 dot
 * products or f32 multiply-adds (floats), two per multiply-add: what bounds products with weights
 * of that kind. On a GPU the instructions of its kernels for the tensor cores, int8 or f16
 * (products with F32 weights, which use none, stay far below). Takes some ten milliseconds. 0 with
 * CPU level ref, where a GPU and the CPU share the layers, and with vocab_only. */
DLLM_API double dllm_engine_ceiling(const struct dllm_engine *engine, bool floats);

/* Bytes a second at which the GPU reads its memory now: what bounds a pass that reads
 * the weights once. It takes, for some ten milliseconds, 16 times the second-level cache of
 * memory, or less if that is not free. 0 where not even four times are, on the CPU, where it
 * is not measured, and as for dllm_engine_ceiling. */
DLLM_API double dllm_engine_bandwidth(const struct dllm_engine *engine);

/* Products of one matrix without a model: random blocks [rows, width] of a type
 * against [tokens, width] activations. */
struct dllm_product_options {
    uint32_t type; /* GGUF type id of a type that can be multiplied */
    int rows, width, tokens;
    int threads;           /* as in dllm_engine_options */
    const char *cpu_level; /* the same */
    const char *device;    /* the same */
};

struct dllm_product;

/* Whether the sizes (1 to 2^22, the width of whole blocks) and the type make sense: DLLM_OK, or the
 * DLLM_ERROR_USAGE that dllm_product_create would fail with. */
DLLM_API enum dllm_status dllm_product_check(const struct dllm_product_options *options,
                                             struct dllm_error *error);

/* Makes matrices enough that they leave no cache warm: more than the last-level
 * cache, on a GPU 256 MiB, but at most 1 GiB unless one is larger. On success *out must be
 * destroyed with dllm_product_destroy, which takes NULL. DLLM_ERROR_USAGE for sizes, type, threads,
 * level or device; DLLM_ERROR_DEVICE for a GPU that is not there or has no room. */
DLLM_API enum dllm_status dllm_product_create(const struct dllm_product_options *options,
                                              struct dllm_product **out, struct dllm_error *error);
DLLM_API void dllm_product_destroy(struct dllm_product *product);

/* Where its products run, as dllm_model_info tells it. Both live as long as the product. */
DLLM_API const char *dllm_product_device(const struct dllm_product *product);
DLLM_API const char *dllm_product_cpu_level(const struct dllm_product *product);
DLLM_API int dllm_product_threads(const struct dllm_product *product);

/* As dllm_engine_bandwidth. */
DLLM_API double dllm_product_bandwidth(struct dllm_product *product);

/* One product with the next matrix into *out; on a GPU from the call to the result, its
 * launch included. *ceiling (may be NULL) is as from dllm_engine_ceiling, the mean of just
 * before and just after; 0 with F32 weights on a GPU, and with CPU level ref.
 * DLLM_ERROR_DEVICE where the GPU fails: nothing was measured then. */
DLLM_API enum dllm_status dllm_product_run(struct dllm_product *product, struct dllm_products *out,
                                           double *ceiling, struct dllm_error *error);

/* ----------------------------------------------------------------- GPUs --- */

struct dllm_gpu {
    char name[256];                    /* as its maker calls it */
    int capability;                    /* compute capability, 90 for 9.0 */
    uint64_t memory_bytes, free_bytes; /* of its own memory */
    int driver_version, cuda_version;  /* CUDA's that the driver supports, that this build has:
                                          13000 for 13.0 */
};

/* How many GPUs there are, at least 1. Where none can be used, or the build has no CUDA,
 * DLLM_ERROR_DEVICE: the message begins "no GPU: " and says why. */
DLLM_API enum dllm_status dllm_gpu_count(int *out, struct dllm_error *error);

/* GPU number index, from 0. DLLM_ERROR_DEVICE as above, or for a number without a
 * GPU. */
DLLM_API enum dllm_status dllm_gpu_describe(int index, struct dllm_gpu *out,
                                            struct dllm_error *error);

/* How many layers of a model would fit on GPU number index now (gpu_layers "auto"); -1:
 * not even the output matrix. 0 with vocab_only. DLLM_ERROR_DEVICE for a GPU that cannot
 * be used. */
DLLM_API enum dllm_status dllm_gpu_layers_fitting(const struct dllm_engine *engine, int index,
                                                  int *out, struct dllm_error *error);

/* Whether an engine could have this device (dllm_engine_options): a usage error
 * for a name that is none, DLLM_ERROR_DEVICE for a GPU that cannot be used. */
DLLM_API enum dllm_status dllm_device_check(const char *device, struct dllm_error *error);

/* -------------------------------------------------------------- machine --- */

/* What this process may use of the machine; 0 and NULL where it is not known. */
struct dllm_machine {
    int cores_online, cores_affinity; /* of the machine; in the affinity mask */
    int cores_quota;                  /* the control group's CPU quota, rounded up; 0: none */
    int cores;                        /* what an engine uses: the smallest of these */
    uint64_t memory_bytes;            /* of the machine */
    uint64_t memory_limit_bytes;      /* the control group's; 0: none */
    uint64_t memory_available_bytes;  /* under both, file contents that can go among them */
    const char *cpu_levels[8];        /* that run here, slowest first; ends in NULL */
};
/* Looks at the machine now, and fills *out in. */
DLLM_API void dllm_machine(struct dllm_machine *out);

/* Most memory this process has had resident, bytes, mapped files included; 0 where it is not
 * known. */
DLLM_API uint64_t dllm_peak_rss_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
