/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-count.h"

#include <string.h>

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

/* On its own path, not made from the counts, so that it can check them. The
 * compiler makes word-wise adds of it. */
static uint64_t
sum_row(const uint8_t *row, size_t width)
{
  uint64_t sum = 0;

  for (size_t x = 0; x < width; x++)
    sum += row[x];
  return sum;
}

static uint64_t
load_word(const uint8_t *bytes)
{
  uint64_t word;

  memcpy(&word, bytes, sizeof(word));
  return word;
}

/* Equal neighbours would wait for each other's increment of one counter, so
 * neighbours go to different tables. */
static inline void
count_word(uint64_t word, uint32_t (*tables)[GH_LEVELS], unsigned n_tables)
{
  for (unsigned i = 0; i < 8; i++)
    tables[i % n_tables][(word >> (8 * i)) & 0xff]++;
}

/* 32 equal samples, as in flat areas, black bars and clipped skies. */
static inline bool
is_run(const uint8_t *p, uint64_t first)
{
  uint64_t differ = (first ^ ((first << 8) | (first >> 56))) |
                    (first ^ load_word(p + 8)) | (first ^ load_word(p + 16)) |
                    (first ^ load_word(p + 24));

  return differ == 0;
}

static inline void
count_row(const uint8_t *row, size_t width, uint32_t (*tables)[GH_LEVELS],
          unsigned n_tables, bool runs)
{
  size_t x = 0;

  for (; x + 32 <= width; x += 32) {
    uint64_t word = load_word(row + x);

    if (runs && is_run(row + x, word)) {
      tables[0][word & 0xff] += 32;
      continue;
    }
    count_word(word, tables, n_tables);
    count_word(load_word(row + x + 8), tables, n_tables);
    count_word(load_word(row + x + 16), tables, n_tables);
    count_word(load_word(row + x + 24), tables, n_tables);
  }
  for (; x < width; x++)
    tables[x % n_tables][row[x]]++;
}

static inline void
count_tables(const uint8_t *samples, size_t stride, size_t width, size_t rows,
             GhCounts *counts, unsigned n_tables, bool runs)
{
  uint32_t tables[8][GH_LEVELS];

  memset(tables, 0, n_tables * sizeof(tables[0]));
  for (size_t y = 0; y < rows; y++) {
    const uint8_t *row = samples + y * stride;

    count_row(row, width, tables, n_tables, runs);
    counts->sum += sum_row(row, width);
  }
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
