/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdint.h>

/* What was counted in one cell of a frame (see cells.h), exact below 2^32
 * samples: followed by a uint32_t for each counter. A counter stands for one
 * grey level, or for as many neighbouring ones as a bin has. */
typedef struct {
  uint64_t sum; /* Σ samples, not made from the counts */
} GhCounts;

#define GH_COUNTS_WORDS(counters) \
  ((uint32_t)(sizeof(GhCounts) / 4) + (uint32_t)(counters))
