/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-count.h"

#include "cpu-tables.h"

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

GH_INLINE void
count_tables(const GhFrame *frame, GhByteCounts *counts, unsigned n_tables,
             bool runs)
{
  uint32_t tables[8][GH_TABLE_WORDS];

  memset(tables, 0, n_tables * sizeof(tables[0]));
  for (size_t y = 0; y < frame->height; y++)
    counts->sum += gh_tables_count_row(frame->samples + y * frame->stride,
                                       frame->width, tables, n_tables, runs);
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
