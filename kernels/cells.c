/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cells.h"

#include <stdlib.h>
#include <string.h>

/*
 * Horizontal lines through all upper and lower edges make bands; in a band,
 * vertical lines through the left and right edges of the regions in it make
 * cells. That is more cells than the fewest that there could be, but with grids
 * of zones, and with regions apart from each other, hardly so.
 */

static int
compare(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

  return x < y ? -1 : x > y;
}

/* Sorts the cuts and leaves out what comes twice; returns how many are left. */
static uint32_t
tidy(uint32_t *cuts, uint32_t n)
{
  uint32_t kept = 0;

  qsort(cuts, n, sizeof(*cuts), compare);
  for (uint32_t i = 0; i < n; i++)
    if (i == 0 || cuts[i] != cuts[kept - 1])
      cuts[kept++] = cuts[i];
  return kept;
}

static bool
is_inside(const GhRect *region, const GhFrame *frame)
{
  return region->width > 0 && region->height > 0 && region->x < frame->width &&
         region->width <= frame->width - region->x &&
         region->y < frame->height &&
         region->height <= frame->height - region->y;
}

static bool
in_band(const GhRect *region, uint32_t y)
{
  return region->y <= y && y - region->y < region->height;
}

/* The edges of all regions in the direction of y, and the frame's. */
static uint32_t
cut_bands(const GhCells *self, uint32_t *cuts)
{
  uint32_t n = 0;

  cuts[n++] = 0;
  cuts[n++] = self->height;
  for (uint32_t r = 0; r < self->n_regions; r++) {
    cuts[n++] = self->regions[r].y;
    cuts[n++] = self->regions[r].y + self->regions[r].height;
  }
  return tidy(cuts, n);
}

/* Likewise in the direction of x, for the band that begins at y. */
static uint32_t
cut_band(const GhCells *self, uint32_t y, uint32_t *cuts)
{
  uint32_t n = 0;

  cuts[n++] = 0;
  cuts[n++] = self->width;
  for (uint32_t r = 0; r < self->n_regions; r++) {
    const GhRect *region = &self->regions[r];

    if (!in_band(region, y))
      continue;
    cuts[n++] = region->x;
    cuts[n++] = region->x + region->width;
  }
  return tidy(cuts, n);
}

static bool
add_cell(GhCells *self, uint32_t *room, const GhRect *cell)
{
  if (self->n == GH_MAX_CELLS)
    return false;
  if (self->n == *room) {
    uint32_t more = *room ? 2 * *room : 64;
    GhRect *cells = realloc(self->cells, more * sizeof(*cells));

    if (!cells)
      return false;
    self->cells = cells;
    *room = more;
  }
  self->cells[self->n++] = *cell;
  return true;
}

/* `rows` and `columns` have room for two cuts a region and two more. */
static bool
cut(GhCells *self, uint32_t *rows, uint32_t *columns)
{
  uint32_t n_rows = cut_bands(self, rows), room = 0;

  for (uint32_t i = 0; i + 1 < n_rows; i++) {
    uint32_t n_columns = cut_band(self, rows[i], columns);

    for (uint32_t k = 0; k + 1 < n_columns; k++) {
      const GhRect cell = {columns[k], rows[i], columns[k + 1] - columns[k],
                           rows[i + 1] - rows[i]};

      if (!add_cell(self, &room, &cell))
        return false;
    }
  }
  return true;
}

static bool
covers(const GhRect *region, const GhRect *cell)
{
  return in_band(region, cell->y) && region->x <= cell->x &&
         cell->x - region->x < region->width;
}

/* The first cell that does not begin above y. They are sorted so. */
static uint32_t
first_below(const GhCells *self, uint32_t y)
{
  uint32_t low = 0, high = self->n;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (self->cells[middle].y < y)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Notes the cells of a region, unless @members is NULL; returns their number.
 */
static uint32_t
find_members_of(const GhCells *self, const GhRect *region, uint32_t *members)
{
  uint32_t n = 0;

  for (uint32_t c = first_below(self, region->y);
       c < self->n && in_band(region, self->cells[c].y); c++) {
    if (!covers(region, &self->cells[c]))
      continue;
    if (members)
      members[n] = c;
    n++;
  }
  return n;
}

/* Twice: to know how many they are, and to note them. */
static bool
find_members(GhCells *self)
{
  uint32_t n = 0;

  for (unsigned noting = 0; noting < 2; noting++) {
    if (noting && !(self->members = malloc((n + 1) * sizeof(*self->members))))
      return false;
    n = 0;
    for (uint32_t r = 0; r < self->n_regions; r++) {
      self->first[r] = n;
      n += find_members_of(self, &self->regions[r],
                           noting ? self->members + n : NULL);
    }
    self->first[self->n_regions] = n;
  }
  return true;
}

static bool
is_set_for(const GhCells *self, const GhFrame *frame)
{
  return self->n > 0 && self->width == frame->width &&
         self->height == frame->height && self->n_regions == frame->n_regions &&
         (frame->n_regions == 0 ||
          memcmp(self->regions, frame->regions,
                 frame->n_regions * sizeof(*frame->regions)) == 0);
}

static bool
make(GhCells *self, const GhFrame *frame)
{
  size_t n = frame->n_regions;
  uint32_t *cuts = malloc(2 * (2 * n + 2) * sizeof(*cuts));
  bool made = false;

  self->width = frame->width;
  self->height = frame->height;
  self->n_regions = frame->n_regions;
  self->first = malloc((n + 1) * sizeof(*self->first));
  self->regions = malloc((n + 1) * sizeof(*self->regions));
  if (cuts && self->first && self->regions) {
    if (n > 0)
      memcpy(self->regions, frame->regions, n * sizeof(*self->regions));
    made = cut(self, cuts, cuts + 2 * n + 2) && find_members(self);
  }
  free(cuts);
  return made;
}

bool
gh_cells_set(GhCells *self, const GhFrame *frame)
{
  uint32_t version = self->version + 1;

  if (is_set_for(self, frame))
    return true;
  gh_cells_clear(self);
  self->version = version;
  if (frame->n_regions > GH_MAX_REGIONS)
    return false;
  for (uint32_t r = 0; r < frame->n_regions; r++)
    if (!is_inside(&frame->regions[r], frame))
      return false;
  if (make(self, frame))
    return true;
  gh_cells_clear(self);
  return false;
}

void
gh_cells_clear(GhCells *self)
{
  uint32_t version = self->version;

  free(self->regions);
  free(self->first);
  free(self->members);
  free(self->cells);
  memset(self, 0, sizeof(*self));
  self->version = version;
}
