/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-count.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static void
count_reference(const uint8_t *samples, size_t stride, size_t width,
                size_t rows, GhCounts *counts)
{
  for (size_t y = 0; y < rows; y++) {
    const uint8_t *row = samples + y * stride;

    for (size_t x = 0; x < width; x++) {
      counts->count[row[x]]++;
      counts->sum += row[x];
    }
  }
}

static uint64_t
load_word(const uint8_t *bytes)
{
  uint64_t word;

  memcpy(&word, bytes, sizeof(word));
  return word;
}

/* The sum of all samples goes its own way, not made from the counts, so that
 * it can check them; beside the counting it costs next to nothing. */
#ifdef __SSE2__

typedef __m128i Sum; /* two sums of 64 bits */

static inline void
sum_start(Sum *sum)
{
  *sum = _mm_setzero_si128();
}

static inline void
sum_add_32(Sum *sum, const uint8_t *p)
{
  const __m128i zero = _mm_setzero_si128();
  __m128i low = _mm_loadu_si128((const __m128i *)p);
  __m128i high = _mm_loadu_si128((const __m128i *)(p + 16));

  *sum = _mm_add_epi64(
      *sum, _mm_add_epi64(_mm_sad_epu8(low, zero), _mm_sad_epu8(high, zero)));
}

static inline uint64_t
sum_end(const Sum *sum)
{
  uint64_t halves[2];

  _mm_storeu_si128((__m128i *)halves, *sum);
  return halves[0] + halves[1];
}

#else

typedef uint64_t Sum;

static inline void
sum_start(Sum *sum)
{
  *sum = 0;
}

/* Four lanes of 16 bits, which a multiplication adds up. */
static inline void
sum_add_32(Sum *sum, const uint8_t *p)
{
  const uint64_t even = 0x00ff00ff00ff00ff;
  uint64_t lanes = 0;

  for (unsigned i = 0; i < 4; i++) {
    uint64_t word = load_word(p + 8 * i);

    lanes += (word & even) + (word >> 8 & even);
  }
  *sum += lanes * 0x0001000100010001 >> 48;
}

static inline uint64_t
sum_end(const Sum *sum)
{
  return *sum;
}

#endif

/* The numbers of tables have to become constants at every level of
 * optimisation: a remainder for each sample would take most of the time. */
#define INLINE static inline __attribute__((always_inline))

/* Tables start on different sets of the first cache. */
#define TABLE_WORDS (GH_LEVELS + 16)

/* Equal neighbours would wait for each other's increment of one counter, so
 * neighbours go to different tables. */
INLINE void
count_word(uint64_t word, uint32_t (*tables)[TABLE_WORDS], unsigned n_tables)
{
  tables[0 % n_tables][word & 0xff]++;
  tables[1 % n_tables][word >> 8 & 0xff]++;
  tables[2 % n_tables][word >> 16 & 0xff]++;
  tables[3 % n_tables][word >> 24 & 0xff]++;
  tables[4 % n_tables][word >> 32 & 0xff]++;
  tables[5 % n_tables][word >> 40 & 0xff]++;
  tables[6 % n_tables][word >> 48 & 0xff]++;
  tables[7 % n_tables][word >> 56]++;
}

/* 32 equal samples, as in flat areas, black bars and clipped skies. */
INLINE bool
is_run(const uint8_t *p, uint64_t first)
{
  uint64_t differ = (first ^ ((first << 8) | (first >> 56))) |
                    (first ^ load_word(p + 8)) | (first ^ load_word(p + 16)) |
                    (first ^ load_word(p + 24));

  return differ == 0;
}

/* Returns the sum of the row. */
INLINE uint64_t
count_row(const uint8_t *row, size_t width, uint32_t (*tables)[TABLE_WORDS],
          unsigned n_tables, bool runs)
{
  uint64_t tail = 0;
  size_t x = 0;
  Sum sum;

  sum_start(&sum);
  for (; x + 32 <= width; x += 32) {
    uint64_t word = load_word(row + x);

    sum_add_32(&sum, row + x);
    if (runs && is_run(row + x, word)) {
      tables[0][word & 0xff] += 32;
      continue;
    }
    count_word(word, tables, n_tables);
    count_word(load_word(row + x + 8), tables, n_tables);
    count_word(load_word(row + x + 16), tables, n_tables);
    count_word(load_word(row + x + 24), tables, n_tables);
  }
  for (; x < width; x++) {
    tables[x % n_tables][row[x]]++;
    tail += row[x];
  }
  return tail + sum_end(&sum);
}

INLINE void
count_tables(const uint8_t *samples, size_t stride, size_t width, size_t rows,
             GhCounts *counts, unsigned n_tables, bool runs)
{
  uint32_t tables[8][TABLE_WORDS];

  memset(tables, 0, n_tables * sizeof(tables[0]));
  for (size_t y = 0; y < rows; y++)
    counts->sum +=
        count_row(samples + y * stride, width, tables, n_tables, runs);
  for (unsigned t = 0; t < n_tables; t++)
    for (unsigned v = 0; v < GH_LEVELS; v++)
      counts->count[v] += tables[t][v];
}

#define COUNT_TABLES(name, n_tables, runs)                              \
  static void name(const uint8_t *samples, size_t stride, size_t width, \
                   size_t rows, GhCounts *counts)                       \
  {                                                                     \
    count_tables(samples, stride, width, rows, counts, n_tables, runs); \
  }

COUNT_TABLES(count_1, 1, false)
COUNT_TABLES(count_2, 2, false)
COUNT_TABLES(count_4, 4, false)
COUNT_TABLES(count_8, 8, false)
COUNT_TABLES(count_8_runs, 8, true)

const GhCountWay gh_count_ways[] = {
    {"reference", count_reference},
    {"1 table", count_1},
    {"2 tables", count_2},
    {"4 tables", count_4},
    {"8 tables", count_8},
    {"8 tables, runs", count_8_runs},
    {NULL, NULL},
};

const GhCountWay *const gh_count_best = &gh_count_ways[5];
