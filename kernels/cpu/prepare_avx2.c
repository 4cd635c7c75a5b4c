/*
 * prepare_avx2.c: inputs of a matmul in their forms; the same single roundings
 * as prepare_ref.c, eight values at a time.
 */
#include "prepare.h"

#include "compiler.h"
#include "half.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

/* max |x[i]| of count values, a multiple of 8; a NaN if there is one: the bits
 * of magnitudes are ordered as integers. */
ALWAYS_INLINE float largest_magnitude(const float *x, int count)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i most = _mm256_setzero_si256();
    for (int i = 0; i < count; i += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(x + i));
        most = _mm256_max_epi32(most, _mm256_and_si256(v, magnitude));
    }
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return float_from_bits((uint32_t)_mm_cvtsi128_si32(m));
}

/* The factor of a block whose largest magnitude is `most`, and its scale;
 * a factor of 0 stands for q = 0 whatever x is. */
ALWAYS_INLINE float factor_of(float most, float *scale)
{
    if (most < ACTIVATION_TINY || !isfinite(most)) {
        *scale = most < ACTIVATION_TINY ? 0.0f : most;
        return 0.0f;
    }
    *scale = most / 127.0f;
    return 127.0f / most;
}

ALWAYS_INLINE __m256i round_8(const float *x, __m256 factor)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), factor));
}

/* 32 values as int8 in plain order. */
ALWAYS_INLINE __m256i quantize_32(const float *x, float factor)
{
    if (factor == 0.0f) {
        return _mm256_setzero_si256();
    }
    const __m256 f = _mm256_set1_ps(factor);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i low = _mm256_packs_epi32(round_8(x, f), round_8(x + 8, f));
    __m256i high = _mm256_packs_epi32(round_8(x + 16, f), round_8(x + 24, f));
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
}

/* Stores first (32 values) and second as activation_place says. */
ALWAYS_INLINE void store_places(int8_t *q, __m256i first, __m256i second)
{
    __m256i low = _mm256_unpacklo_epi32(first, second);
    __m256i high = _mm256_unpackhi_epi32(first, second);
    _mm256_storeu_si256((__m256i *)q, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((__m256i *)(q + 32), _mm256_permute2x128_si256(low, high, 0x31));
}

/* The lower halves of both 128-bit lanes. */
ALWAYS_INLINE __m128i low_halves(__m256i v)
{
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(v, 0x08));
}

/* Pair sums of a group (in each lane) to its sums of values 0, 1 and 2, 3 of
 * every four, in every dword. */
ALWAYS_INLINE __m256i sum_dwords(__m256i pairs)
{
    pairs = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0x4e));
    return _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0xb1));
}

/* Sums and starts of 64 values: `first` is groups 4h and 4h + 1, `second`
 * groups 4h + 2 and 4h + 3, a group per lane; so lane c is pair 2h + c. */
ALWAYS_INLINE void store_sums(__m256i first, __m256i second, struct activations_q8_256 *out,
                              size_t row, int h)
{
    const __m256i ones8 = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
    const __m256i zero = _mm256_setzero_si256();
    __m256i first2 = _mm256_maddubs_epi16(ones8, first);
    __m256i second2 = _mm256_maddubs_epi16(ones8, second);

    __m256i twos = _mm256_unpacklo_epi32(sum_dwords(first2), sum_dwords(second2));
    twos = _mm256_sub_epi16(zero, _mm256_slli_epi16(twos, 5));
    _mm_storeu_si128((__m128i *)(out->start2 + row * 32 + 8 * h), low_halves(twos));

    /* Lane: sums of eight f0 f1 s0 s1; then of sixteen f s f s. */
    __m256i eights =
        _mm256_hadd_epi32(_mm256_madd_epi16(first2, ones16), _mm256_madd_epi16(second2, ones16));
    __m256i start8 = _mm256_sub_epi32(zero, _mm256_slli_epi32(eights, 5));
    _mm256_storeu_si256((__m256i *)(out->start8 + row * 32 + 8 * h),
                        _mm256_shuffle_epi32(start8, 0xd8));
    __m128i sixteens = low_halves(_mm256_hadd_epi32(eights, eights));
    _mm_storel_epi64((__m128i *)(out->sums16 + row * 16 + 4 * h),
                     _mm_packs_epi32(sixteens, sixteens));
    _mm_storeu_si128((__m128i *)(out->start16 + row * 16 + 4 * h),
                     _mm_sub_epi32(_mm_setzero_si128(), _mm_slli_epi32(sixteens, 5)));
    __m128i sums = _mm_add_epi32(sixteens, _mm_shuffle_epi32(sixteens, 0x4e));
    out->sums32[row * 8 + (size_t)(2 * h)] = (int16_t)_mm_extract_epi32(sums, 0);
    out->sums32[row * 8 + (size_t)(2 * h) + 1] = (int16_t)_mm_extract_epi32(sums, 1);
}

/* The largest sums seen so far, in dwords: of the positive or the negative
 * values of 32, of the magnitudes of 16, of those of eight as prepare_ref.c takes
 * them. */
struct largest_sums {
    __m256i side, magnitude, eight;
};

/* Adds a group of 32. */
ALWAYS_INLINE void see_sums(struct largest_sums *most, __m256i q)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i positive = _mm256_sad_epu8(_mm256_max_epi8(q, zero), zero);
    __m256i negative = _mm256_sad_epu8(_mm256_max_epi8(_mm256_sub_epi8(zero, q), zero), zero);
    /* Qwords: of eight values in a row; then of values 0, 1 and 2, 3 of every four. */
    __m256i magnitudes = _mm256_abs_epi8(q);
    __m256i row = _mm256_sad_epu8(magnitudes, zero);
    __m256i low = _mm256_sad_epu8(_mm256_and_si256(magnitudes, _mm256_set1_epi32(0xffff)), zero);
    low = _mm256_add_epi64(low, _mm256_shuffle_epi32(low, 0x4e));
    __m256i both_rows = _mm256_add_epi64(row, _mm256_shuffle_epi32(row, 0x4e));
    __m256i place = _mm256_max_epi32(low, _mm256_sub_epi64(both_rows, low));
    most->eight = _mm256_max_epi32(most->eight, _mm256_max_epi32(row, place));
    /* Dwords of a lane: positive, negative, twice, over its sixteen values. */
    __m256i both = _mm256_or_si256(positive, _mm256_slli_epi64(negative, 32));
    both = _mm256_add_epi32(both, _mm256_shuffle_epi32(both, 0x4e));
    most->magnitude =
        _mm256_max_epi32(most->magnitude, _mm256_add_epi32(both, _mm256_shuffle_epi32(both, 0xb1)));
    most->side = _mm256_max_epi32(
        most->side, _mm256_add_epi32(both, _mm256_permute2x128_si256(both, both, 0x01)));
}

/* prepare_ref.c says what is wide. */
ALWAYS_INLINE uint8_t wide_bits(const struct largest_sums *most)
{
    __m128i side = _mm256_castsi256_si128(most->side); /* both lanes are alike */
    side = _mm_max_epi32(side, _mm_shuffle_epi32(side, 0xb1));
    __m128i magnitude = _mm_max_epi32(_mm256_castsi256_si128(most->magnitude),
                                      _mm256_extracti128_si256(most->magnitude, 1));
    __m128i eight = _mm_max_epi32(_mm256_castsi256_si128(most->eight),
                                  _mm256_extracti128_si256(most->eight, 1));
    eight = _mm_max_epi32(eight, _mm_shuffle_epi32(eight, 0x4e));
    int s = _mm_cvtsi128_si32(side), m = _mm_cvtsi128_si32(magnitude);
    return (uint8_t)((15 * s > INT16_MAX ? WIDE_Q4_K : 0) | (31 * s > INT16_MAX ? WIDE_Q5_K : 0) |
                     (32 * m > INT16_MAX ? WIDE_Q6_K : 0) |
                     (54 * _mm_cvtsi128_si32(eight) > INT16_MAX ? WIDE_IQ2 : 0));
}

static void prepare_q8_256(const float *x, size_t row, struct activations_q8_256 *out)
{
    float factor = factor_of(largest_magnitude(x, SUPER_BLOCK), out->scale + row);
    struct largest_sums most = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                _mm256_setzero_si256()};
    for (int h = 0; h < 4; h++) {
        __m256i first = quantize_32(x + 64 * h, factor);
        __m256i second = quantize_32(x + 64 * h + 32, factor);
        store_places(out->q + row * SUPER_BLOCK + 64 * h, first, second);
        store_sums(first, second, out, row, h);
        see_sums(&most, first);
        see_sums(&most, second);
    }
    out->wide[row] = wide_bits(&most);
}

/* One block of 32: returns its q in plain order, sets scale and start at `at`. */
ALWAYS_INLINE __m256i quantize_block(const float *x, size_t at, struct activations_q8_32 *out)
{
    __m256i q = quantize_32(x, factor_of(largest_magnitude(x, 32), out->scale + at));
    /* Sums of q + 128 as unsigned bytes, in four parts. */
    const __m256i flip = _mm256_set1_epi8((char)0x80);
    __m256i parts = _mm256_sad_epu8(_mm256_xor_si256(q, flip), _mm256_setzero_si256());
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(parts), _mm256_extracti128_si256(parts, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    out->start32[at] = -128 * (_mm_cvtsi128_si32(sum) - 32 * 128);
    return q;
}

static void prepare_q8_32(const float *x, size_t row, struct activations_q8_32 *out)
{
    for (int h = 0; h < 4; h++, x += 64) {
        size_t at = row * 8 + (size_t)(2 * h);
        __m256i first = quantize_block(x, at, out);
        __m256i second = quantize_block(x + 32, at + 1, out);
        store_places(out->q + at * 32, first, second);
    }
}

void prepare_avx2(const float *x, int token, struct activations *out)
{
    for (int b = 0; b < out->blocks; b++, x += SUPER_BLOCK) {
        float padded[SUPER_BLOCK];
        const float *values = x;
        int count = out->width - b * SUPER_BLOCK;
        if (count < SUPER_BLOCK) {
            memset(padded, 0, sizeof(padded));
            memcpy(padded, x, (size_t)count * sizeof(*x));
            values = padded;
        }
        size_t row = (size_t)b * (size_t)out->tokens + (size_t)token;
        if (out->forms & ACTIVATION_F32) {
            memcpy(out->f32 + row * SUPER_BLOCK, values, sizeof(padded));
        }
        if (out->forms & ACTIVATION_Q8_256) {
            prepare_q8_256(values, row, &out->q8_256);
        }
        if (out->forms & ACTIVATION_Q8_32) {
            prepare_q8_32(values, row, &out->q8_32);
        }
    }
}
