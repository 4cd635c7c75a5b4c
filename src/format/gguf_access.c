/* gguf_access.c: what an open file tells through dllm.h. */
#include "gguf_parse.h"

#include <string.h>

uint32_t dllm_file_version(const struct dllm_file *file)
{
    return file->version;
}

uint64_t dllm_file_size(const struct dllm_file *file)
{
    return file->size;
}

size_t dllm_file_part_count(const struct dllm_file *file)
{
    return file->parts ? file->part_count : 1;
}

const char *dllm_file_part_path(const struct dllm_file *file, size_t index)
{
    return file->parts ? file->parts[index]->path : file->path;
}

const char *dllm_path_at(const void *address)
{
    return mapfile_path_at(address);
}

uint64_t dllm_file_part_size(const struct dllm_file *file, size_t index)
{
    return file->parts ? file->parts[index]->size : file->size;
}

size_t dllm_file_key_count(const struct dllm_file *file)
{
    return file->key_count;
}

size_t dllm_file_tensor_count(const struct dllm_file *file)
{
    return file->tensor_count;
}

const struct dllm_key *dllm_file_key(const struct dllm_file *file, size_t index)
{
    return &file->keys[index];
}

const struct dllm_tensor *dllm_file_tensor(const struct dllm_file *file, size_t index)
{
    return &file->tensors[index];
}

const struct dllm_key *dllm_file_find_key(const struct dllm_file *file, const char *name)
{
    size_t index;

    if (!names_find(&file->key_index, (struct dllm_string){name, strlen(name)}, &index))
        return NULL;
    return &file->keys[index];
}

const struct dllm_tensor *dllm_file_find_tensor(const struct dllm_file *file, const char *name)
{
    size_t index;

    if (!names_find(&file->tensor_index, (struct dllm_string){name, strlen(name)}, &index))
        return NULL;
    return &file->tensors[index];
}
