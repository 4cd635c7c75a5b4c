/*
 * cpu_features.h: which instruction sets this processor and its operating
 * system offer, as levels that the kernels are compiled for.
 */
#ifndef CPU_FEATURES_H
#define CPU_FEATURES_H

#include <stdbool.h>

enum cpu_level { CPU_REF = 0, CPU_AVX2, CPU_AVXVNNI, CPU_AVX512VNNI, CPU_LEVELS };

/* "ref", "avx2", "avxvnni", "avx512vnni". */
const char *cpu_level_name(enum cpu_level level);

/* Finds a level by its name; false if there is none. */
bool cpu_level_parse(const char *name, enum cpu_level *out);

/* Whether processor and operating system can run that level. Found once;
 * thread-safe. */
bool cpu_level_available(enum cpu_level level);

/* Whether 512 bits are multiplied in one pass, not in two as by AMD's before Zen 5: which tiles are
 * fastest depends on that. Says nothing of whether there is AVX-512. To be asked once: a virtual
 * machine takes some microseconds to answer. */
bool cpu_multiplies_512(void);

/* The highest available level. */
enum cpu_level cpu_level_best(void);

#endif
