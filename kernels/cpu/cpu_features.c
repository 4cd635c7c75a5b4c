/*
 * cpu_features.c: CPUID says what the processor can do, XGETBV which registers
 * the operating system saves; a level needs both.
 */
#include "cpu_features.h"

#include <cpuid.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static const char *const level_names[CPU_LEVELS] = {"ref", "avx2", "avxvnni", "avx512vnni"};

/* CPUID bits, by leaf and register. */
enum {
    LEAF1_ECX_FMA = 1 << 12,
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_F16C = 1 << 29,
    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_AVX512F = 1 << 16,
    LEAF7_EBX_AVX512DQ = 1 << 17,
    LEAF7_EBX_AVX512BW = 1 << 30,
    LEAF7_ECX_AVX512VNNI = 1 << 11,
    LEAF7_1_EAX_AVXVNNI = 1 << 4
};
#define LEAF7_EBX_AVX512VL (UINT32_C(1) << 31)

enum { FAMILY_ZEN_5 = 26 };

/* XCR0: SSE and AVX state; with AVX-512 also masks and both halves of zmm. */
enum { XCR0_AVX = 0x06, XCR0_AVX512 = 0xe6 };

struct cpuid {
    uint32_t eax, ebx, ecx, edx;
};

/* All zero where the processor has no such leaf. */
static struct cpuid cpuid_read(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid r = {0};
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

/* The register states the operating system saves; only with OSXSAVE. */
static uint32_t xcr0_read(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_all(uint32_t value, uint32_t bits)
{
    return (value & bits) == bits;
}

/* Bit i: level i can run. */
static unsigned levels_find(void)
{
    unsigned levels = 1u << CPU_REF;
    struct cpuid leaf1 = cpuid_read(1, 0);
    struct cpuid leaf7 = cpuid_read(7, 0);
    uint32_t xcr0 = leaf1.ecx & LEAF1_ECX_OSXSAVE ? xcr0_read() : 0;
    if (!has_all(xcr0, XCR0_AVX) || !has_all(leaf1.ecx, LEAF1_ECX_FMA | LEAF1_ECX_F16C) ||
        !has_all(leaf7.ebx, LEAF7_EBX_AVX2)) {
        return levels;
    }
    levels |= 1u << CPU_AVX2;
    if (leaf7.eax >= 1 && has_all(cpuid_read(7, 1).eax, LEAF7_1_EAX_AVXVNNI)) {
        levels |= 1u << CPU_AVXVNNI;
    }
    if (has_all(xcr0, XCR0_AVX512) && has_all(leaf7.ecx, LEAF7_ECX_AVX512VNNI) &&
        has_all(leaf7.ebx,
                LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512DQ | LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL)) {
        levels |= 1u << CPU_AVX512VNNI;
    }
    return levels;
}

/* Two threads that come first at once find the same. */
static unsigned levels_available(void)
{
    static _Atomic unsigned found;
    unsigned levels = atomic_load_explicit(&found, memory_order_relaxed);
    if (!levels) {
        levels = levels_find();
        atomic_store_explicit(&found, levels, memory_order_relaxed);
    }
    return levels;
}

const char *cpu_level_name(enum cpu_level level)
{
    return level_names[level];
}

bool cpu_level_parse(const char *name, enum cpu_level *out)
{
    for (int i = 0; i < CPU_LEVELS; i++) {
        if (!strcmp(name, level_names[i])) {
            *out = (enum cpu_level)i;
            return true;
        }
    }
    return false;
}

bool cpu_level_available(enum cpu_level level)
{
    return levels_available() >> level & 1;
}

/* The family as AMD and Intel count it: the extended one belongs to 15 alone. */
static uint32_t cpu_family(void)
{
    uint32_t version = cpuid_read(1, 0).eax, family = version >> 8 & 15;
    return family == 15 ? family + (version >> 20 & 255) : family;
}

bool cpu_multiplies_512(void)
{
    struct cpuid vendor = cpuid_read(0, 0);
    char name[12];
    memcpy(name, &vendor.ebx, 4);
    memcpy(name + 4, &vendor.edx, 4);
    memcpy(name + 8, &vendor.ecx, 4);
    return memcmp(name, "AuthenticAMD", sizeof(name)) || cpu_family() >= FAMILY_ZEN_5;
}

enum cpu_level cpu_level_best(void)
{
    int best = CPU_LEVELS - 1;
    while (!cpu_level_available((enum cpu_level)best)) {
        best--;
    }
    return (enum cpu_level)best;
}
