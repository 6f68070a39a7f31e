/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cells that the regions of a frame are cut into. */

#include "cells.h"
#include "testing-engine.h"

#include <string.h>

/* ---- What cells have to be ---- */

/* Adds one to each place of the rectangle. */
static void
paint(guint8 *places, const GhFrame *frame, const GhRect *rect)
{
  for (guint y = rect->y; y < rect->y + rect->height; y++)
    for (guint x = rect->x; x < rect->x + rect->width; x++)
      places[(gsize)y * frame->width + x]++;
}

/* The members of region @r cover it once, and nothing else. */
static void
check_members(const GhCells *cells, const GhFrame *frame, guint r)
{
  gsize n = (gsize)frame->width * frame->height;
  guint8 *want = g_malloc0(n), *places = g_malloc0(n);

  paint(want, frame, &frame->regions[r]);
  for (guint m = cells->first[r]; m < cells->first[r + 1]; m++) {
    fail_unless(cells->members[m] < cells->n);
    paint(places, frame, &cells->cells[cells->members[m]]);
  }
  fail_unless(memcmp(want, places, n) == 0, "region %u is not its cells", r);
  g_free(want);
  g_free(places);
}

/* Each place of the frame is in one cell. */
static void
check_tiles(const GhCells *cells, const GhFrame *frame)
{
  gsize n = (gsize)frame->width * frame->height;
  guint8 *places = g_malloc0(n), *once = g_malloc(n);

  memset(once, 1, n);
  for (guint c = 0; c < cells->n; c++) {
    const GhRect *cell = &cells->cells[c];

    fail_unless(cell->width > 0 && cell->height > 0);
    fail_unless(cell->x < frame->width && cell->y < frame->height &&
                cell->width <= frame->width - cell->x &&
                cell->height <= frame->height - cell->y);
    paint(places, frame, cell);
  }
  fail_unless(memcmp(once, places, n) == 0, "the cells do not tile the frame");
  g_free(once);
  g_free(places);
}

static void
check_cells(GhCells *cells, const GhFrame *frame)
{
  fail_unless(gh_cells_set(cells, frame));
  fail_unless_equals_int(cells->width, frame->width);
  fail_unless_equals_int(cells->height, frame->height);
  fail_unless_equals_int(cells->n_regions, frame->n_regions);
  check_tiles(cells, frame);
  fail_unless_equals_int(cells->first[0], 0);
  for (guint r = 0; r < frame->n_regions; r++)
    check_members(cells, frame, r);
}

/* ---- Tests ---- */

GST_START_TEST(test_random_regions)
{
  GRand *random = test_engine_random();
  GhCells cells = {0};

  for (guint i = 0; i < 500; i++) {
    guint n = (guint)g_rand_int_range(random, 0, i % 10 ? 8 : 70);
    GhFrame frame = {.width = (guint32)g_rand_int_range(random, 1, 80),
                     .height = (guint32)g_rand_int_range(random, 1, 80)};
    GhRect regions[70];

    test_engine_regions(random, &frame, regions, n);
    check_cells(&cells, &frame);
  }
  gh_cells_clear(&cells);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_no_regions)
{
  GhFrame frame = {.width = 64, .height = 48};
  GhCells cells = {0};

  check_cells(&cells, &frame);
  fail_unless_equals_int(cells.n, 1);
  gh_cells_clear(&cells);
  fail_unless_equals_int(cells.n, 0);
}
GST_END_TEST

/* No more cells than zones, where these tile the frame; nor where they are
 * there twice. */
GST_START_TEST(test_cells_of_a_grid_are_its_zones)
{
  GhFrame frame = {.width = 8 * 7, .height = 6 * 5, .n_regions = 96};
  GhCells cells = {0};
  GhRect zones[96];

  for (guint z = 0; z < 96; z++)
    zones[z] = (GhRect){z % 8 * 7, z / 8 % 6 * 5, 7, 5};
  frame.regions = zones;
  check_cells(&cells, &frame);
  fail_unless_equals_int(cells.n, 48);
  gh_cells_clear(&cells);
}
GST_END_TEST

/* They are made again only for others, or for a frame of another size; then
 * with a version that they have not had. */
GST_START_TEST(test_version_changes_with_the_cells)
{
  GhRect regions[] = {{0, 0, 8, 8}, {4, 4, 8, 8}};
  GhFrame frame = {
      .width = 64, .height = 48, .regions = regions, .n_regions = 2};
  GhCells cells = {0};
  guint version, step = 0;

  check_cells(&cells, &frame);
  for (guint i = 0; i < 3; i++) {
    GhRect copy[] = {regions[0], regions[1]};

    version = cells.version;
    frame.regions = copy;
    check_cells(&cells, &frame);
    fail_unless_equals_int(cells.version, version);
  }
  frame.regions = regions;
  for (step = 0; step < 5; step++) {
    version = cells.version;
    frame.width += step == 0;
    frame.height += step == 1;
    regions[1].width += step == 2;
    frame.n_regions -= step >= 3;
    check_cells(&cells, &frame);
    fail_unless(cells.version > version, "step %u", step);
  }
  version = cells.version;
  gh_cells_clear(&cells);
  check_cells(&cells, &frame);
  fail_unless(cells.version > version);
  gh_cells_clear(&cells);
}
GST_END_TEST

GST_START_TEST(test_most_regions)
{
  GhFrame frame = {.width = 64, .height = 64, .n_regions = GH_MAX_REGIONS};
  GhRect *regions = g_new(GhRect, GH_MAX_REGIONS + 1);
  GhCells cells = {0};

  for (guint r = 0; r <= GH_MAX_REGIONS; r++)
    regions[r] = (GhRect){r % 64, r / 64 % 64, 1, 1};
  frame.regions = regions;
  fail_unless(gh_cells_set(&cells, &frame));
  fail_unless_equals_int(cells.n, 64 * 64);
  check_tiles(&cells, &frame);
  for (guint r = 0; r < GH_MAX_REGIONS; r += 97)
    check_members(&cells, &frame, r);
  frame.n_regions++;
  fail_if(gh_cells_set(&cells, &frame));
  frame.n_regions = 7;
  check_cells(&cells, &frame);
  gh_cells_clear(&cells);
  g_free(regions);
}
GST_END_TEST

static const GhRect outside[] = {
    {0, 0, 65, 1},
    {0, 0, 1, 49},
    {64, 0, 1, 1},
    {0, 48, 1, 1},
    {63, 0, 2, 1},
    {0, 47, 1, 2},
    {0, 0, 0, 1},
    {0, 0, 1, 0},
    {1, 0, G_MAXUINT32, 1},
    {0, 1, 1, G_MAXUINT32},
    {G_MAXUINT32, 0, 1, 1},
    {0, G_MAXUINT32, 1, 1},
    {G_MAXUINT32, G_MAXUINT32, G_MAXUINT32, G_MAXUINT32},
};

/* Neither the first time nor after others; and then others can be set. */
/* Columns and rows of all of the frame, every other one. */
GST_START_TEST(test_most_cells)
{
  GhFrame frame = {.width = 512, .height = 512};
  GhRect regions[300];
  GhCells cells = {0};

  for (guint r = 0; r < 300; r++)
    regions[r] = r % 2 ? (GhRect){r + 1, 0, 1, 512} : (GhRect){0, r, 512, 1};
  frame.regions = regions;
  frame.n_regions = 250;
  check_cells(&cells, &frame);
  fail_unless(cells.n > 60000);
  frame.n_regions = 300;
  fail_if(gh_cells_set(&cells, &frame));
  frame.n_regions = 7;
  check_cells(&cells, &frame);
  gh_cells_clear(&cells);
}
GST_END_TEST

GST_START_TEST(test_regions_outside_are_refused)
{
  GhRect good = {63, 47, 1, 1};
  GhFrame frame = {.width = 64, .height = 48, .regions = &good, .n_regions = 1};
  GhCells cells = {0};

  for (guint i = 0; i < 2; i++) {
    GhRect regions[] = {good, outside[__i__]};
    GhFrame wrong = frame;
    guint version;

    wrong.regions = regions;
    wrong.n_regions = 2;
    fail_if(gh_cells_set(&cells, &wrong));
    fail_if(gh_cells_set(&cells, &wrong));
    version = cells.version;
    check_cells(&cells, &frame);
    fail_unless(cells.version != version);
  }
  fail_if(gh_cells_set(&cells, &(GhFrame){.width = 64,
                                          .height = 48,
                                          .regions = &outside[__i__],
                                          .n_regions = 1}));
  gh_cells_clear(&cells);
  gh_cells_clear(&cells);
}
GST_END_TEST

static Suite *
cells_suite(void)
{
  Suite *suite = suite_create("cells");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_random_regions);
  tcase_add_test(tcase, test_no_regions);
  tcase_add_test(tcase, test_cells_of_a_grid_are_its_zones);
  tcase_add_test(tcase, test_version_changes_with_the_cells);
  tcase_add_test(tcase, test_most_regions);
  tcase_add_test(tcase, test_most_cells);
  tcase_add_loop_test(tcase, test_regions_outside_are_refused, 0,
                      G_N_ELEMENTS(outside));
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, cells_suite, "cells");
}
