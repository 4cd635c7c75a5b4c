/*
 * ptx_program.h: kernels as nvcc translated them to PTX, for the emulator to run instead of
 * what g++ made of the same source: the text of every asm, its clobbers and nvcc's own work are
 * then part of what is tested. EMU_PTX names a folder with the .ptx files of all kernel files.
 *
 * Known are the instructions that the kernels come to; another one is an error that names it.
 */
#pragma once
#include "emu_internal.h"

#include <string>

namespace emu
{
/* A register or constant of a thread, by its number in Lane::values. */
typedef uint16_t Slot;

/* What every kernel has in its first slots; PTX names them %tid.x and so on. */
enum SpecialSlot : Slot {
    TRUE_SLOT,
    TID,
    NTID = TID + 3,
    CTAID = NTID + 3,
    NCTAID = CTAID + 3,
    LANEID = NCTAID + 3,
    FIRST_FREE_SLOT
};

struct Instruction;

/* A thread as it runs a translated kernel. Values are kept in the low bits; predicates are 0 or 1.
 */
struct Lane {
    uint64_t *values;
    const Instruction *next; /* null: it has returned */
};

typedef void RunInstruction(Lane &lane, const Instruction &self);

constexpr int MAX_OPERANDS = 14; /* of an mma */

struct Instruction {
    RunInstruction *run;
    Slot operands[MAX_OPERANDS]; /* in the order of the text, vectors element by element */
    Slot guard;                  /* a predicate; runs where it is `expected` */
    bool expected;
    bool in_shared;            /* of a memory access: its address counts in shared memory */
    bool watched;              /* the same: other threads can see it */
    uint8_t count;             /* operands; of a memory access: elements */
    int32_t offset;            /* added to the address of a memory access */
    const Instruction *target; /* of a branch */
    std::string text;          /* for reports */
};

struct Kernel {
    std::string name;
    std::vector<size_t> parameter_offsets, parameter_sizes;
    std::vector<unsigned char> parameters; /* of the launch at hand */
    size_t static_shared;                  /* bytes */
    std::vector<Instruction> code;
    std::vector<uint64_t>
        constants; /* the first slots; the special ones are filled in by each thread */
    size_t slots;
};

/* Addresses in shared memory: static arrays from 0 on, what is sized at launch from DYNAMIC_SHARED
 * on. */
constexpr size_t MAX_STATIC_SHARED = 48 << 10;
constexpr uint32_t DYNAMIC_SHARED = 1 << 16;

/* What runs an instruction of that name, "add.s32"; null: unknown. Loads, stores, branches and
 * moves of parts, whose operands differ, are the parser's own. */
RunInstruction *find_instruction(const std::string &name);

/* Loads and stores of elements of a type, "u32"; null: unknown. */
RunInstruction *find_load(const std::string &type);
RunInstruction *find_store(const std::string &type);
extern RunInstruction run_branch, run_return, run_unpack_64, run_pack_64, run_unpack_32,
    run_pack_32, run_shared_to_generic;

/* The bytes of shared memory at an address of its own; dies where there are fewer. */
unsigned char *shared_at(uint32_t address, unsigned bytes);

/* Reads a folder's files; dies unless it holds some. */
void load_programs(const char *folder);

/* The kernel of this name as C++ mangles it; null: none. */
Kernel *find_kernel(const std::string &name);

/* The translation of a call's kernel with its arguments filled in; null: EMU_PTX is not set. */
const Kernel *translate(const Call &call);

/* Fills static shared memory as that of a new block. */
void begin_translated_block(const Kernel &kernel);

/* The instruction that runs, for reports; null: none does. */
extern const Instruction *instruction_now;

/* Runs the current thread to its end. */
void run_translated_thread(const Kernel &kernel);
} // namespace emu
