/* doctor.c: looks at processor, memory, programs, the cache of models, and a
 * model beside them. */
#include "doctor.h"

#include "gpu_check.h"
#include "hub.h"
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The canvas that a model is measured with: default settings, a short prompt. */
enum { TYPICAL_CANVAS = 148, TYPICAL_ROWS = 32 };

static void say(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to a text. */
static void say(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

#define TEXT(finding, ...) say((finding)->text, sizeof(finding)->text, __VA_ARGS__)
#define FIX(finding, ...)  say((finding)->fix, sizeof(finding)->fix, __VA_ARGS__)

static void check_processor(struct doctor_finding *finding)
{
    struct dllm_machine machine;
    const char *best = "none";

    dllm_machine(&machine);
    for (int i = 0; machine.cpu_levels[i]; i++)
        best = machine.cpu_levels[i];
    TEXT(finding, "level %s; usable:", best);
    for (int i = 0; machine.cpu_levels[i]; i++)
        TEXT(finding, "%s %s", i ? "," : "", machine.cpu_levels[i]);
    if (strcmp(best, "ref") == 0)
        FIX(finding, "a processor with AVX2 and FMA (2013 or newer) is many times faster; in a "
                     "virtual machine, let it see the host's processor");
}

static void check_cores(struct doctor_finding *finding)
{
    struct dllm_machine machine;

    dllm_machine(&machine);
    TEXT(finding, "%d to use, of %d; affinity mask %d, ", machine.cores, machine.cores_online,
         machine.cores_affinity);
    if (machine.cores_quota)
        TEXT(finding, "quota %d", machine.cores_quota);
    else
        TEXT(finding, "no quota");
}

static void check_memory(struct doctor_finding *finding)
{
    struct dllm_machine machine;
    char available[32], total[32], limit[32];

    dllm_machine(&machine);
    TEXT(finding, "%s available, of %s", out_size_text(machine.memory_available_bytes, available),
         out_size_text(machine.memory_bytes, total));
    if (machine.memory_limit_bytes)
        TEXT(finding, "; the control group's limit is %s",
             out_size_text(machine.memory_limit_bytes, limit));
}

/* The first line of a file; false if there is none. */
static bool read_line(const char *path, char *out, int size)
{
    FILE *file = fopen(path, "re");
    bool found = file && fgets(out, size, file);

    if (file)
        fclose(file);
    if (found)
        out[strcspn(out, "\n")] = 0;
    return found;
}

/* No setting is wrong: it is about memory that is no file's. */
static void check_huge_pages(struct doctor_finding *finding)
{
    char line[120];

    if (read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line))
        TEXT(finding, "%s; not for the weights, which are pages of the model's file", line);
    else
        TEXT(finding, "not known; not for the weights, which are pages of the model's file");
}

/* An error of the library ends with what to do, after "; ": the length of what is before, and
 * where that begins ("" if it is not there). */
static int reason_of(const char *message, const char **advice)
{
    size_t reason = strcspn(message, ";");

    *advice = message + reason + strspn(message + reason, "; ");
    return (int)reason;
}

static void tell_why(struct doctor_finding *finding, const char *message)
{
    const char *advice;
    int reason = reason_of(message, &advice);

    TEXT(finding, ", the demo model does not run there: %.*s", reason, message);
    if (!finding->fix[0])
        FIX(finding, "%s", *advice ? advice : "take another card, or --device cpu");
}

/* Adds what the demo model says on a GPU, which no table of the driver's tells. */
static void try_gpu(struct doctor_finding *finding, int index)
{
    struct dllm_error error = {0};
    double cosine;

    if (gpu_check_demo(index, &cosine, &error)) {
        tell_why(finding, error.message);
    } else if (cosine >= GPU_CHECK_COSINE) {
        TEXT(finding, ", the demo model's logits are the CPU's (cosine %.6f)", cosine);
    } else {
        TEXT(finding, ", the demo model's logits are NOT the CPU's (cosine %.6f)", cosine);
        if (!finding->fix[0])
            FIX(finding, "compute on the CPU (--device cpu), and report this line");
    }
}

/* CUDA's version numbers: 13000 is 13.0. */
static void list_gpus(struct doctor_finding *finding, int count)
{
    struct dllm_gpu gpu = {0};

    for (int i = 0; i < count; i++) {
        char size[32], room[32];

        TEXT(finding, "%s%d: ", i ? "; " : "", i);
        if (dllm_gpu_describe(i, &gpu, NULL)) {
            TEXT(finding, "cannot be asked");
            continue;
        }
        TEXT(finding, "%.60s, compute capability %d.%d, %s free of %s", gpu.name,
             gpu.capability / 10, gpu.capability % 10, out_size_text(gpu.free_bytes, room),
             out_size_text(gpu.memory_bytes, size));
        try_gpu(finding, i);
    }
    TEXT(finding, "; the driver has CUDA %d.%d, this build %d.%d", gpu.driver_version / 1000,
         gpu.driver_version % 1000 / 10, gpu.cuda_version / 1000, gpu.cuda_version % 1000 / 10);
}

/* No GPU is no fault; one that is there and cannot be used is. */
static void check_gpu(struct doctor_finding *finding)
{
    struct dllm_error error = {0};
    const char *advice;
    int count;
    char line[200];

    if (dllm_gpu_count(&count, &error) == DLLM_OK) {
        list_gpus(finding, count);
        return;
    }
    TEXT(finding, "%.*s", reason_of(error.message, &advice), error.message);
    if (!read_line("/proc/driver/nvidia/version", line, sizeof line))
        return;
    TEXT(finding, "; the kernel has %s", line);
    FIX(finding, "%s", advice);
}

/* Where a program lies, as a shell would find it. */
static bool find_program(const char *name, char path[HUB_PATH_BYTES])
{
    const char *folders = getenv("PATH");

    for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
        int length = (int)strcspn(at, ":");

        snprintf(path, HUB_PATH_BYTES, "%.*s/%s", length, at, name);
        if (length && access(path, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

static void check_programs(struct doctor_finding *finding)
{
    static const char *const programs[][2] = {{"curl", "curl"}, {"sha256sum", "coreutils"}};
    char path[HUB_PATH_BYTES];

    for (int i = 0; i < 2; i++) {
        bool found = find_program(programs[i][0], path);

        TEXT(finding, "%s%.500s%s", i ? ", " : "", found ? path : programs[i][0],
             found ? "" : " is missing, which pull needs");
        if (!found)
            FIX(finding, "%s%s", finding->fix[0] ? " " : "apt-get install ", programs[i][1]);
    }
}

struct cached {
    int files;
    uint64_t bytes;
};

static void count_cached(void *context, const char *path, uint64_t size)
{
    struct cached *cached = context;

    (void)path;
    cached->files++;
    cached->bytes += size;
}

/* The nearest folder on the way up that is there. */
static void existing_above(char *path)
{
    struct stat info;
    char *slash;

    while (stat(path, &info) != 0 && (slash = strrchr(path, '/')) && slash != path)
        *slash = 0;
    if (stat(path, &info) != 0)
        strcpy(path, path[0] == '/' ? "/" : ".");
}

static void check_cache(struct doctor_finding *finding)
{
    struct cached cached = {0};
    struct dllm_error error = {0};
    struct statvfs disk;
    char folder[HUB_PATH_BYTES], held[32], room[32];

    if (hub_cache_folder(folder, &error) || hub_each_cached(count_cached, &cached, &error)) {
        TEXT(finding, "%s", error.message);
        FIX(finding, "export HF_HUB_CACHE=FOLDER");
        return;
    }
    TEXT(finding, "%.700s: %d GGUF file%s, %s", folder, cached.files, cached.files == 1 ? "" : "s",
         out_size_text(cached.bytes, held));
    existing_above(folder);
    if (statvfs(folder, &disk) == 0)
        TEXT(finding, "; room for %s",
             out_size_text((uint64_t)disk.f_bavail * disk.f_frsize, room));
    if (access(folder, W_OK | X_OK) == 0)
        return;
    TEXT(finding, "; \"%.200s\" cannot be written", folder);
    FIX(finding, "export HF_HUB_CACHE=FOLDER, one that you may write");
}

/* A name is looked up in the cache; a path and the built-in model stay. */
static bool find_model(struct doctor_finding *finding, const char **model,
                       char path[HUB_PATH_BYTES])
{
    struct hub_spec spec;
    struct dllm_error error;
    bool found;

    if (strcmp(*model, DLLM_DEMO_MODEL) == 0 || access(*model, F_OK) == 0 ||
        hub_parse(*model, &spec, &error))
        return true;
    if (hub_find(&spec, &found, path, &error)) {
        TEXT(finding, "%s", error.message);
        FIX(finding, "name one of its files");
        return false;
    }
    if (!found) {
        TEXT(finding, "%s is not on this machine", *model);
        FIX(finding, "dllm pull %s", *model);
        return false;
    }
    *model = path;
    return true;
}

/* How much of a model each GPU that works has room for. */
static void fit_on_gpus(struct doctor_finding *finding, const struct dllm_engine *engine,
                        int layers)
{
    int gpus = 0, fitting;

    if (dllm_gpu_count(&gpus, NULL))
        return;
    for (int i = 0; i < gpus; i++) {
        if (dllm_gpu_layers_fitting(engine, i, &fitting, NULL))
            continue;
        if (fitting < 0)
            TEXT(finding, "; nothing of it fits on GPU %d", i);
        else if (fitting == layers)
            TEXT(finding, "; all %d layers fit on GPU %d", layers, i);
        else
            TEXT(finding, "; %d of %d layers fit on GPU %d (--device gpu:%d --gpu-layers %d)",
                 fitting, layers, i, i, fitting);
    }
}

static void judge_model(struct doctor_finding *finding, const struct dllm_engine *engine)
{
    uint64_t workspace = dllm_engine_workspace_bytes(engine, TYPICAL_CANVAS, TYPICAL_ROWS);
    struct dllm_model_info info;
    struct dllm_machine machine;
    char file[32], work[32];

    dllm_engine_info(engine, &info);
    dllm_machine(&machine);
    TEXT(finding, "%s, %s, %s and %s for a canvas of %d", info.architecture, info.quantization,
         out_size_text(info.file_bytes, file), out_size_text(workspace, work), TYPICAL_CANVAS);
    if (info.file_bytes + workspace <= machine.memory_available_bytes) {
        TEXT(finding, ": fits into memory");
        fit_on_gpus(finding, engine, info.layers);
        return;
    }
    TEXT(finding, ": does not fit into memory");
    fit_on_gpus(finding, engine, info.layers);
    FIX(finding, "take a smaller quantization, or end what holds memory (free -h shows it)");
}

static void check_model(struct doctor_finding *finding, const char *model)
{
    struct dllm_engine_options options = {.threads = 1};
    struct dllm_engine *engine;
    struct dllm_error error = {0};
    char path[HUB_PATH_BYTES];

    if (!find_model(finding, &model, path))
        return;
    options.model_path = model;
    if (dllm_engine_open(&options, &engine, &error)) {
        TEXT(finding, "%s", error.message);
        if (access(model, F_OK) == 0)
            FIX(finding, "dllm inspect %.200s", model);
        else
            FIX(finding, "give the path of a GGUF file, or a name of the hub (dllm help pull)");
        return;
    }
    judge_model(finding, engine);
    dllm_engine_close(engine);
}

int doctor_examine(const char *model, struct doctor_finding findings[DOCTOR_CHECKS])
{
    static const struct {
        const char *name;
        void (*check)(struct doctor_finding *finding);
    } checks[] = {
        {"processor", check_processor},   {"cores", check_cores}, {"memory", check_memory},
        {"huge pages", check_huge_pages}, {"GPU", check_gpu},     {"programs", check_programs},
        {"cache", check_cache},
    };
    int count = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        findings[count] = (struct doctor_finding){.name = checks[i].name};
        checks[i].check(&findings[count++]);
    }
    findings[count] = (struct doctor_finding){.name = "model"};
    check_model(&findings[count++], model);
    return count;
}
