/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting bytes that follow each other in several tables. */

#pragma once

#include "cpu-count.h"
#include "cpu-row.h"

/* Tables start on different sets of the first cache. */
#define GH_TABLE_WORDS (GH_BYTE_LEVELS + 16)

/* Equal neighbours would wait for each other's increment of one counter, so
 * neighbours go to different tables. */
GH_INLINE void
gh_tables_count_word(uint64_t word, uint32_t (*tables)[GH_TABLE_WORDS],
                     unsigned n_tables)
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
gh_tables_count_row(const uint8_t *row, size_t width,
                    uint32_t (*tables)[GH_TABLE_WORDS], unsigned n_tables,
                    bool runs)
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
    gh_tables_count_word(word, tables, n_tables);
    gh_tables_count_word(gh_load_word(row + x + 8), tables, n_tables);
    gh_tables_count_word(gh_load_word(row + x + 16), tables, n_tables);
    gh_tables_count_word(gh_load_word(row + x + 24), tables, n_tables);
  }
  for (; x < width; x++) {
    tables[x % n_tables][row[x]]++;
    tail += row[x];
  }
  return tail + gh_sum_end(&sum);
}
