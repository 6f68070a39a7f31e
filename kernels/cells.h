/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The regions of a frame cut into cells: rectangles that do not overlap, cover
 * the whole frame, and lie wholly inside or outside of each region. So each
 * sample is counted once, and the counts of a region, and of the whole, are
 * those of its cells added up.
 */

#pragma once

#include "engine.h"

/* As many as a grid of the GPU has in one direction. */
#define GH_MAX_CELLS 65535u

typedef struct {
  GhRect *cells;
  uint32_t n;
  uint32_t *members; /* numbers of cells: of region r those from first[r] to
                        first[r + 1] - 1 */
  uint32_t *first;   /* n_regions + 1 */

  uint32_t version; /* another one each time that they are made */

  /* What they were made for. */
  uint32_t width, height;
  GhRect *regions;
  uint32_t n_regions;
} GhCells;

/* Makes @cells, all zero or set before, those of a frame; does nothing where
 * they are already. False where there is no memory, where a region is not
 * inside of the frame, and where there would be more than GH_MAX_CELLS; *cells
 * can then be set again, or cleared. */
bool gh_cells_set(GhCells *cells, const GhFrame *frame);

void gh_cells_clear(GhCells *cells);
