/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A counter for each pair of neighbours: half as many increments, and in
 * pictures few counters, as neighbours are alike. */

#include "cpu-count.h"
#include "cpu-row.h"

#include <stdlib.h>

#define N_PAIRS (GH_BYTE_LEVELS * GH_BYTE_LEVELS)
#define LINE 64u /* bytes of the first cache, which few of them are to fill */

uint32_t *
gh_count_scratch_new(void)
{
  uint32_t *scratch = aligned_alloc(LINE, N_PAIRS * sizeof(*scratch));

  if (scratch)
    memset(scratch, 0, N_PAIRS * sizeof(*scratch));
  return scratch;
}

GH_INLINE void
count_word(uint64_t word, uint32_t *pairs)
{
  pairs[word & 0xffff]++;
  pairs[word >> 16 & 0xffff]++;
  pairs[word >> 32 & 0xffff]++;
  pairs[word >> 48]++;
}

/* Less than 32 samples. Which byte of the index comes first is of no account:
 * both are counted in the end. */
static void
count_tail(const uint8_t *tail, size_t n, uint32_t *pairs, GhByteCounts *counts)
{
  size_t i = 0;

  for (; i + 2 <= n; i += 2)
    pairs[tail[i] | (unsigned)tail[i + 1] << 8]++;
  if (i < n)
    counts->count[tail[i]]++;
  for (i = 0; i < n; i++)
    counts->sum += tail[i];
}

void
gh_pairs_count_row(const uint8_t *row, size_t width, uint32_t *pairs,
                   GhByteCounts *counts)
{
  size_t x = 0;
  GhSum sum;

  gh_sum_start(&sum);
  for (; x + 32 <= width; x += 32) {
    uint64_t word = gh_load_word(row + x);

    gh_sum_add_32(&sum, row + x);
    if (gh_is_run(row + x, word)) {
      pairs[word & 0xffff] += 16;
      continue;
    }
    count_word(word, pairs);
    count_word(gh_load_word(row + x + 8), pairs);
    count_word(gh_load_word(row + x + 16), pairs);
    count_word(gh_load_word(row + x + 24), pairs);
  }
  counts->sum += gh_sum_end(&sum);
  count_tail(row + x, width - x, pairs, counts);
}

/* Four rows of the table at once, so that the compiler's vectors of columns are
 * loaded and stored a quarter as often. There are less than 2^31 pairs, so 32
 * bits do for all of them. */
static void
fold_rows(uint32_t *rows, uint32_t columns[GH_BYTE_LEVELS], uint64_t totals[4])
{
  uint32_t t0 = 0, t1 = 0, t2 = 0, t3 = 0;

  for (unsigned c = 0; c < GH_BYTE_LEVELS; c++) {
    uint32_t r0 = rows[c], r1 = rows[c + GH_BYTE_LEVELS];
    uint32_t r2 = rows[c + 2 * GH_BYTE_LEVELS],
             r3 = rows[c + 3 * GH_BYTE_LEVELS];

    columns[c] += r0 + r1 + r2 + r3;
    t0 += r0;
    t1 += r1;
    t2 += r2;
    t3 += r3;
  }
  totals[0] += t0;
  totals[1] += t1;
  totals[2] += t2;
  totals[3] += t3;
  memset(rows, 0, 4 * GH_BYTE_LEVELS * sizeof(*rows));
}

/* Each pair counts in its row and in its column. */
void
gh_pairs_fold(uint32_t *pairs, GhByteCounts *counts)
{
  uint32_t columns[GH_BYTE_LEVELS] = {0};

  for (unsigned v = 0; v < GH_BYTE_LEVELS; v += 4)
    fold_rows(pairs + v * GH_BYTE_LEVELS, columns, counts->count + v);
  for (unsigned v = 0; v < GH_BYTE_LEVELS; v++)
    counts->count[v] += columns[v];
}

void
gh_count_pairs(const GhFrame *frame, uint32_t *scratch, GhByteCounts *counts)
{
  for (size_t y = 0; y < frame->height; y++)
    gh_pairs_count_row(frame->samples + y * frame->stride, frame->width,
                       scratch, counts);
  gh_pairs_fold(scratch, counts);
}
