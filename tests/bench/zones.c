/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench.h"

GhDeviceCells
bench_zones(const Bench *bench, GhRect rects[ZONES])
{
  const uint32_t columns = ZONE_COLUMNS, rows = ZONES / ZONE_COLUMNS;
  uint32_t width = bench->size.width, height = bench->size.height;
  GhDeviceCells zones = {rects, 0, ZONES, 0};

  for (uint32_t z = 0; z < ZONES; z++) {
    GhRect *zone = &rects[z];
    uint32_t x = z % columns, y = z / columns;

    zone->x = x * width / columns;
    zone->y = y * height / rows;
    zone->width = (x + 1) * width / columns - zone->x;
    zone->height = (y + 1) * height / rows - zone->y;
    if ((uint64_t)zone->width * zone->height > zones.largest)
      zones.largest = (uint64_t)zone->width * zone->height;
  }
  return zones;
}

void
bench_add_zones(Bench *bench)
{
  uint32_t words = GH_COUNTS_WORDS(bench->bins);
  uint32_t *sums = (uint32_t *)(bench->result + 1);

  for (uint32_t z = 1; z < ZONES; z++) {
    const GhCounts *zone = (GhCounts *)((uint32_t *)bench->result + z * words);

    bench->result->sum += zone->sum;
    for (uint32_t b = 0; b < bench->bins; b++)
      sums[b] += ((const uint32_t *)(zone + 1))[b];
  }
}
