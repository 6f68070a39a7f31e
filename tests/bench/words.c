/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times the ways of counting samples that are not a byte each. */

#include "words.h"

#include "bench-time.h"
#include "content.h"
#include "cpu-count.h"
#include "cpu-words-choice.h"
#include "engine-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  GhFormat format;
  unsigned counters;
} kinds[] = {
    {"YUY2", {GH_BYTES, 2, 0, 8}, 256},
    {"P010, 256 bins", {GH_WORDS_LE, 2, 6, 10}, 256},
    {"16 bits, 256 bins", {GH_WORDS_LE, 2, 0, 16}, 256},
    {"16 bits, big endian, 256 bins", {GH_WORDS_BE, 2, 0, 16}, 256},
    {"P010, 1024 bins", {GH_WORDS_LE, 2, 6, 10}, 1024},
    {"12 bits, 4096 bins", {GH_WORDS_LE, 2, 0, 12}, 4096},
    {"16 bits, 16384 bins", {GH_WORDS_LE, 2, 0, 16}, 16384},
    {"16 bits, 65536 bins", {GH_WORDS_LE, 2, 0, 16}, 65536},
    {"NV12_10LE32, 256 bins", {GH_TENS_LE32, 2, 0, 10}, 256},
    {"NV12_10LE40, 1024 bins", {GH_TENS_LE40, 2, 0, 10}, 1024},
};

typedef struct {
  GhFrame frame;
  unsigned counters;
  uint32_t *levels; /* what it is made of */
  uint8_t *samples;
  uint32_t *scratch;
  GhCounts *expected, *counts;
} Bench;

static void
put(uint8_t *row, const GhFormat *format, size_t x, uint32_t level)
{
  uint8_t *at = row + 2 * x;
  uint32_t word = level << format->shift;

  switch (format->packing) {
  case GH_TENS_LE32:
    at = row + x / 3 * 4 + x % 3;
    word = level << x % 3 * 2;
    break;
  case GH_TENS_LE40:
    at = row + x / 4 * 5 + x % 4;
    word = level << x % 4 * 2;
    break;
  case GH_BYTES:
    word |= (x & 1 ? 90u : 110u) << 8;
    break;
  default:
    break;
  }
  at[format->packing == GH_WORDS_BE] |= (uint8_t)word;
  at[format->packing != GH_WORDS_BE] |= (uint8_t)(word >> 8);
}

static void
fill(Bench *self, const BenchContent *content)
{
  const GhFrame *frame = &self->frame;
  size_t width = frame->width, n = width * frame->height;

  bench_fill(content, self->levels, n, width, 1u << frame->format.depth, 4);
  memset(self->samples, 0, 2 * n);
  for (size_t i = 0; i < n; i++)
    put(self->samples + i / width * frame->stride, &frame->format, i % width,
        self->levels[i]);
}

/* Median seconds, or a negative number where the counts are wrong. */
static double
time_way(const Bench *self, GhCountWords count)
{
  const GhRect whole = {0, 0, self->frame.width, self->frame.height};
  size_t size = 4 * (size_t)GH_COUNTS_WORDS(self->counters);
  double times[BENCH_REPEATS];

  for (int i = 0; i < BENCH_REPEATS; i++) {
    double start;

    memset(self->counts, 0, size);
    start = bench_now();
    count(&self->frame, &whole, self->counters, self->scratch, self->counts);
    times[i] = bench_now() - start;
    if (memcmp(self->counts, self->expected, size) != 0)
      return -1;
  }
  return bench_median(times);
}

/* Prints a row of the table: one way, all contents. */
static int
bench_way(Bench *self, const char *name, GhCountWords count)
{
  const GhRect whole = {0, 0, self->frame.width, self->frame.height};
  double n = (double)whole.width * whole.height;

  printf("%-16s", name);
  for (size_t c = 0; c < bench_n_contents; c++) {
    GhWordsWayName chosen;
    double seconds;

    fill(self, &bench_contents[c]);
    memset(self->expected, 0, 4 * (size_t)GH_COUNTS_WORDS(self->counters));
    gh_words_ways[GH_WORDS_REFERENCE].count(
        &self->frame, &whole, self->counters, self->scratch, self->expected);
    seconds = time_way(self, count);
    if (seconds < 0) {
      printf("  wrong counts\n");
      return 1;
    }
    chosen = gh_words_choose(&self->frame, &whole, self->counters);
    printf("%11.2f%s", n / seconds * 1e-9,
           gh_words_ways[chosen].count == count ? "*" : " ");
  }
  printf("\n");
  return 0;
}

static int
bench_ways(Bench *self, const char *name)
{
  int status = 0;

  printf("%s\n%-16s", name, "Gsamples/s");
  for (size_t c = 0; c < bench_n_contents; c++)
    printf("%11s ", bench_contents[c].name);
  printf("\n");
  for (size_t w = 0; w < GH_N_WORDS_WAYS && status == 0; w++) {
    const GhWordsWay *way = &gh_words_ways[w];

    if (self->counters >= way->least_counters &&
        self->counters <= way->most_counters)
      status = bench_way(self, way->name, way->count);
  }
  return status ? status : bench_way(self, "as chosen", gh_words_best);
}

int
bench_words(uint32_t width, uint32_t height)
{
  size_t n = (size_t)width * height;
  size_t size = 4 * (size_t)GH_COUNTS_WORDS(GH_MAX_BINS);
  Bench self = {.levels = malloc(4 * n),
                .samples = malloc(2 * n),
                .scratch = gh_count_scratch_new(),
                .expected = malloc(size),
                .counts = malloc(size)};
  int status = self.levels && self.samples && self.scratch && self.expected &&
                       self.counts
                   ? 0
                   : 1;

  for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && !status; k++) {
    self.frame = (GhFrame){self.samples, 2 * (size_t)width, width, height,
                           .format = kinds[k].format};
    self.counters = kinds[k].counters;
    status = bench_ways(&self, kinds[k].name);
  }
  free(self.levels);
  free(self.samples);
  free(self.scratch);
  free(self.expected);
  free(self.counts);
  return status;
}
