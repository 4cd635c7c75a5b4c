/* engine_info.c: what a loaded model is, and the settings it is run with. */
#include "engine.h"

#include "cpu_features.h"
#include "dtype.h"
#include "machine.h"

/* A pass of so many short canvases takes a GPU little longer than one of a single canvas. */
enum { SHARED_SESSIONS = 16 };

/* Published settings of Dream's chat model; greedy, its answers collapse. */
#define DREAM_CHAT_TEMPERATURE 0.2
#define DREAM_CHAT_TOP_P       0.95

/* Fast-dLLM's published threshold and block; a dual cache needs blocks. */
#define BALANCED_THRESHOLD 0.9
#define FAST_THRESHOLD     0.8
#define FAST_BLOCK_LENGTH  32

static void fill_shapes(const struct dllm_engine *engine, struct dllm_model_info *info)
{
    const struct hparams *hparams = &engine->model.hparams;

    info->layers = hparams->layers;
    info->hidden = hparams->hidden;
    info->vocab = hparams->vocab;
    info->heads = hparams->heads;
    info->kv_heads = hparams->kv_heads;
    info->head_dim = hparams->head_dim;
    info->context_length = hparams->context_length;
    info->shift_logits = hparams->shift_logits;
    info->sampler = hparams->arch->dream_sampler ? DLLM_SAMPLER_DREAM : DLLM_SAMPLER_LLADA;
    info->weight_bytes = engine->model.weights.bytes;
    info->threads = backend_threads(engine->place.main);
    info->parallel = backend_is_host(engine->place.main) ? info->threads : SHARED_SESSIONS;
    info->device = engine->device;
    info->device_is_gpu = !backend_is_host(engine->place.main);
    info->gpu_layers = info->device_is_gpu ? info->layers - engine->place.layers_before : 0;
    info->host_bytes = info->device_is_gpu ? engine->host_bytes : info->file_bytes;
    info->device_note = engine->device_note;
    info->cpu_level = engine->level;
}

void dllm_engine_info(const struct dllm_engine *engine, struct dllm_model_info *info)
{
    *info = (struct dllm_model_info){
        .name = engine->name,
        .architecture = engine->architecture,
        .quantization = engine->quantization,
        .vocab = (int)tokenizer_size(engine->tokenizer),
        .mask_id = engine->specials.mask_id,
        .eos_id = engine->specials.eos_id,
        .eot_id = engine->specials.eot_id,
        .bos_id = engine->specials.bos_id,
        .has_chat = engine->chat != NULL,
        .chat_template_differs = engine->chat_differs,
        .file_bytes = dllm_file_size(engine->file),
        .device = "none",
        .device_note = "",
        .cpu_level = "none",
        .load_seconds = engine->load_seconds,
    };
    if (!engine->vocab_only)
        fill_shapes(engine, info);
}

/* Whether one device does all of the work, whose rates then bound it. */
static bool has_ceilings(const struct dllm_engine *engine)
{
    return !engine->vocab_only && !engine->place.before;
}

double dllm_engine_ceiling(const struct dllm_engine *engine, bool floats)
{
    double rate;

    if (!has_ceilings(engine))
        return 0;
    lock_take(engine->lock);
    rate = backend_ceiling(engine->place.main, floats ? DTYPE_F16 : DTYPE_Q8_0);
    lock_release(engine->lock);
    return rate;
}

double dllm_engine_bandwidth(const struct dllm_engine *engine)
{
    double rate;

    if (!has_ceilings(engine))
        return 0;
    lock_take(engine->lock);
    rate = backend_bandwidth(engine->place.main);
    lock_release(engine->lock);
    return rate;
}

void dllm_generate_defaults(const struct dllm_engine *engine, bool chat,
                            struct dllm_generate_options *options)
{
    const struct arch *arch = engine->model.hparams.arch;
    bool dream = arch && arch->dream_sampler;

    *options = (struct dllm_generate_options){
        .max_tokens = 128,
        .block_length = arch ? arch->default_block_length : 0,
        .temperature = dream && chat ? DREAM_CHAT_TEMPERATURE : 0,
        .seed = 42,
        .remasking = dream ? DLLM_REMASKING_ENTROPY : DLLM_REMASKING_LOW_CONFIDENCE,
        .top_p = dream && chat ? DREAM_CHAT_TOP_P : 1,
        .eps = 1e-3,
    };
}

void dllm_generate_quality(enum dllm_quality quality, struct dllm_generate_options *options)
{
    if (quality == DLLM_QUALITY_EXACT)
        return;
    options->remasking = DLLM_REMASKING_LOW_CONFIDENCE;
    options->threshold = BALANCED_THRESHOLD;
    if (quality == DLLM_QUALITY_BALANCED)
        return;
    options->threshold = FAST_THRESHOLD;
    options->cache = DLLM_CACHE_DUAL;
    if (options->block_length == 0)
        options->block_length = FAST_BLOCK_LENGTH;
}

struct denoise_model engine_denoise_model(const struct dllm_engine *engine)
{
    const struct hparams *hparams = &engine->model.hparams;

    return (struct denoise_model){
        .dream = hparams->arch->dream_sampler,
        .shift_logits = hparams->shift_logits,
        .mask_id = engine->specials.mask_id,
        .eos_id = engine->specials.eos_id,
        .eot_id = engine->specials.eot_id,
        .unprintable = engine->unprintable,
        .unprintable_count = engine->unprintable_count,
    };
}

void dllm_machine(struct dllm_machine *out)
{
    struct machine_cores cores;
    struct machine_memory memory;
    size_t levels = 0;

    machine_cores(&cores);
    machine_memory(&memory);
    *out = (struct dllm_machine){
        .cores_online = cores.online,
        .cores_affinity = cores.affinity,
        .cores_quota = cores.quota,
        .cores = machine_usable_cores(),
        .memory_bytes = memory.total,
        .memory_limit_bytes = memory.limit,
        .memory_available_bytes = memory.available,
    };
    for (int level = 0; level < CPU_LEVELS; level++)
        if (cpu_level_available((enum cpu_level)level))
            out->cpu_levels[levels++] = cpu_level_name((enum cpu_level)level);
}

uint64_t dllm_peak_rss_bytes(void)
{
    return machine_peak_rss_bytes();
}
