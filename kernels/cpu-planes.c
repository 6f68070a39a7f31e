/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Counting with logic instead of memory, for processors with AVX-512. 512
 * samples become eight planes, plane b having their bits b. Then, for each of
 * the 256 sets of bits, the samples that have at least those bits are the ones
 * in the AND of these planes. How the samples lie makes no difference.
 */

#include "cpu-count.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vpopcntdq")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#define VECTOR 64u  /* samples in a register */
#define PLANES 8u   /* bits of a sample; also vectors in a chunk */
#define NIBBLES 16u /* sets of four bits */

/* Chunks counted together, so that totals are loaded and stored less often.
 * With the totals these take 32 KiB of the first cache. */
#define CHUNKS 8u

/* Which of 512 samples have all the bits of each set of four bits. */
typedef struct {
  __m512i low[NIBBLES];
  __m512i high[NIBBLES];
} Chunk;

typedef struct {
  __m512i totals[GH_LEVELS]; /* samples with at least the bits of the index */
  __m512i sum;
  uint64_t padding; /* samples of no row, which are zero */
  Chunk chunks[CHUNKS];
  __m512i vectors[PLANES]; /* what comes into the next chunk */
  unsigned n_chunks;
  unsigned n_vectors;
} Planes;

/* Changes the bits of `a` outside `mask` for those of `b` inside it, where
 * `shift` is the distance from the ones to the others. */
INLINE void
exchange(__m512i *a, __m512i *b, unsigned shift, uint64_t mask)
{
  const __m512i keep = _mm512_set1_epi64((long long)mask);
  __m512i up = _mm512_slli_epi64(*b, shift);
  __m512i down = _mm512_srli_epi64(*a, shift);

  /* keep ? *a : up, and keep ? down : *b */
  *a = _mm512_ternarylogic_epi64(keep, *a, up, 0xca);
  *b = _mm512_ternarylogic_epi64(keep, down, *b, 0xca);
}

/* Transposes the 8 x 8 bits of the bytes at each place of 8 vectors. Written
 * out, so that they stay in registers at every level of optimisation. */
INLINE void
transpose(__m512i v[PLANES])
{
  exchange(&v[0], &v[4], 4, 0x0f0f0f0f0f0f0f0f);
  exchange(&v[1], &v[5], 4, 0x0f0f0f0f0f0f0f0f);
  exchange(&v[2], &v[6], 4, 0x0f0f0f0f0f0f0f0f);
  exchange(&v[3], &v[7], 4, 0x0f0f0f0f0f0f0f0f);
  exchange(&v[0], &v[2], 2, 0x3333333333333333);
  exchange(&v[1], &v[3], 2, 0x3333333333333333);
  exchange(&v[4], &v[6], 2, 0x3333333333333333);
  exchange(&v[5], &v[7], 2, 0x3333333333333333);
  exchange(&v[0], &v[1], 1, 0x5555555555555555);
  exchange(&v[2], &v[3], 1, 0x5555555555555555);
  exchange(&v[4], &v[5], 1, 0x5555555555555555);
  exchange(&v[6], &v[7], 1, 0x5555555555555555);
}

/* sets[s] = the AND of the planes whose bits are in s. */
INLINE void
make_sets(const __m512i planes[4], __m512i sets[NIBBLES])
{
  sets[0] = _mm512_set1_epi64(-1);
  for (unsigned b = 0; b < 4; b++)
    for (unsigned s = 0; s < 1u << b; s++)
      sets[1u << b | s] = _mm512_and_si512(sets[s], planes[b]);
}

/* Written out for the same reason. */
#define EACH(DO) \
  DO(0);         \
  DO(1);         \
  DO(2);         \
  DO(3);         \
  DO(4);         \
  DO(5);         \
  DO(6);         \
  DO(7);         \
  DO(8);         \
  DO(9);         \
  DO(10);        \
  DO(11);        \
  DO(12);        \
  DO(13);        \
  DO(14);        \
  DO(15)
#define LOAD(i) __m512i t##i = totals[i]
#define STORE(i) totals[i] = t##i
#define COUNT(i)                \
  t##i = _mm512_add_epi64(t##i, \
                          _mm512_popcnt_epi64(_mm512_and_si512(high, low[i])))

/* All sets of bits whose upper four are those of `set`. */
INLINE void
count_high(const Chunk *chunks, unsigned n, unsigned set, __m512i *totals)
{
  EACH(LOAD);
  for (unsigned c = 0; c < n; c++) {
    const __m512i *low = chunks[c].low;
    __m512i high = chunks[c].high[set];

    EACH(COUNT);
  }
  EACH(STORE);
}

TARGET static void
count_chunks(Planes *p)
{
  for (unsigned set = 0; set < NIBBLES; set++)
    count_high(p->chunks, p->n_chunks, set, p->totals + set * NIBBLES);
  p->n_chunks = 0;
}

TARGET static void
add_chunk(Planes *p)
{
  Chunk *chunk = &p->chunks[p->n_chunks++];

  transpose(p->vectors);
  make_sets(p->vectors, chunk->low);
  make_sets(p->vectors + 4, chunk->high);
  p->n_vectors = 0;
  if (p->n_chunks == CHUNKS)
    count_chunks(p);
}

INLINE void
add_vector(Planes *p, __m512i samples)
{
  p->sum = _mm512_add_epi64(p->sum,
                            _mm512_sad_epu8(samples, _mm512_setzero_si512()));
  p->vectors[p->n_vectors++] = samples;
  if (p->n_vectors == PLANES)
    add_chunk(p);
}

/* What is beyond the row is neither read nor, but as zeroes, counted. */
TARGET static void
add_row(Planes *p, const uint8_t *row, size_t width)
{
  size_t x = 0, rest = width % VECTOR;

  for (; x + VECTOR <= width; x += VECTOR)
    add_vector(p, _mm512_loadu_si512(row + x));
  if (rest == 0)
    return;
  add_vector(p, _mm512_maskz_loadu_epi8((1ull << rest) - 1, row + x));
  p->padding += VECTOR - rest;
}

TARGET static void
finish(Planes *p)
{
  while (p->n_vectors != 0) {
    add_vector(p, _mm512_setzero_si512());
    p->padding += VECTOR;
  }
  count_chunks(p);
}

/* From samples with at least some bits to samples with just these bits. */
static void
take_supersets_away(uint64_t count[GH_LEVELS])
{
  for (unsigned bit = 1; bit < GH_LEVELS; bit *= 2)
    for (unsigned v = 0; v < GH_LEVELS; v++)
      if (!(v & bit))
        count[v] -= count[v | bit];
}

TARGET void
gh_count_planes(const GhFrame *frame, uint32_t *scratch, GhCounts *counts)
{
  uint64_t count[GH_LEVELS];
  Planes p;

  memset(p.totals, 0, sizeof(p.totals));
  p.sum = _mm512_setzero_si512();
  p.padding = 0;
  p.n_chunks = p.n_vectors = 0;
  for (size_t y = 0; y < frame->height; y++)
    add_row(&p, frame->samples + y * frame->stride, frame->width);
  finish(&p);
  for (unsigned v = 0; v < GH_LEVELS; v++)
    count[v] = (uint64_t)_mm512_reduce_add_epi64(p.totals[v]);
  take_supersets_away(count);
  count[0] -= p.padding;
  for (unsigned v = 0; v < GH_LEVELS; v++)
    counts->count[v] += count[v];
  counts->sum += (uint64_t)_mm512_reduce_add_epi64(p.sum);
}

bool
gh_count_planes_is_supported(void)
{
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}

#else

void
gh_count_planes(const GhFrame *frame, uint32_t *scratch, GhCounts *counts)
{
}

bool
gh_count_planes_is_supported(void)
{
  return false;
}

#endif
