/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-words.h"

#include "cpu-tables.h"
#include "cpu-unpack.h"
#include "engine-private.h"

static void
count_reference(const GhFrame *frame, const GhRect *part, unsigned counters,
                uint32_t *scratch, GhCounts *counts)
{
  const GhFormat *format = &frame->format;
  unsigned shift = gh_counter_shift(format->depth, counters);
  uint32_t *counter = gh_counters_of(counts);

  for (size_t y = part->y; y < (size_t)part->y + part->height; y++) {
    const uint8_t *row = frame->samples + y * frame->stride;

    for (size_t x = part->x; x < (size_t)part->x + part->width; x++) {
      uint32_t sample = gh_sample(format, row, x);

      counter[sample >> shift]++;
      counts->sum += sample;
    }
  }
}

/* ---- Blocks ---- */

/* What is in front of the next block. */
typedef struct {
  GhUnpack unpack;
  const uint8_t *row;
  size_t stride;
  size_t left, x, right; /* the columns of the part, and where it is in them */
  uint32_t rows;         /* that are left, with this one */
  uint64_t sum;          /* of the blocks before */
} Blocks;

static Blocks
start_blocks(const GhFrame *frame, const GhRect *part, unsigned counters)
{
  return (Blocks){.unpack = gh_unpack(&frame->format, counters),
                  .row = frame->samples + part->y * frame->stride,
                  .stride = frame->stride,
                  .left = part->x,
                  .x = part->x,
                  .right = (size_t)part->x + part->width,
                  .rows = part->height};
}

/* Returns how many samples there are in the next block; 0 at the end. */
GH_INLINE size_t
next_block(Blocks *self, void *numbers)
{
  size_t n = self->right - self->x;

  if (self->rows == 0)
    return 0;
  if (n > GH_BLOCK)
    n = GH_BLOCK;
  self->sum +=
      self->unpack.block(&self->unpack, self->row, self->x, n, numbers);
  self->x += n;
  if (self->x == self->right) {
    self->x = self->left;
    self->row += self->stride;
    self->rows--;
  }
  return n;
}

/* ---- Up to 256 counters: the ways of counting bytes ---- */

GH_INLINE void
count_bytes(Blocks *blocks, unsigned counters, bool runs, GhCounts *counts)
{
  uint32_t tables[8][GH_TABLE_WORDS] = {{0}};
  uint8_t numbers[GH_BLOCK];
  size_t n;

  while ((n = next_block(blocks, numbers)) > 0)
    gh_tables_count_row(numbers, n, tables, 8, runs);
  for (unsigned t = 0; t < 8; t++)
    for (unsigned v = 0; v < counters; v++)
      gh_counters_of(counts)[v] += tables[t][v];
  counts->sum += blocks->sum;
}

static void
count_pairs(const GhFrame *frame, const GhRect *part, unsigned counters,
            uint32_t *scratch, GhCounts *counts)
{
  Blocks blocks = start_blocks(frame, part, counters);
  GhByteCounts bytes = {{0}, 0};
  uint8_t numbers[GH_BLOCK];
  size_t n;

  while ((n = next_block(&blocks, numbers)) > 0)
    gh_pairs_count_row(numbers, n, scratch, &bytes);
  gh_pairs_fold(scratch, &bytes);
  for (unsigned v = 0; v < counters; v++)
    gh_counters_of(counts)[v] += (uint32_t)bytes.count[v];
  counts->sum += blocks.sum;
}

/* ---- More: tables of words, the first of which are the counts themselves ----
 */

#define RUN 16u /* samples, as many as gh_is_run_of_words() looks at */

typedef struct {
  uint32_t *first;
  uint32_t *others; /* one after the other */
  size_t pitch;     /* counters from one of them to the next; tables start on
                       different sets of the first cache */
} Tables;

GH_INLINE uint32_t *
table(const Tables *self, unsigned index)
{
  return index == 0 ? self->first : self->others + (index - 1) * self->pitch;
}

GH_INLINE void
count_block(const uint16_t *numbers, size_t n, const Tables *tables,
            unsigned n_tables, bool runs)
{
  const uint8_t *bytes = (const uint8_t *)numbers;
  size_t i = 0;

  for (; i + RUN <= n; i += RUN, bytes += 2 * RUN) {
    uint64_t word = gh_load_word(bytes);

    if (runs && gh_is_run_of_words(bytes, word)) {
      tables->first[word & 0xffff] += RUN;
      continue;
    }
    for (unsigned k = 0; k < RUN; k++)
      table(tables, k % n_tables)[numbers[i + k]]++;
  }
  for (; i < n; i++)
    tables->first[numbers[i]]++;
}

/* Zeroes the tables but the first. */
static void
fold(const Tables *tables, unsigned n_tables, unsigned counters)
{
  for (unsigned t = 1; t < n_tables; t++) {
    uint32_t *other = table(tables, t);

    for (unsigned v = 0; v < counters; v++)
      tables->first[v] += other[v];
    memset(other, 0, counters * sizeof(*other));
  }
}

GH_INLINE void
count_tables(Blocks *blocks, unsigned counters, unsigned n_tables, bool runs,
             uint32_t *scratch, GhCounts *counts)
{
  const Tables tables = {gh_counters_of(counts), scratch, counters + 16};
  uint16_t numbers[GH_BLOCK];
  size_t n;

  while ((n = next_block(blocks, numbers)) > 0)
    count_block(numbers, n, &tables, n_tables, runs);
  fold(&tables, n_tables, counters);
  counts->sum += blocks->sum;
}

/* ---- All of them ---- */

#define COUNT_BYTES(name, runs)                                            \
  static void name(const GhFrame *frame, const GhRect *part,               \
                   unsigned counters, uint32_t *scratch, GhCounts *counts) \
  {                                                                        \
    Blocks blocks = start_blocks(frame, part, counters);                   \
    count_bytes(&blocks, counters, runs, counts);                          \
  }

#define COUNT_WORDS(name, n_tables, runs)                                  \
  static void name(const GhFrame *frame, const GhRect *part,               \
                   unsigned counters, uint32_t *scratch, GhCounts *counts) \
  {                                                                        \
    Blocks blocks = start_blocks(frame, part, counters);                   \
    count_tables(&blocks, counters, n_tables, runs, scratch, counts);      \
  }

COUNT_BYTES(bytes, false)
COUNT_BYTES(bytes_runs, true)
COUNT_WORDS(words_1, 1, false)
COUNT_WORDS(words_2, 2, false)
COUNT_WORDS(words_4, 4, false)
COUNT_WORDS(words_8, 8, false)
COUNT_WORDS(words_1_runs, 1, true)
COUNT_WORDS(words_2_runs, 2, true)
COUNT_WORDS(words_4_runs, 4, true)
COUNT_WORDS(words_8_runs, 8, true)

const GhWordsWay gh_words_ways[GH_N_WORDS_WAYS] = {
    [GH_WORDS_REFERENCE] = {"reference", count_reference, 2, 65536},
    [GH_WORDS_BYTES] = {"bytes", bytes, 2, 256},
    [GH_WORDS_BYTES_RUNS] = {"bytes, runs", bytes_runs, 2, 256},
    [GH_WORDS_BYTES_PAIRS] = {"bytes, pairs", count_pairs, 2, 256},
    [GH_WORDS_1_TABLE] = {"1 table", words_1, 512, 65536},
    [GH_WORDS_2_TABLES] = {"2 tables", words_2, 512, 65536},
    [GH_WORDS_4_TABLES] = {"4 tables", words_4, 512, 16384},
    [GH_WORDS_8_TABLES] = {"8 tables", words_8, 512, 8192},
    [GH_WORDS_1_RUNS] = {"1 table, runs", words_1_runs, 512, 65536},
    [GH_WORDS_2_RUNS] = {"2 tables, runs", words_2_runs, 512, 65536},
    [GH_WORDS_4_RUNS] = {"4 tables, runs", words_4_runs, 512, 16384},
    [GH_WORDS_8_RUNS] = {"8 tables, runs", words_8_runs, 512, 8192},
};

uint64_t
gh_words_sum_row(const GhFrame *frame, uint32_t y)
{
  const GhRect row = {0, y, frame->width, 1};
  unsigned levels = 1u << frame->format.depth;
  Blocks blocks = start_blocks(frame, &row, levels);
  uint16_t numbers[GH_BLOCK];

  while (next_block(&blocks, numbers) > 0)
    ;
  return blocks.sum;
}
