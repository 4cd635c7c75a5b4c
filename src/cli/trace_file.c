/* trace_file.c: writes the steps of a run as JSON lines. */
#include "trace_file.h"

#include "out.h"
#include "run_report.h"
#include "utf8_text.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_FORMAT = 1, TRACE_DIGITS = 6 };

struct trace_file {
    struct out_file file;
    const struct dllm_engine *engine;
    int32_t mask_id;
};

static bool is_utf8(const char *data, size_t size)
{
    uint32_t code;

    for (size_t at = 0; at < size;) {
        int length = utf8_text_next(data + at, size - at, &code);
        if (!length)
            return false;
        at += (size_t)length;
    }
    return true;
}

/* A token that is part of a character only: {"hex": "e2 82"} without the blank. */
static json_t *hex_piece(const struct dllm_text *text)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = malloc(text->size * 2);
    json_t *piece = NULL;

    for (size_t i = 0; hex && i < text->size; i++) {
        unsigned char byte = (unsigned char)text->data[i];
        hex[i * 2] = digits[byte >> 4];
        hex[i * 2 + 1] = digits[byte & 15];
    }
    if (hex)
        piece = json_pack("{s:s%}", "hex", hex, text->size * 2);
    free(hex);
    return piece;
}

/* The text of a token; null for a mask. NULL after an error or without memory. */
static json_t *piece_of(const struct trace_file *trace, int32_t id)
{
    struct dllm_text text;
    struct dllm_error error;
    json_t *piece;

    if (id == trace->mask_id)
        return json_null();
    if (dllm_decode(trace->engine, &id, 1, true, &text, &error))
        return NULL;
    if (is_utf8(text.data ? text.data : "", text.size))
        piece = json_stringn(text.data ? text.data : "", text.size);
    else
        piece = hex_piece(&text);
    dllm_text_free(&text);
    return piece;
}

static json_t *pieces_of(const struct trace_file *trace, const int32_t *ids, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, piece_of(trace, ids[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Writes the value as a line and releases it; NULL means that memory ran out. */
static int write_line(struct trace_file *trace, json_t *value)
{
    char *line = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(TRACE_DIGITS)) : NULL;

    json_decref(value);
    if (!line)
        return cli_fail(CLI_FAILURE, "out of memory while the trace was written");
    out_file_write(&trace->file, line, strlen(line));
    out_file_write(&trace->file, "\n", 1);
    free(line);
    return CLI_OK;
}

static json_t *header(const struct trace_file *trace, const struct run_facts *facts,
                      const struct dllm_step *start)
{
    const struct dllm_model_info *model = &facts->model;

    return json_pack(
        "{s:i, s:s, s:o, s:s, s:s, s:s, s:s, s:i, s:I, s:o, s:i, s:[i, i], s:[i, i], s:o, s:o}",
        "dllm_trace", TRACE_FORMAT, "version", dllm_version(), "model",
        out_json_text(model->name, strlen(model->name)), "arch", model->architecture,
        "quantization", model->quantization, "device", model->device, "cpu_level", model->cpu_level,
        "threads", model->threads, "seed", (json_int_t)facts->settings.seed, "settings",
        run_settings_json(&facts->settings, facts->chat), "mask_id", model->mask_id, "end_ids",
        model->eos_id, model->eot_id, "region", (int)start->region_start,
        (int)(start->region_start + start->region_count), "canvas",
        out_json_ids(start->canvas, start->canvas_count), "pieces",
        pieces_of(trace, start->canvas, start->canvas_count));
}

int trace_file_open(struct trace_file **out, const char *path, const struct dllm_engine *engine,
                    const struct run_facts *facts, const struct dllm_step *start)
{
    struct trace_file *trace = calloc(1, sizeof *trace);
    int code;

    *out = NULL;
    if (!trace)
        return cli_fail(CLI_FAILURE, "out of memory");
    trace->engine = engine;
    trace->mask_id = facts->model.mask_id;
    code = out_file_open(&trace->file, path);
    if (!code)
        code = write_line(trace, header(trace, facts, start));
    if (code)
        trace_file_close(trace);
    else
        *out = trace;
    return code;
}

static json_t *runner_up(const struct trace_file *trace, const struct dllm_choice *choice)
{
    if (choice->runner_up < 0)
        return json_null();
    return json_pack("{s:i, s:o, s:f}", "id", choice->runner_up, "text",
                     piece_of(trace, choice->runner_up), "probability",
                     choice->runner_up_probability);
}

static json_t *tokens_of(const struct trace_file *trace, const struct dllm_step *step)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < step->committed; i++) {
        const struct dllm_choice *choice = &step->choices[i];
        int32_t position = step->positions[i], id = step->canvas[position];
        json_t *token =
            json_pack("{s:i, s:i, s:o, s:o, s:f, s:o}", "position", position, "id", id, "text",
                      piece_of(trace, id), "confidence", out_json_real(step->confidences[i]),
                      "probability", choice->probability, "runner_up", runner_up(trace, choice));
        if (json_array_append_new(array, token)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

int trace_file_step(struct trace_file *trace, const struct dllm_step *step)
{
    int code = write_line(
        trace, json_pack("{s:i, s:i, s:b, s:f, s:I, s:o}", "step", step->step, "steps", step->steps,
                         "computed", step->computed, "seconds", step->seconds, "masks_left",
                         (json_int_t)step->masks_left, "tokens", tokens_of(trace, step)));

    /* What is there can be read even if the process is killed later. */
    fflush(trace->file.stream);
    return code;
}

int trace_file_finish(struct trace_file *trace, const struct dllm_result *result)
{
    int code = write_line(trace, json_pack("{s:b, s:s, s:o, s:i, s:i, s:i, s:b, s:f}", "end", true,
                                           "finish_reason", run_finish_name(result->finish), "text",
                                           out_json_text(result->text.data, result->text.size),
                                           "answer_tokens", result->answer_tokens, "steps",
                                           result->steps, "forward_passes", result->forward_passes,
                                           "stopped_early", result->stopped_early, "generate_s",
                                           result->timings.generate_seconds));

    return code ? code : out_file_commit(&trace->file);
}

void trace_file_close(struct trace_file *trace)
{
    if (!trace)
        return;
    out_file_discard(&trace->file);
    free(trace);
}
