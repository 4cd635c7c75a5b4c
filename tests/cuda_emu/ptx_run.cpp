/*
 * ptx_run.cpp: finds the translation of a kernel that is launched, and runs threads of it.
 */
#include "ptx_program.h"

#include <elf.h>
#include <fstream>
#include <iterator>
#include <map>

namespace emu
{
const Instruction *instruction_now;
static const Kernel *running;

/* Static shared memory: a variable of the program, as that of kernels that g++ translated is, by
 * which the race checks know it. */
static unsigned char static_shared[MAX_STATIC_SHARED] __attribute__((aligned(128)));

unsigned char *shared_at(uint32_t address, unsigned bytes)
{
    const bool dynamic = address >= DYNAMIC_SHARED;
    const size_t offset = dynamic ? address - DYNAMIC_SHARED : address;
    const size_t size = dynamic ? shared_bytes : running->static_shared;
    if (offset + bytes > size)
        die("%u bytes at %zu of %zu of %s shared memory", bytes, offset, size,
            dynamic ? "dynamic" : "static");
    return (dynamic ? shared_now : static_shared) + offset;
}

/* Names of the program's functions by their addresses, from its symbol table. */
static std::map<const void *, std::string> read_symbols()
{
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const char *base = text.data();
    const auto *header = reinterpret_cast<const Elf64_Ehdr *>(base);
    const auto *sections = reinterpret_cast<const Elf64_Shdr *>(base + header->e_shoff);
    std::map<const void *, std::string> names;
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const auto *symbols = reinterpret_cast<const Elf64_Sym *>(base + sections[i].sh_offset);
        const char *strings = base + sections[sections[i].sh_link].sh_offset;
        for (size_t n = 0; n < sections[i].sh_size / sizeof *symbols; n++)
            if (ELF64_ST_TYPE(symbols[n].st_info) == STT_FUNC)
                names[reinterpret_cast<const void *>(symbols[n].st_value)] =
                    strings + symbols[n].st_name;
    }
    return names;
}

/* g++ marks a static function in its name, nvcc does not. */
static std::string name_in_ptx(const void *function)
{
    static const std::map<const void *, std::string> names = read_symbols();
    const auto found = names.find(function);
    if (found == names.end())
        die("a kernel at %p without a name: link with -no-pie, do not strip", function);
    const std::string &name = found->second;
    return name.compare(0, 3, "_ZL") == 0 ? "_Z" + name.substr(3) : name;
}

const Kernel *translate(const Call &call)
{
    static std::map<const void *, Kernel *> kernels;
    if (!settings().ptx)
        return nullptr;
    if (kernels.empty())
        load_programs(settings().ptx);
    Kernel *&kernel = kernels[call.kernel];
    if (!kernel)
        kernel = find_kernel(name_in_ptx(call.kernel));
    if (!kernel)
        die("EMU_PTX=%s: no kernel %s there", settings().ptx, name_in_ptx(call.kernel).c_str());
    std::vector<const void *> arguments(kernel->parameter_sizes.size());
    if (call.arguments(call.body, nullptr, 0) != arguments.size())
        die("%s: %zu parameters in PTX", kernel->name.c_str(), arguments.size());
    call.arguments(call.body, arguments.data(), arguments.size());
    for (size_t i = 0; i < arguments.size(); i++)
        memcpy(&kernel->parameters[kernel->parameter_offsets[i]], arguments[i],
               kernel->parameter_sizes[i]);
    return running = kernel;
}

void begin_translated_block(const Kernel &kernel)
{
    memset(static_shared, 0xff, kernel.static_shared); /* NaN as f16, f32 and f64 */
}

template <class Index> static void set_index(uint64_t *slots, const Index &index)
{
    slots[0] = index.x;
    slots[1] = index.y;
    slots[2] = index.z;
}

void run_translated_thread(const Kernel &kernel)
{
    static std::vector<uint64_t> values[MAX_FIBERS];
    std::vector<uint64_t> &own = values[current->number];
    if (own.size() < kernel.slots)
        own.resize(kernel.slots);
    std::copy(kernel.constants.begin(), kernel.constants.end(), own.begin());
    set_index(&own[TID], threadIdx);
    set_index(&own[NTID], blockDim);
    set_index(&own[CTAID], blockIdx);
    set_index(&own[NCTAID], gridDim);
    own[LANEID] = uint64_t(current->number & 31);
    Lane lane = {own.data(), kernel.code.data()};
    while (lane.next) {
        const Instruction &instruction = *lane.next++;
        instruction_now = &instruction;
        if (bool(lane.values[instruction.guard]) == instruction.expected)
            instruction.run(lane, instruction);
    }
    instruction_now = nullptr;
}
} // namespace emu
