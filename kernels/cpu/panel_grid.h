/*
 * panel_grid.h: what the decoders of the codebook types share (grids.h). They go
 * over 64 weights of all rows at a time: sub-block 2h, "first" here, and 2h + 1,
 * "second", whose weights lie side by side in the eight steps 8h.. of a panel.
 *
 * Entries are looked up one by one, which is what these decoders take their time
 * for: a gather is slower on many processors. Where the indices lie, which signs
 * and which scales the weights have, is found for all rows at once.
 */
#ifndef PANEL_GRID_H
#define PANEL_GRID_H

#include "grids.h"
#include "half.h"
#include "panel_k.h"
#include "unpack.h"

/* Where a field of the block at `bytes` starts; blocks have no alignment. */
#define FIELD(type, name) (bytes + offsetof(struct block_##type, name))

/* Indices of entries, a dword of each of DECODE_ROWS rows. */
typedef uint8_t grid_indices[DECODE_ROWS][4];

/* How many bytes an index has. */
enum index_bytes { INDEX_8 = 1, INDEX_16 = 2 };

/* Index `at` of the dword of row r. */
ALWAYS_INLINE unsigned grid_index(const grid_indices indices, int r, int at, enum index_bytes bytes)
{
    return bytes == INDEX_8 ? indices[r][at] : load_16(indices[r] + 2 * at);
}

/* Where part e of a step has the eight bytes of row r of the part (pair_store_step). */
ALWAYS_INLINE uint8_t *grid_place(uint8_t step[2][64], int e, int r)
{
    return step[r / 2 % 2] + 4 * DECODE_ROWS * e + 8 * (r / 4 * 2 + r % 2);
}

/* Puts eight bytes of one row to its place. Left to itself gcc would collect the entries of
 * several rows in a vector first, which takes longer than it spares. */
ALWAYS_INLINE void grid_put(uint8_t *to, uint64_t entry)
{
    __asm__("" : "+r"(entry));
    __builtin_memcpy(to, &entry, sizeof(entry));
}

/* Entries of eight of a grid, index `at` of every row, to a step. */
ALWAYS_INLINE void grid_look_up_8(const uint64_t *grid, const grid_indices indices, int at,
                                  enum index_bytes bytes, uint8_t step[2][64], int e)
{
    UNROLL(16)
    for (int r = 0; r < DECODE_ROWS; r++) {
        grid_put(grid_place(step, e, r), grid[grid_index(indices, r, at, bytes)]);
    }
}

/* The same of a grid of four: an entry of the first and one of the second sub-block. */
ALWAYS_INLINE void grid_look_up_4(const uint32_t *grid, const grid_indices first,
                                  const grid_indices second, int at, enum index_bytes bytes,
                                  uint8_t step[2][64], int e)
{
    UNROLL(16)
    for (int r = 0; r < DECODE_ROWS; r++) {
        uint64_t low = grid[grid_index(first, r, at, bytes)];
        uint64_t high = grid[grid_index(second, r, at, bytes)];
        grid_put(grid_place(step, e, r), low | high << 32);
    }
}

/* Two indices of 16 bits: those of entries n and n + 2 (n = 0, 1) of four, whose low eight bits
 * are the bytes of `low`. Of `high` entry i has `bits` bits from bit first + i * apart on. */
ALWAYS_INLINE dwords grid_indices_16(dwords low, dwords high, int n, int first, int apart, int bits)
{
    const int mask = (1 << bits) - 1;
    dwords q = n ? dwords_right_16(low, 8) : dwords_and(low, dwords_set_32(0x00ff00ff));
    dwords lower = dwords_left_32(high, 8 - first - n * apart);
    dwords upper = dwords_left_32(high, 24 - first - (n + 2) * apart);
    return dwords_or(q,
                     merge_bits(lower, dwords_set_32(mask << 8), upper, dwords_set_32(mask << 24)));
}

/* Both kinds of indices of four entries: [n]. */
ALWAYS_INLINE void grid_store_indices(grid_indices to[2], dwords low, dwords high, int first,
                                      int apart, int bits)
{
    UNROLL(2)
    for (int n = 0; n < 2; n++) {
        dwords_store(to[n], 0, grid_indices_16(low, high, n, first, apart, bits));
    }
}

/* A dword of the first and one of the second sub-block beside each other, as in a step:
 * [row half]. */
ALWAYS_INLINE void grid_interleave(dwords first, dwords second, dwords out[2])
{
    out[0] = dwords_unpack_low_32(first, second);
    out[1] = dwords_unpack_high_32(first, second);
}

/* The byte of each dword that has the bits of weights 4k..4k + 3 of 32, in all four bytes. */
ALWAYS_INLINE dwords grid_spread_bits(dwords bits, int k)
{
    const int byte = k / 2 * 0x01010101;
    return dwords_shuffle_8(bits,
                            dwords_repeat(_mm_setr_epi32(byte, byte + 0x04040404, byte + 0x08080808,
                                                         byte + 0x0c0c0c0c)));
}

/* Which bit of its byte each of these weights has. */
ALWAYS_INLINE dwords grid_bits_of(int k)
{
    return dwords_set_32(k % 2 ? (int)0x80402010 : 0x08040201);
}

/* 32 sign bits from four times seven, in the low 28 bits: the eighth of a byte makes their
 * number even. */
ALWAYS_INLINE dwords grid_even_signs(dwords sevens)
{
    const dwords m7 = dwords_set_8(0x7f), m4 = dwords_set_8(15);
    const dwords parity = dwords_repeat(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    dwords lower =
        merge_bits(sevens, dwords_set_32(0x7f), dwords_left_32(sevens, 1), dwords_set_32(0x7f00));
    dwords upper = merge_bits(dwords_left_32(sevens, 2), dwords_set_32(0x7f0000),
                              dwords_left_32(sevens, 3), dwords_set_32(0x7f000000));
    dwords signs = dwords_and(dwords_or(lower, upper), m7);
    dwords folded = dwords_and(dwords_xor(signs, dwords_right_16(signs, 4)), m4);
    return dwords_or(signs, dwords_shuffle_8(parity, folded));
}

/* Two odd scales, 2s + 1 of two int16 s. */
ALWAYS_INLINE dwords grid_odd(dwords s)
{
    return dwords_or(dwords_left_16(s, 1), dwords_set_16(1));
}

/* Both scales of two tails (the upper four bits), as in a pair. */
ALWAYS_INLINE dwords grid_tail_scales(dwords first, dwords second)
{
    return dwords_or(dwords_right_32(first, 28),
                     dwords_and(dwords_right_32(second, 12), dwords_set_32(0xf0000)));
}

/* Of four scales in nibbles, of groups 4h.., those of pair 2h + c: groups 4h + c and 4h + c + 2, as
 * two int16. */
ALWAYS_INLINE dwords grid_nibbles_of_pair(dwords four, int c)
{
    return merge_bits(dwords_right_32(four, 4 * c), dwords_set_32(15),
                      dwords_left_32(four, 8 - 4 * c), dwords_set_32(15 << 16));
}

/* d, the half float that a block begins with, times a power of two. */
ALWAYS_INLINE void grid_store_d(const uint8_t *bytes, size_t stride, struct k_panel *p, int e,
                                float factor)
{
    dwords v[4];
    turn_rows(bytes, stride, v);
    dword_floats_store(p->d + DECODE_ROWS * e,
                       dword_floats_mul(low_halves_to_float(v[0]), dword_floats_set(factor)));
}

#endif
