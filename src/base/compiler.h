/*
 * compiler.h: the few words that differ between compilers, and small macros
 * that every floor uses.
 */
#ifndef COMPILER_H
#define COMPILER_H

#ifdef __FAST_MATH__
#error "-ffast-math changes results: all CPU levels and builds give the same bits without it"
#endif

#define ALWAYS_INLINE            static inline __attribute__((always_inline))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define ALIGNED(bytes)           __attribute__((aligned(bytes)))
#define PACKED                   __attribute__((packed))

/* Hides from the compiler how a float came about. gcc 12 at -O3 joins products, sums
 * and differences in turn into one instruction that rounds once (vfmaddsub), in spite of
 * -ffp-contract=off; scripts/check_isa.sh looks for it. */
#if defined(__x86_64__)
#define HIDE_FLOAT(x) __asm__("" : "+x"(x))
#else
#define HIDE_FLOAT(x) ((void)0)
#endif

#define PRAGMA(text) _Pragma(#text)
/* Unrolls the loop that follows n times; clang and gcc spell it alike here. */
#define UNROLL(n) PRAGMA(GCC unroll n)

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)          ((a) < (b) ? (a) : (b))
#define MAX(a, b)          ((a) > (b) ? (a) : (b))
/* Smallest multiple of step that is at least n; n >= 0, step > 0. */
#define ROUND_UP(n, step) (((n) + (step)-1) / (step) * (step))
#define DIV_UP(n, step)   (((n) + (step)-1) / (step))

#define CACHE_LINE 64

#endif
