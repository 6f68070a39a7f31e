/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-count.h"

#include "cpu-row.h"

static void
count_reference(const GhFrame *frame, uint32_t *scratch, GhByteCounts *counts)
{
  for (size_t y = 0; y < frame->height; y++) {
    const uint8_t *row = frame->samples + y * frame->stride;

    for (size_t x = 0; x < frame->width; x++) {
      counts->count[row[x]]++;
      counts->sum += row[x];
    }
  }
}

/* Tables start on different sets of the first cache. */
#define TABLE_WORDS (GH_BYTE_LEVELS + 16)

/* Equal neighbours would wait for each other's increment of one counter, so
 * neighbours go to different tables. */
GH_INLINE void
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

/* Returns the sum of the row. */
GH_INLINE uint64_t
count_row(const uint8_t *row, size_t width, uint32_t (*tables)[TABLE_WORDS],
          unsigned n_tables, bool runs)
{
  uint64_t tail = 0;
  size_t x = 0;
  GhSum sum;

  gh_sum_start(&sum);
  for (; x + 32 <= width; x += 32) {
    uint64_t word = gh_load_word(row + x);

    gh_sum_add_32(&sum, row + x);
    if (runs && gh_is_run(row + x, word)) {
      tables[0][word & 0xff] += 32;
      continue;
    }
    count_word(word, tables, n_tables);
    count_word(gh_load_word(row + x + 8), tables, n_tables);
    count_word(gh_load_word(row + x + 16), tables, n_tables);
    count_word(gh_load_word(row + x + 24), tables, n_tables);
  }
  for (; x < width; x++) {
    tables[x % n_tables][row[x]]++;
    tail += row[x];
  }
  return tail + gh_sum_end(&sum);
}

GH_INLINE void
count_tables(const GhFrame *frame, GhByteCounts *counts, unsigned n_tables,
             bool runs)
{
  uint32_t tables[8][TABLE_WORDS];

  memset(tables, 0, n_tables * sizeof(tables[0]));
  for (size_t y = 0; y < frame->height; y++)
    counts->sum += count_row(frame->samples + y * frame->stride, frame->width,
                             tables, n_tables, runs);
  for (unsigned t = 0; t < n_tables; t++)
    for (unsigned v = 0; v < GH_BYTE_LEVELS; v++)
      counts->count[v] += tables[t][v];
}

#define COUNT_TABLES(name, n_tables, runs)                  \
  static void name(const GhFrame *frame, uint32_t *scratch, \
                   GhByteCounts *counts)                    \
  {                                                         \
    count_tables(frame, counts, n_tables, runs);            \
  }

COUNT_TABLES(count_1, 1, false)
COUNT_TABLES(count_2, 2, false)
COUNT_TABLES(count_4, 4, false)
COUNT_TABLES(count_8, 8, false)
COUNT_TABLES(count_8_runs, 8, true)

const GhCountWay gh_count_ways[GH_N_COUNT_WAYS] = {
    [GH_COUNT_REFERENCE] = {"reference", count_reference, false},
    [GH_COUNT_1_TABLE] = {"1 table", count_1, false},
    [GH_COUNT_2_TABLES] = {"2 tables", count_2, false},
    [GH_COUNT_4_TABLES] = {"4 tables", count_4, false},
    [GH_COUNT_TABLES] = {"8 tables", count_8, false},
    [GH_COUNT_RUNS] = {"8 tables, runs", count_8_runs, false},
    [GH_COUNT_PAIRS] = {"pairs", gh_count_pairs, true},
};
