/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting a part of a frame on the CPU, whatever its samples lie in. */

#pragma once

#include "counts.h"
#include "engine.h"

/* Adds the samples of `part` to *counts, which has `counters` of them. The
 * frame's format is complete. `scratch` is of gh_count_scratch_new() and serves
 * one call at a time. */
void gh_count_cell(const GhFrame *frame, const GhRect *part, unsigned counters,
                   uint32_t *scratch, GhCounts *counts);

/* The sum of the samples of row y. */
uint64_t gh_sum_row(const GhFrame *frame, uint32_t y);
