/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which way to count a part of a frame whose samples are not a byte each, by
 * what it is like. */

#pragma once

#include "cpu-words.h"

/* The way that takes the least time. Looks at some 4096 samples where that is
 * worth it. */
GhWordsWayName gh_words_choose(const GhFrame *frame, const GhRect *part,
                               unsigned counters);

/* Counts that way; otherwise like a GhCountWords. */
void gh_words_best(const GhFrame *frame, const GhRect *part, unsigned counters,
                   uint32_t *scratch, GhCounts *counts);
