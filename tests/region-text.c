/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What people write about regions, and the rectangles that it means. */

#include "regions.h"

#include <gst/check/gstcheck.h>
#include <string.h>

/* ---- Rectangles ---- */

static const gchar *const no_rois[] = {
    ",",          "1",         "1,2,3",     "1,2,3,4,",   "1,2,3,4,5",
    "1,2,3,4x",   "a,2,3,4",   "1;2;3;4",   "-1,2,3,4",   "1,2,-3,4",
    "1,2,0,4",    "1,2,3,0",   "1,2,0%,4",  "1.5,2,3,4",  "1,2,3,4.5",
    "nan,2,3,4",  "inf,2,3,4", "1,2,inf,4", "1,2,3,101%", "100.1%,2,3,4",
    "1,2,3,4%%",  "%,%,%,%",   "1,,3,4",    "1 ,2,3,4",   "1,2,3,2147483648",
    "1,2,3,1e300"};

GST_START_TEST(text_that_is_no_rectangle)
{
  GpuHistogramRegionWishes wishes = {.roi_metas = TRUE};
  const gchar *text = no_rois[__i__];
  gchar *fault;

  gpu_histogram_roi_parse(&wishes.roi, text);
  fail_if(wishes.roi.valid, "%s", text);
  fail_unless_equals_string(wishes.roi.text, text);
  fault = gpu_histogram_regions_get_fault(&wishes, 256);
  fail_unless(fault && strstr(fault, text));
  g_free(fault);
  fault = gpu_histogram_regions_leave_out_faults(&wishes, 256);
  fail_unless(fault && strstr(fault, text));
  g_free(fault);
  fail_unless(gpu_histogram_regions_get_fault(&wishes, 256) == NULL);
  fail_unless_equals_string(wishes.roi.text, "");
  fail_unless(wishes.roi_metas);
}
GST_END_TEST;

GST_START_TEST(no_text_is_no_rectangle)
{
  const gchar *const texts[] = {NULL, ""};
  GpuHistogramRegionWishes wishes = {.roi_metas = TRUE};
  GpuHistogramRegions *regions;

  gpu_histogram_roi_parse(&wishes.roi, texts[__i__]);
  gpu_histogram_zones_parse(&wishes.zones, texts[__i__]);
  fail_unless(gpu_histogram_regions_get_fault(&wishes, 65536) == NULL);
  fail_unless(gpu_histogram_regions_get_misfit(&wishes, 1, 1) == NULL);
  regions = gpu_histogram_regions_new(&wishes, NULL, 1, 1);
  fail_unless_equals_int(regions->n, 0);
  gpu_histogram_regions_unref(regions);
}
GST_END_TEST;

/* As much as there is room for is kept, and stays text. */
GST_START_TEST(text_that_is_too_long)
{
  GpuHistogramZones zones;
  GpuHistogramRoi roi;
  GString *text = g_string_new("1,2,3,");

  while (text->len < 100)
    g_string_append(text, "0");
  g_string_append(text, "4");
  gpu_histogram_roi_parse(&roi, text->str);
  fail_if(roi.valid);
  fail_unless(g_str_has_prefix(text->str, roi.text));
  fail_unless_equals_int(strlen(roi.text), sizeof(roi.text) - 1);
  gpu_histogram_zones_parse(&zones, "00000000000000000000000000000008x6");
  fail_unless_equals_int(zones.columns, 0);
  for (guint i = 0; i < 3; i++) {
    g_string_assign(text, i == 0 ? "" : i == 1 ? "." : "..");
    while (text->len < 100)
      g_string_append(text, "\xe2\x82\xac");
    gpu_histogram_roi_parse(&roi, text->str);
    gpu_histogram_zones_parse(&zones, text->str);
    fail_unless(g_utf8_validate(roi.text, -1, NULL));
    fail_unless(g_utf8_validate(zones.text, -1, NULL));
    fail_unless(strlen(roi.text) >= sizeof(roi.text) - 3);
    fail_unless(strlen(zones.text) >= sizeof(zones.text) - 3);
  }
  g_string_free(text, TRUE);
}
GST_END_TEST;

/* In which frames it lies, and where. */
static const struct {
  const gchar *text;
  guint width, height;
  gboolean fits;
  GhRect rect; /* empty: none */
} places[] = {
    {"1,2,3,4", 64, 48, TRUE, {1, 2, 3, 4}},
    {"0,0,64,48", 64, 48, TRUE, {0, 0, 64, 48}},
    {"0,0,65,48", 64, 48, FALSE, {0, 0, 64, 48}},
    {"63,47,9,9", 64, 48, FALSE, {63, 47, 1, 1}},
    {"64,0,1,1", 64, 48, FALSE, {0, 0, 0, 0}},
    {"0,48,1,1", 64, 48, FALSE, {0, 0, 0, 0}},
    {"0,0,2147483647,2147483647", 64, 48, FALSE, {0, 0, 64, 48}},
    {"2147483647,0,2147483647,1", 64, 48, FALSE, {0, 0, 0, 0}},
    {"0%,0%,100%,100%", 1, 1, TRUE, {0, 0, 1, 1}},
    {"50%,50%,50%,50%", 1, 1, TRUE, {0, 0, 1, 1}},
    {"50%,50%,50%,50%", 3, 5, TRUE, {2, 3, 1, 2}},
    {"12.5%,0,25%,1", 64, 48, TRUE, {8, 0, 16, 1}},
    {"99%,99%,1%,1%", 10, 10, TRUE, {9, 9, 1, 1}},
    {"33%,0,0.001%,1", 10, 10, TRUE, {3, 0, 1, 1}},
    {"100%,0,1%,1", 10, 10, FALSE, {0, 0, 0, 0}},
    {"100%,0,1,1", 10, 10, FALSE, {0, 0, 0, 0}},
    {"50%,0,60%,1", 10, 10, FALSE, {5, 0, 5, 1}},
    {"0,50%,1,60%", 10, 10, FALSE, {0, 5, 1, 5}},
    {"5,0,50%,1", 10, 10, TRUE, {5, 0, 5, 1}},
    {"6,0,50%,1", 10, 10, FALSE, {6, 0, 4, 1}},
    /* Rounded, these reach out by less than half a pixel. */
    {"33.4%,0,66.7%,1", 10, 10, TRUE, {3, 0, 7, 1}},
};

GST_START_TEST(rectangle_in_a_frame)
{
  const GhRect *want = &places[__i__].rect;
  guint width = places[__i__].width, height = places[__i__].height;
  GpuHistogramRegionWishes wishes = {.roi_metas = FALSE};
  GpuHistogramRegions *regions;
  gchar *misfit;

  gpu_histogram_roi_parse(&wishes.roi, places[__i__].text);
  fail_unless(wishes.roi.valid);
  fail_unless_equals_string(wishes.roi.text, places[__i__].text);
  misfit = gpu_histogram_regions_get_misfit(&wishes, width, height);
  fail_unless_equals_int(misfit == NULL, places[__i__].fits);
  fail_unless(misfit == NULL || strstr(misfit, places[__i__].text));
  g_free(misfit);
  regions = gpu_histogram_regions_new(&wishes, NULL, width, height);
  fail_unless_equals_int(regions->n, want->width > 0 ? 1 : 0);
  if (regions->n > 0)
    fail_unless(memcmp(regions->rects, want, sizeof(*want)) == 0,
                "%s is %u,%u,%u,%u", places[__i__].text, regions->rects->x,
                regions->rects->y, regions->rects->width,
                regions->rects->height);
  gpu_histogram_regions_unref(regions);
}
GST_END_TEST;

/* Whatever fits has a place, and none is empty or outside. */
GST_START_TEST(rectangles_in_per_cent_in_frames_of_all_sizes)
{
  for (guint i = 0; i < 40000; i++) {
    guint width = 1 + i % 40, height = 1 + i / 40 % 10;
    guint x = i / 400 % 10, w = i / 4000;
    gchar *text = g_strdup_printf("%u%%,%u.7%%,%u.3%%,%u%%", 10 * x, 9 * x,
                                  10 * w, 1 + 9 * w);
    GpuHistogramRegionWishes wishes = {.roi_metas = FALSE};
    GpuHistogramRegions *regions;
    gchar *misfit;

    gpu_histogram_roi_parse(&wishes.roi, text);
    misfit = gpu_histogram_regions_get_misfit(&wishes, width, height);
    regions = gpu_histogram_regions_new(&wishes, NULL, width, height);
    if (!misfit && regions->n != 1)
      fail("%s has no place in %ux%u", text, width, height);
    for (guint r = 0; r < regions->n; r++) {
      const GhRect *rect = &regions->rects[r];

      if (rect->width == 0 || rect->height == 0 ||
          rect->x + rect->width > width || rect->y + rect->height > height)
        fail("%s is outside of %ux%u", text, width, height);
    }
    gpu_histogram_regions_unref(regions);
    g_free(misfit);
    g_free(text);
  }
}
GST_END_TEST;

/* ---- Grids ---- */

static const gchar *const no_grids[] = {"x",       "8",
                                        "8x",      "x6",
                                        "8x6x",    "8x6 ",
                                        " 8x6",    "8 x6",
                                        "8X6",     "0x6",
                                        "8x0",     "-8x6",
                                        "8x-6",    "+8x6",
                                        "8x+6",    "8.0x6",
                                        "8,6",     "0x10",
                                        "8x6%",    "65536x1",
                                        "1x65536", "18446744073709551617x1"};

GST_START_TEST(text_that_is_no_grid)
{
  GpuHistogramRegionWishes wishes = {.roi = {.valid = TRUE}};
  const gchar *text = no_grids[__i__];
  gchar *fault;

  gpu_histogram_roi_parse(&wishes.roi, "1,2,3,4");
  gpu_histogram_zones_parse(&wishes.zones, text);
  fail_unless_equals_int(wishes.zones.columns, 0);
  fail_unless_equals_int(wishes.zones.rows, 0);
  fail_unless_equals_string(wishes.zones.text, text);
  fault = gpu_histogram_regions_leave_out_faults(&wishes, 256);
  fail_unless(fault && strstr(fault, text));
  g_free(fault);
  fail_unless(gpu_histogram_regions_get_fault(&wishes, 256) == NULL);
  fail_unless_equals_string(wishes.zones.text, "");
  fail_unless_equals_string(wishes.roi.text, "1,2,3,4");
}
GST_END_TEST;

static const struct {
  const gchar *text;
  guint columns, rows, bins, n_weights;
  gboolean possible;
} grids[] = {
    {"8x6", 8, 6, 256, 0, TRUE},
    {"1x1", 1, 1, 65536, 1, TRUE},
    {"32x32", 32, 32, 256, 1024, TRUE},
    {"1024x1", 1024, 1, 4096, 0, TRUE},
    {"1025x1", 1025, 1, 2, 0, FALSE},
    {"1024x1", 1024, 1, 8192, 0, FALSE},
    {"8x8", 8, 8, 65536, 0, TRUE},
    {"5x13", 5, 13, 65536, 0, FALSE},
    {"65535x65535", 65535, 65535, 2, 0, FALSE},
    {"3x2", 3, 2, 256, 5, FALSE},
    {"3x2", 3, 2, 256, 7, FALSE},
    {"", 0, 0, 256, 1, FALSE},
};

GST_START_TEST(grids_and_how_many_zones_they_may_have)
{
  GpuHistogramRegionWishes wishes = {.roi = {.valid = TRUE},
                                     .n_weights = grids[__i__].n_weights};
  gchar *fault;

  gpu_histogram_zones_parse(&wishes.zones, grids[__i__].text);
  fail_unless_equals_int(wishes.zones.columns, grids[__i__].columns);
  fail_unless_equals_int(wishes.zones.rows, grids[__i__].rows);
  fault = gpu_histogram_regions_get_fault(&wishes, grids[__i__].bins);
  fail_unless_equals_int(fault == NULL, grids[__i__].possible);
  g_free(fault);
  g_free(gpu_histogram_regions_leave_out_faults(&wishes, grids[__i__].bins));
  fail_unless(gpu_histogram_regions_get_fault(&wishes, grids[__i__].bins) ==
              NULL);
}
GST_END_TEST;

static Suite *
region_text_suite(void)
{
  Suite *suite = suite_create("region-text");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, text_that_is_no_rectangle, 0,
                      G_N_ELEMENTS(no_rois));
  tcase_add_loop_test(chain, no_text_is_no_rectangle, 0, 2);
  tcase_add_test(chain, text_that_is_too_long);
  tcase_add_loop_test(chain, rectangle_in_a_frame, 0, G_N_ELEMENTS(places));
  tcase_add_test(chain, rectangles_in_per_cent_in_frames_of_all_sizes);
  tcase_add_loop_test(chain, text_that_is_no_grid, 0, G_N_ELEMENTS(no_grids));
  tcase_add_loop_test(chain, grids_and_how_many_zones_they_may_have, 0,
                      G_N_ELEMENTS(grids));
  return suite;
}

GST_CHECK_MAIN(region_text)
