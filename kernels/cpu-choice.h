/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which way to count a frame, by what the frame is like. */

#pragma once

#include "cpu-count.h"

/* A look is at so many places, each of so many samples in a row. */
#define GH_PLACES 64u
#define GH_PLACE 64u

/* Place `i` in a part of that size, which is worth a look. */
void gh_count_place(uint32_t width, uint32_t height, unsigned i, size_t *x,
                    size_t *y);

/* Whether a part is so large that a look is some per cent of its time only. */
bool gh_count_is_worth_a_look(uint32_t width, uint32_t height);

/* The way that takes the least time for `frame`. Looks at some 4096 samples of
 * a frame that is worth it. Takes no way that needs scratch memory unless
 * `have_scratch`. */
GhCountWayName gh_count_choose(const GhFrame *frame, bool have_scratch);

/* The same for a frame of `n` samples, of which only those places are there:
 * a row of GH_PLACE bytes each. */
GhCountWayName gh_count_choose_by(const uint8_t *places, uint64_t n,
                                  bool have_scratch);

/* Counts `frame` that way; otherwise like a GhCount, which takes every way it
 * can without `scratch` where that is NULL. */
void gh_count_best(const GhFrame *frame, uint32_t *scratch,
                   GhByteCounts *counts);
