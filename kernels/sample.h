/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where samples are in a row, and how they are counted. */

#pragma once

#include "engine.h"

/* Device code reads samples, too. */
#ifdef __CUDACC__
#define GH_ON_DEVICE __device__
#else
#define GH_ON_DEVICE
#endif

/* The same with nothing left to be understood: step and depth are set. */
GhFormat gh_format_complete(GhFormat format);

/* Whether a format that is complete can be counted. */
bool gh_format_is_valid(const GhFormat *format);

/* Whether each byte of a row is a sample of 8 bits. */
bool gh_format_is_bytes(const GhFormat *format);

/* Bytes from the first one of a row to the last one of `width` samples, all of
 * which can be read. */
size_t gh_row_bytes(const GhFormat *format, uint32_t width);

/* How many counters an engine counts samples of `depth` bits in, for so many
 * bins: one for each grey level up to 256, and beyond as many as there are
 * bins. A power of two; sample >> (depth - log2 of it) is the counter's. */
unsigned gh_counters(unsigned depth, unsigned bins);

/* Log2 of a power of two. */
static inline unsigned
gh_log2(unsigned power)
{
  return (unsigned)__builtin_ctz(power);
}

/* Grey levels that a counter stands for, as a shift. */
static inline unsigned
gh_counter_shift(unsigned depth, unsigned counters)
{
  return depth - gh_log2(counters);
}

/* Sample x of a row, 0 to 2^depth - 1. */
GH_ON_DEVICE static inline uint32_t
gh_sample(const GhFormat *format, const uint8_t *row, uint32_t x)
{
  const uint8_t *at = row + (size_t)x * format->step;
  uint32_t word;

  switch (format->packing) {
  case GH_WORDS_LE:
    word = at[0] | (uint32_t)at[1] << 8;
    break;
  case GH_WORDS_BE:
    word = at[1] | (uint32_t)at[0] << 8;
    break;
  case GH_TENS_LE32:
    at = row + x / 3 * 4 + x % 3;
    word = (at[0] | (uint32_t)at[1] << 8) >> x % 3 * 2;
    break;
  case GH_TENS_LE40:
    at = row + x / 4 * 5 + x % 4;
    word = (at[0] | (uint32_t)at[1] << 8) >> x % 4 * 2;
    break;
  default:
    word = at[0];
    break;
  }
  return word >> format->shift & ((1u << format->depth) - 1);
}
