/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the ways of counting do alike with a row: words, runs, and its sum. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Arguments such as a number of tables have to become constants at every level
 * of optimisation: a remainder for each sample would take most of the time.
 * tests/coverage has no copies, as each would have branches that it cannot
 * take. */
#ifndef GH_INLINE
#define GH_INLINE static inline __attribute__((always_inline))
#endif

GH_INLINE uint64_t
gh_load_word(const uint8_t *bytes)
{
  uint64_t word;

  memcpy(&word, bytes, sizeof(word));
  return word;
}

/* Whether 32 samples, of which `first` are the first 8, are equal, as in flat
 * areas, black bars and clipped skies. */
GH_INLINE bool
gh_is_run(const uint8_t *p, uint64_t first)
{
  uint64_t differ =
      (first ^ ((first << 8) | (first >> 56))) | (first ^ gh_load_word(p + 8)) |
      (first ^ gh_load_word(p + 16)) | (first ^ gh_load_word(p + 24));

  return differ == 0;
}

/* The same for 16 words, of which `first` are the first 4. */
GH_INLINE bool
gh_is_run_of_words(const uint8_t *p, uint64_t first)
{
  uint64_t differ = (first ^ ((first << 16) | (first >> 48))) |
                    (first ^ gh_load_word(p + 8)) |
                    (first ^ gh_load_word(p + 16)) |
                    (first ^ gh_load_word(p + 24));

  return differ == 0;
}

/* The sum of all samples goes its own way, not made from the counts, so that
 * it can check them; beside the counting it costs next to nothing. */
#ifdef __SSE2__

typedef __m128i GhSum; /* two sums of 64 bits */

GH_INLINE void
gh_sum_start(GhSum *sum)
{
  *sum = _mm_setzero_si128();
}

GH_INLINE void
gh_sum_add_32(GhSum *sum, const uint8_t *p)
{
  const __m128i zero = _mm_setzero_si128();
  __m128i low = _mm_loadu_si128((const __m128i *)p);
  __m128i high = _mm_loadu_si128((const __m128i *)(p + 16));

  *sum = _mm_add_epi64(
      *sum, _mm_add_epi64(_mm_sad_epu8(low, zero), _mm_sad_epu8(high, zero)));
}

GH_INLINE uint64_t
gh_sum_end(const GhSum *sum)
{
  uint64_t halves[2];

  _mm_storeu_si128((__m128i *)halves, *sum);
  return halves[0] + halves[1];
}

#else

typedef uint64_t GhSum;

GH_INLINE void
gh_sum_start(GhSum *sum)
{
  *sum = 0;
}

/* Four lanes of 16 bits, which a multiplication adds up. */
GH_INLINE void
gh_sum_add_32(GhSum *sum, const uint8_t *p)
{
  const uint64_t even = 0x00ff00ff00ff00ff;
  uint64_t lanes = 0;

  for (unsigned i = 0; i < 4; i++) {
    uint64_t word = gh_load_word(p + 8 * i);

    lanes += (word & even) + (word >> 8 & even);
  }
  *sum += lanes * 0x0001000100010001 >> 48;
}

GH_INLINE uint64_t
gh_sum_end(const GhSum *sum)
{
  return *sum;
}

#endif
