/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which way to count a frame, by what the frame is like. */

#pragma once

#include "cpu-count.h"

/* The way that takes the least time for `frame`. Looks at some 4096 samples of
 * a frame that is worth it. Takes no way that needs scratch memory unless
 * `have_scratch`. */
GhCountWayName gh_count_choose(const GhFrame *frame, bool have_scratch);

/* Counts `frame` that way; otherwise like a GhCount, which takes every way it
 * can without `scratch` where that is NULL. */
void gh_count_best(const GhFrame *frame, uint32_t *scratch,
                   GhByteCounts *counts);
