/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "content.h"

#include <math.h>
#include <string.h>

#define PERIOD ((size_t)1 << 24)
#define ZIPF_EXPONENT 1.1
#define ZIPF_STEPS 65536

/* A number for each index, as good as random. */
static uint32_t
scramble(size_t i)
{
  uint64_t x = (uint64_t)i * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;

  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((x ^ (x >> 31)) >> 16);
}

static uint32_t
constant(size_t i, size_t width, uint32_t bins)
{
  return 7;
}

static uint32_t
two_values(size_t i, size_t width, uint32_t bins)
{
  return scramble(i) & 1 ? bins - 1 : 0;
}

static uint32_t
hot(size_t i, size_t width, uint32_t bins)
{
  uint32_t r = scramble(i);

  return r % 10 ? 0 : (r >> 8) & (bins - 1);
}

static uint32_t
noise(size_t i, size_t width, uint32_t bins)
{
  return scramble(i) & (bins - 1);
}

/* Bin b as often as 1 / (b + 1)^1.1. */
static uint32_t
zipf(size_t i, size_t width, uint32_t bins)
{
  static uint16_t table[ZIPF_STEPS];
  static uint32_t table_bins;

  if (table_bins != bins) {
    double total = 0, sum = 0;
    size_t step = 0;

    for (uint32_t b = 0; b < bins; b++)
      total += pow(b + 1, -ZIPF_EXPONENT);
    for (uint32_t b = 0; b < bins; b++) {
      sum += pow(b + 1, -ZIPF_EXPONENT) / total;
      while (step < ZIPF_STEPS && (double)step < sum * ZIPF_STEPS)
        table[step++] = (uint16_t)b;
    }
    while (step < ZIPF_STEPS)
      table[step++] = (uint16_t)(bins - 1);
    table_bins = bins;
  }
  return table[scramble(i) % ZIPF_STEPS];
}

static uint32_t
gradient(size_t i, size_t width, uint32_t bins)
{
  return (uint32_t)(37 * i + 11) & (bins - 1);
}

/* A slope across the frame, with some noise, between flat bars. */
static uint32_t
natural(size_t i, size_t width, uint32_t bins)
{
  size_t x = i % width, y = i / width;
  uint32_t level = (uint32_t)(bins / 4 + x * bins / 2 / width);

  if (y % 1024 < 100)
    return bins / 16;
  return (level + scramble(i) % (bins / 16 + 1)) & (bins - 1);
}

const BenchContent bench_contents[] = {
    {"constant", constant}, {"two values", two_values},
    {"hot", hot},           {"noise", noise},
    {"zipf", zipf},         {"gradient", gradient},
    {"natural", natural},
};

const size_t bench_n_contents =
    sizeof(bench_contents) / sizeof(bench_contents[0]);

void
bench_fill(const BenchContent *content, void *samples, size_t n, size_t width,
           uint32_t bins, size_t sample_size)
{
  size_t made = n < PERIOD ? n : PERIOD;

  for (size_t i = 0; i < made; i++) {
    uint32_t sample = content->sample(i, width, bins);

    if (sample_size == 1)
      ((uint8_t *)samples)[i] = (uint8_t)sample;
    else if (sample_size == 2)
      ((uint16_t *)samples)[i] = (uint16_t)sample;
    else
      ((uint32_t *)samples)[i] = sample;
  }
  for (size_t at = made; at < n; at += made)
    memcpy((uint8_t *)samples + at * sample_size, samples,
           (at + made <= n ? made : n - at) * sample_size);
}
