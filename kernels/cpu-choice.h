/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which way to count a frame, by what it and the processor are like. */

#pragma once

#include "cpu-count.h"

/* How long a processor takes, in nanoseconds. */
typedef struct {
  double tables; /* for a sample of noise */
  double pairs;  /* for a sample whose neighbours are like it */
  double fold;   /* for what counting pairs costs once a call */
  double planes; /* for any sample; INFINITY where it cannot */
} GhCountCosts;

/*
 * The costs on this processor. Measured when they are first asked for, which
 * takes less than a millisecond, and kept for good. From any thread. What they
 * are decides about the time that counting takes, never about the counts.
 */
const GhCountCosts *gh_count_costs(void);

/*
 * The way that takes the least time for `frame` on a processor of those costs.
 * Looks at some 4096 samples of a frame that is worth it. Takes no way that
 * needs scratch memory unless `have_scratch`.
 */
GhCountWayName gh_count_choose(const GhFrame *frame, bool have_scratch,
                               const GhCountCosts *costs);

/* Counts `frame` that way on this processor; otherwise like a GhCount, which
 * takes every way it can without `scratch` where that is NULL. */
void gh_count_best(const GhFrame *frame, uint32_t *scratch, GhCounts *counts);
