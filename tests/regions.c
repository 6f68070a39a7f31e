/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parts of a frame that are counted beside the whole: which they are, and that
 * each count is exact. */

#include "testing-regions.h"

#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>

#define GRAY_64x48 "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

static void
set(TestFixture *f, const gchar *property, const gchar *value)
{
  gst_util_set_object_arg(G_OBJECT(f->element), property, value);
}

static gchar *
caps_of(const gchar *format, guint width, guint height)
{
  return g_strdup_printf(
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1", format, width,
      height);
}

static const struct {
  const gchar *format;
  guint bins;
} formats[] = {
    {"GRAY8", 256},      {"I420", 256},         {"GRAY16_LE", 65536},
    {"P010_10LE", 1024}, {"NV12_10LE32", 1024}, {"P010_10LE", 2},
};

/* ---- roi ---- */

typedef struct {
  const gchar *roi;
  GstVideoRectangle part;
} Roi;

static const Roi even_rois[] = {
    {"0,0,64,48", {0, 0, 64, 48}},
    {"0,0,1,1", {0, 0, 1, 1}},
    {"63,47,1,1", {63, 47, 1, 1}},
    {"10,20,30,17", {10, 20, 30, 17}},
    {"63,0,1,48", {63, 0, 1, 48}},
    {"0,47,64,1", {0, 47, 64, 1}},
    {"25%,25%,50%,50%", {16, 12, 32, 24}},
    {"0%,0%,100%,100%", {0, 0, 64, 48}},
    /* The edges are rounded: 6.4 and 27.7. */
    {"10%,0,33.3%,7", {6, 0, 22, 7}},
    {"8,50%,8,50%", {8, 24, 8, 24}},
    /* At least a pixel, also where that is the last one. */
    {"50%,0%,0.1%,100%", {32, 0, 1, 48}},
    {"99.9%,99.9%,0.1%,0.1%", {63, 47, 1, 1}},
};

static const Roi odd_rois[] = {
    {"0,0,641,481", {0, 0, 641, 481}},
    {"1,1,639,479", {1, 1, 639, 479}},
    {"640,480,1,1", {640, 480, 1, 1}},
    {"3,5,129,257", {3, 5, 129, 257}},
    /* From 160.25 to 480.75, and from 120.25 to 360.75. */
    {"25%,25%,50%,50%", {160, 120, 321, 241}},
};

static void
measure_roi(TestFixture *f, const Roi *roi, const TestLayout *layout,
            guint bins, GRand *random)
{
  const TestRegion region = {GST_GPU_HISTOGRAM_REGION_ROI, roi->part};
  GstBuffer *buffer;

  set(f, "roi", roi->roi);
  buffer = test_fixture_pass(f, test_noise_frame(&f->info, layout, random));
  test_check_regions(buffer, &f->info, bins, &region, 1);
  gst_buffer_unref(buffer);
}

/* Also with planes that are not where the caps have them. */
static void
measure_rois(guint i, guint width, guint height, const Roi *rois, guint n)
{
  gchar *caps = caps_of(formats[i].format, width, height);
  GRand *random = test_random();
  TestLayout padded = {.before = 64, .rows_below = 3};
  TestFixture f;

  test_fixture_setup(&f, caps, "bins", formats[i].bins, NULL);
  padded.stride = GST_VIDEO_INFO_PLANE_STRIDE(&f.info, 0) + 40;
  for (guint r = 0; r < n; r++) {
    measure_roi(&f, &rois[r], NULL, formats[i].bins, random);
    measure_roi(&f, &rois[r], &padded, formats[i].bins, random);
  }
  fail_unless_equals_int(
      test_bus_take(f.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  test_fixture_teardown(&f);
  g_rand_free(random);
  g_free(caps);
}

GST_START_TEST(roi_in_pixels_and_in_per_cent)
{
  measure_rois((guint)__i__, 64, 48, even_rois, G_N_ELEMENTS(even_rois));
}
GST_END_TEST;

GST_START_TEST(roi_in_frames_of_odd_sizes)
{
  measure_rois((guint)__i__, 641, 481, odd_rois, G_N_ELEMENTS(odd_rois));
}
GST_END_TEST;

/* ---- zones ---- */

static const struct {
  guint width, height, columns, rows;
} grids[] = {{64, 48, 1, 1}, {64, 48, 8, 6},   {64, 48, 7, 5},
             {65, 47, 8, 6}, {64, 48, 32, 32}, {64, 48, 64, 1},
             {5, 3, 5, 3},   {641, 481, 7, 5}, {1919, 1079, 7, 5}};

static void
measure_zones(guint i, guint grid)
{
  gchar *caps =
      caps_of(formats[i].format, grids[grid].width, grids[grid].height);
  gchar *zones =
      g_strdup_printf("%ux%u", grids[grid].columns, grids[grid].rows);
  GRand *random = test_random();
  GstBuffer *buffer;
  TestFixture f;

  test_fixture_setup(&f, caps, "bins", formats[i].bins, "zones", zones,
                     "n-threads", 1 + grid % 3, NULL);
  for (guint n = 0; n < 2; n++) {
    buffer = test_fixture_pass(&f, test_noise_frame(&f.info, NULL, random));
    test_check_zones(buffer, &f.info, formats[i].bins, grids[grid].columns,
                     grids[grid].rows);
    gst_buffer_unref(buffer);
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
  g_free(zones);
  g_free(caps);
}

GST_START_TEST(zones_tile_the_frame)
{
  measure_zones(0, (guint)__i__);
}
GST_END_TEST;

GST_START_TEST(zones_of_other_formats)
{
  guint i = (guint)__i__ + 1;

  /* So many bins allow no more than 64 zones. */
  measure_zones(i, 1);
  measure_zones(i, 2);
  measure_zones(i, 7);
}
GST_END_TEST;

/* ---- What a buffer brings along ---- */

static void
add_roi_meta(GstBuffer *buffer, const gchar *type, gint id, guint x, guint y,
             guint width, guint height)
{
  gst_buffer_add_video_region_of_interest_meta(buffer, type, x, y, width,
                                               height)
      ->id = id;
}

static void
add_crop_meta(GstBuffer *buffer, guint x, guint y, guint width, guint height)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);

  crop->x = x;
  crop->y = y;
  crop->width = width;
  crop->height = height;
}

static void
measure(TestFixture *f, GstBuffer *buffer, const TestRegion *regions, guint n)
{
  buffer = test_fixture_pass(f, buffer);
  test_check_regions(buffer, &f->info, 256, regions, n);
  gst_buffer_unref(buffer);
}

/* Outside of the frame, wholly or in part, or nothing at all: each keeps its
 * number. */
static GstBuffer *
new_marked_frame(TestFixture *f, GRand *random)
{
  GstBuffer *buffer = test_noise_frame(&f->info, NULL, random);

  add_roi_meta(buffer, "face", 7, 20, 10, 10, 10);
  add_roi_meta(buffer, "face", 8, 60, 40, 100, 100);
  add_roi_meta(buffer, "face", 9, 64, 0, 10, 10);
  add_roi_meta(buffer, "face", 10, 0, 1000, 10, 10);
  add_roi_meta(buffer, "face", 11, 5, 5, 0, 10);
  add_roi_meta(buffer, "car", 7, 20, 10, 10, 10);
  add_roi_meta(buffer, "car", 8, 63, 47, G_MAXUINT, G_MAXUINT);
  add_crop_meta(buffer, 4, 4, 56, 100);
  return buffer;
}

#define ROI_META GST_GPU_HISTOGRAM_REGION_ROI_META

static const TestRegion all_at_once[] = {
    {1, {10, 5, 30, 20}},
    {1000, {0, 0, 21, 24}},
    {1001, {21, 0, 21, 24}},
    {1002, {42, 0, 22, 24}},
    {1003, {0, 24, 21, 24}},
    {1004, {21, 24, 21, 24}},
    {1005, {42, 24, 22, 24}},
    {2, {4, 4, 56, 44}},
    {ROI_META, {20, 10, 10, 10}},
    {ROI_META + 1, {60, 40, 4, 8}},
    {ROI_META + 5, {20, 10, 10, 10}},
    {ROI_META + 6, {63, 47, 1, 1}},
};

GST_START_TEST(everything_at_once)
{
  GRand *random = test_random();
  GstBuffer *buffer;
  TestFixture f;

  test_fixture_setup(&f, GRAY_64x48, "roi", "10,5,30,20", "zones", "3x2",
                     "roi-metas", TRUE, "crop-meta", TRUE, "rows", TRUE,
                     "verify", TRUE, NULL);
  for (guint i = 0; i < 5; i++) {
    buffer = test_fixture_pass(&f, new_marked_frame(&f, random));
    test_check_regions(buffer, &f.info, 256, all_at_once,
                       G_N_ELEMENTS(all_at_once));
    test_check_rows(buffer, &f.info);
    gst_buffer_unref(buffer);
  }
  /* And then none of what came along. */
  measure(&f, test_noise_frame(&f.info, NULL, random), all_at_once, 7);
  fail_unless_equals_int(
      test_bus_take(f.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

GST_START_TEST(what_comes_along_counts_only_when_asked)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, GRAY_64x48, NULL);
  measure(&f, new_marked_frame(&f, random), NULL, 0);
  g_object_set(f.element, "crop-meta", TRUE, NULL);
  measure(&f, new_marked_frame(&f, random), &all_at_once[7], 1);
  g_object_set(f.element, "crop-meta", FALSE, "roi-metas", TRUE, NULL);
  measure(&f, new_marked_frame(&f, random), &all_at_once[8], 4);
  g_object_set(f.element, "roi-metas", FALSE, NULL);
  measure(&f, new_marked_frame(&f, random), NULL, 0);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* Each buffer has others, up to 64 of which count. */
GST_START_TEST(roi_metas_change_from_buffer_to_buffer)
{
  const guint numbers[] = {1, 0, 5, 64, 3, 70, 0, 2};
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, GRAY_64x48, "roi-metas", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GstBuffer *buffer = test_noise_frame(&f.info, NULL, random);
    TestRegion regions[70];

    for (guint r = 0; r < numbers[i]; r++) {
      gint x = g_rand_int_range(random, 0, 64);
      gint y = g_rand_int_range(random, 0, 48);
      gint w = g_rand_int_range(random, 1, 64);
      gint h = g_rand_int_range(random, 1, 48);

      add_roi_meta(buffer, "thing", 1, (guint)x, (guint)y, (guint)w, (guint)h);
      regions[r] = (TestRegion){ROI_META + (gint)r,
                                {x, y, MIN(w, 64 - x), MIN(h, 48 - y)}};
    }
    measure(&f, buffer, regions, MIN(64, numbers[i]));
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* What upstream may leave to be cropped is asked of downstream, and held back
 * where it would not be counted. */
GST_START_TEST(crop_meta_is_offered_only_where_it_counts)
{
  gboolean counts = __i__ & 1, downstream = (__i__ & 2) != 0;
  GstCaps *caps = gst_caps_from_string(GRAY_64x48);
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  TestFixture f;

  test_fixture_setup(&f, GRAY_64x48, "crop-meta", counts, NULL);
  gst_harness_add_propose_allocation_meta(f.harness, GST_VIDEO_META_API_TYPE,
                                          NULL);
  if (downstream)
    gst_harness_add_propose_allocation_meta(f.harness,
                                            GST_VIDEO_CROP_META_API_TYPE, NULL);
  fail_unless(gst_pad_peer_query(f.harness->srcpad, query));
  fail_unless(
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless_equals_int(
      gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL),
      counts && downstream);
  gst_query_unref(query);
  gst_caps_unref(caps);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- rows ---- */

static const gchar *const row_formats[] = {"GRAY8", "P010_10LE", "NV12_10LE32",
                                           "YUY2", "GRAY16_BE"};

GST_START_TEST(rows_are_added_up)
{
  const guint sizes[][2] = {{64, 48}, {33, 7}, {64, 480}, {641, 481}};
  gchar *caps = caps_of(row_formats[__i__], 64, 48);
  GRand *random = test_random();
  GstBuffer *buffer;
  TestFixture f;

  test_fixture_setup(&f, caps, "rows", TRUE, "verify", TRUE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    gchar *others = caps_of(row_formats[__i__], sizes[i][0], sizes[i][1]);

    fail_unless(test_fixture_renegotiate(&f, others));
    buffer = test_fixture_pass(&f, test_noise_frame(&f.info, NULL, random));
    test_check_regions(buffer, &f.info, 256, NULL, 0);
    test_check_rows(buffer, &f.info);
    gst_buffer_unref(buffer);
    g_free(others);
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
  g_free(caps);
}
GST_END_TEST;

/* Whether the next frame has its rows measured. */
static gboolean
has_rows(TestFixture *f)
{
  GstBuffer *buffer = test_fixture_pass(f, test_frame_flat(&f->info, 3, 0));
  gboolean there = gst_buffer_get_gpu_histogram_rows_meta(buffer) != NULL;

  if (there)
    test_check_rows(buffer, &f->info);
  gst_buffer_unref(buffer);
  return there;
}

GST_START_TEST(rows_come_only_when_asked)
{
  TestFixture f;

  test_fixture_setup(&f, GRAY_64x48, NULL);
  fail_if(has_rows(&f));
  g_object_set(f.element, "rows", TRUE, NULL);
  fail_unless(has_rows(&f));
  g_object_set(f.element, "attach-meta", FALSE, NULL);
  fail_if(has_rows(&f));
  g_object_set(f.element, "attach-meta", TRUE, NULL);
  fail_unless(has_rows(&f));
  g_object_set(f.element, "rows", FALSE, NULL);
  fail_if(has_rows(&f));
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
regions_suite(void)
{
  Suite *suite = suite_create("regions");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, roi_in_pixels_and_in_per_cent, 0,
                      G_N_ELEMENTS(formats));
  tcase_add_loop_test(chain, roi_in_frames_of_odd_sizes, 0,
                      G_N_ELEMENTS(formats));
  tcase_add_loop_test(chain, zones_tile_the_frame, 0, G_N_ELEMENTS(grids));
  tcase_add_loop_test(chain, zones_of_other_formats, 0,
                      G_N_ELEMENTS(formats) - 1);
  tcase_add_test(chain, everything_at_once);
  tcase_add_test(chain, what_comes_along_counts_only_when_asked);
  tcase_add_test(chain, roi_metas_change_from_buffer_to_buffer);
  tcase_add_loop_test(chain, crop_meta_is_offered_only_where_it_counts, 0, 4);
  tcase_add_loop_test(chain, rows_are_added_up, 0, G_N_ELEMENTS(row_formats));
  tcase_add_test(chain, rows_come_only_when_asked);
  return suite;
}

TEST_MAIN(regions)
