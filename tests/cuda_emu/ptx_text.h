/*
 * ptx_text.h: what the readers of PTX share: pieces of text, and variables' declarations.
 */
#pragma once
#include "ptx_program.h"

#include <map>
#include <memory>

namespace emu
{
/* Without the blanks around it. */
std::string trimmed(const std::string &text);

/* Whether the first characters are these. */
bool begins_with(const std::string &text, const std::string &with);

/* The words of a text, cut at blanks. */
std::vector<std::string> words_of(const std::string &text);

/* Parts between commas that no bracket encloses, trimmed. */
std::vector<std::string> split_at_commas(const std::string &text);

/* A variable's declaration behind its space: ".align 8 .b8 name[448]", ".f32 name", or ".u64 .ptr
 * .align 1 name" with the alignment of what the parameter points to. */
struct Variable {
    std::string name;
    size_t align, bytes;
};
Variable parse_variable(const std::string &text);

/* The next multiple of a power of two. */
inline size_t aligned(size_t offset, size_t align)
{
    return (offset + align - 1) / align * align;
}

/* A file. */
struct Module {
    std::map<std::string, uint64_t>
        symbols; /* addresses of variables: of the host, or shared ones */
    std::vector<std::unique_ptr<unsigned char[]>> memory;
};

/* A kernel's text: what its parentheses and its braces hold, and, once asked for, what became of
 * it. */
struct KernelText {
    const Module *module;
    std::string parameters, body;
    std::unique_ptr<Kernel> kernel;
};

/* Fills in all of a kernel but its name; dies of what it does not know. */
void parse_kernel(const KernelText &text, Kernel &kernel);
} // namespace emu
