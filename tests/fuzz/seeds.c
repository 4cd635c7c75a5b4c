/*
 * seeds.c: writes the inputs that the corpora of GGUF files start from.
 *     seeds FOLDER
 * makes FOLDER/gguf, FOLDER/split and FOLDER/model.
 */
#include "dtype.h"
#include "gguf_walk.h"
#include "split_sample.h"
#include "test_bytes.h"
#include "tiny_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void save(const char *folder, const char *kind, const char *name, const void *data,
                 size_t size)
{
    char path[1000];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, kind);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, kind, name);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void save_split(const char *folder)
{
    struct test_bytes whole = {0};
    uint8_t *parts[SPLIT_PARTS];
    size_t sizes[SPLIT_PARTS];

    test_bytes_append(&whole, (const char[]){SPLIT_PARTS - 1}, 1);
    for (int i = 0; i < SPLIT_PARTS; i++) {
        struct split_part part = split_sample_part(i);

        parts[i] = split_sample_bytes(&part, &sizes[i]);
        if (i < SPLIT_PARTS - 1)
            test_bytes_u32(&whole, (uint32_t)sizes[i]);
    }
    for (int i = 0; i < SPLIT_PARTS; i++) {
        test_bytes_append(&whole, parts[i], sizes[i]);
        free(parts[i]);
    }
    save(folder, "split", "three-parts", whole.data, whole.size);
    free(whole.data);
}

static void save_model(const char *folder, struct tiny_model model)
{
    uint8_t *bytes;
    size_t size;

    model.layers = 1;
    model.hidden = model.ffn = 32;
    model.heads = model.kv_heads = 1;
    model.type = DTYPE_BF16;
    model.text = true;
    bytes = tiny_model_bytes(&model, &size);
    save(folder, "model", model.architecture, bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    size_t size, header;
    uint8_t *sample = gguf_sample(&size, &header);

    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    mkdir(argv[1], 0777);
    save(argv[1], "gguf", "every-kind", sample, size);
    free(sample);
    save_split(argv[1]);
    save_model(argv[1], tiny_model_llada());
    save_model(argv[1], tiny_model_dream());
    save_model(argv[1], tiny_model_llada_moe());
    save_model(argv[1], tiny_model_rnd1());
    return 0;
}
