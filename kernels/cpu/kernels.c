/* kernels.c: fills the table of kernels, the reference first. */
#include "kernels.h"

#include "panel.h"

#include <string.h>

size_t matmul_scratch_bytes(int tokens)
{
    return sizeof(struct panel_scratch) +
           MAX((size_t)tokens * PANEL_ROWS, PANEL_SUMS) * sizeof(float);
}

/* AVX-VNNI and AVX-512 do not imply each other: a level below the chosen one
 * is left out where the machine lacks it. */
static bool wanted(enum cpu_level level, enum cpu_level chosen)
{
    return level <= chosen && cpu_level_available(level);
}

void cpu_kernels_init(struct cpu_kernels *kernels, enum cpu_level level)
{
    memset(kernels, 0, sizeof(*kernels));
    matmul_kernels_ref(kernels);
    rows_kernels_ref(kernels);
    attention_kernels_ref(kernels);
    if (wanted(CPU_AVX2, level)) {
        matmul_kernels_avx2(kernels);
        rows_kernels_avx2(kernels);
        attention_kernels_avx2(kernels);
    }
    if (wanted(CPU_AVXVNNI, level)) {
        matmul_kernels_avxvnni(kernels);
    }
    if (wanted(CPU_AVX512VNNI, level)) {
        matmul_kernels_avx512vnni(kernels);
        if (cpu_multiplies_512()) {
            matmul_kernels_tiles8(kernels);
        }
        rows_kernels_avx512vnni(kernels);
        attention_kernels_avx512vnni(kernels);
    }
}
