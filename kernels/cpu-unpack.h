/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From samples of any kind to the numbers of their counters, one after the
 * other in bytes or words, a block at a time: what is counted then is the same
 * for all kinds, and is still in the first cache. */

#pragma once

#include "sample.h"

#define GH_BLOCK                                              \
  128u /* samples; so few that the next ones are being loaded \
          while these are counted */

typedef struct GhUnpack GhUnpack;

/* Writes the numbers of `n` samples from sample `x` on, at most GH_BLOCK. Reads
 * nothing before the first or behind the last of them. Returns their sum. */
typedef uint32_t (*GhUnpackBlock)(const GhUnpack *self, const uint8_t *row,
                                  size_t x, size_t n, void *numbers);

/* Makes words of samples: their levels are at `shift`, as in the format. */
typedef void (*GhGather)(const GhFormat *format, const uint8_t *row, size_t x,
                         size_t n, uint16_t *words);

struct GhUnpack {
  GhFormat format;
  unsigned group; /* of neighbouring levels a counter, as a shift */
  bool wide; /* numbers are uint16_t, not uint8_t: more than 256 counters */
  GhUnpackBlock block;
  GhGather gather; /* for blocks of samples that are not 2 bytes apart */
};

/* How to unpack samples of a format that is complete, for so many counters. */
GhUnpack gh_unpack(const GhFormat *format, unsigned counters);
