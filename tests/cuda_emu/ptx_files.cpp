/*
 * ptx_files.cpp: reads a folder of what nvcc wrote. Variables of the modules are laid out at once;
 * a kernel's body is read when it is first asked for.
 */
#include "ptx_text.h"

#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <iterator>

namespace emu
{
static std::map<std::string, KernelText> texts; /* by name */

/* Keeps lines, drops what follows two slashes. */
static std::string without_comments(const std::string &text)
{
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find("//", at), text.size());
        result.append(text, at, end - at);
        at = std::min(text.find('\n', end), text.size());
    }
    return result;
}

/* ".align 8 .b8 name[16384] = {0, 1}": memory of the host. */
static void define_global(Module &module, const std::string &text)
{
    const size_t equals = std::min(text.find('='), text.size());
    const Variable variable = parse_variable(text.substr(0, equals));
    module.memory.emplace_back(new unsigned char[variable.bytes + variable.align]());
    uintptr_t at = reinterpret_cast<uintptr_t>(module.memory.back().get());
    at = aligned(at, variable.align);
    module.symbols[variable.name] = at;
    if (watcher) {
        watcher->allocated(reinterpret_cast<void *>(at), variable.bytes);
        watcher->host_wrote(reinterpret_cast<void *>(at), variable.bytes);
    }
    if (equals == text.size())
        return;
    if (text.find(".b8") > equals)
        die("PTX: %s has elements that are no bytes", variable.name.c_str());
    auto *byte = reinterpret_cast<unsigned char *>(at);
    const char *number = text.c_str() + text.find('{', equals) + 1;
    for (char *end; *number && *number != '}'; number = end + strspn(end, ", \n"))
        *byte++ = static_cast<unsigned char>(strtoul(number, &end, 0));
}

/* From ".entry" on; returns where the kernel ends. */
static size_t index_kernel(Module &module, const std::string &text, size_t at)
{
    const size_t open = text.find('(', at), close = text.find(')', open);
    const size_t body = text.find('{', close), end = text.find("\n}", body);
    if (end == std::string::npos)
        die("PTX: a kernel without an end");
    const std::string name = trimmed(text.substr(at + 6, open - at - 6));
    KernelText &kernel = texts[name];
    kernel.module = &module;
    kernel.parameters = text.substr(open + 1, close - open - 1);
    kernel.body = text.substr(body + 1, end - body - 1);
    return end + 2;
}

static void read_program(const std::string &path)
{
    static std::vector<std::unique_ptr<Module>> modules;
    std::ifstream file(path);
    const std::string text =
        without_comments({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    modules.emplace_back(new Module);
    Module &module = *modules.back();
    for (size_t at = 0; (at = text.find('.', at)) != std::string::npos;) {
        const std::string word = text.substr(at, text.find_first_of(" \t\n", at) - at);
        const size_t end = text.find(';', at);
        if (word == ".entry") {
            at = index_kernel(module, text, at);
        } else if (word == ".global" || word == ".const") {
            define_global(module, text.substr(at + word.size(), end - at - word.size()));
            at = end;
        } else if (word == ".extern") {
            module.symbols["smem"] = DYNAMIC_SHARED; /* gpu.cuh: DYN_SMEM */
            at = end;
        } else if (word == ".version" || word == ".target" || word == ".address_size") {
            at = std::min(text.find('\n', at), text.size());
        } else {
            die("PTX: %s: %s", path.c_str(), word.c_str());
        }
    }
}

void load_programs(const char *folder)
{
    DIR *directory = opendir(folder);
    while (const dirent *entry = directory ? readdir(directory) : nullptr) {
        const std::string name = entry->d_name;
        if (name.size() > 4 && name.compare(name.size() - 4, 4, ".ptx") == 0)
            read_program(std::string(folder) + "/" + name);
    }
    if (directory)
        closedir(directory);
    if (texts.empty())
        die("EMU_PTX=%s: no kernels there; make check-ptx makes them", folder);
}

Kernel *find_kernel(const std::string &name)
{
    const auto found = texts.find(name);
    if (found == texts.end())
        return nullptr;
    KernelText &text = found->second;
    if (!text.kernel) {
        text.kernel.reset(new Kernel{name, {}, {}, {}, 0, {}, {}, 0});
        parse_kernel(text, *text.kernel);
    }
    return text.kernel.get();
}
} // namespace emu
