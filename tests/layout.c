/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the samples lie: strides, offsets, padding, cropping. */

#include "testing.h"

#include <string.h>

#define GRAY_641x5 "video/x-raw,format=GRAY8,width=641,height=5,framerate=25/1"
#define GRAY_720x576 \
  "video/x-raw,format=GRAY8,width=720,height=576,framerate=25/1"

static guint8
up_to_200(guint x, guint y, gpointer unused)
{
  return (guint8)((y * 641 + x) % 201);
}

static guint8
video_ramp(guint x, guint y, gpointer unused)
{
  return (guint8)(16 + x % 220);
}

/* Measures one frame with all checks, and also looks at one more bin. */
static void
measure(const gchar *caps, GstBuffer *(*make)(const GstVideoInfo *, guint),
        guint variant, guint64 pixels)
{
  TestFixture f;
  TestExpected expected;
  GstBuffer *buffer;
  const guint64 *bins;
  guint n_bins = 0;

  test_fixture_setup(&f, caps, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = make(&f.info, variant);
  test_expect(&expected, buffer, &f.info);
  fail_unless_equals_uint64(expected.pixels, pixels);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  test_check_frame(&expected, buffer, 256);

  bins = gst_gpu_histogram_meta_get_bins(
      gst_buffer_get_gpu_histogram_meta(buffer), &n_bins);
  fail_unless_equals_int(n_bins, 256);
  fail_unless_equals_uint64(bins[0xEE], 0);
  fail_unless_equals_uint64(bins[255], 0);
  gst_buffer_unref(buffer);
  test_expected_clear(&expected);
  test_fixture_teardown(&f);
}

static GstBuffer *
make_gray(const GstVideoInfo *info, guint variant)
{
  const TestLayout apart = {.before = 64, .stride = 704};
  const TestLayout tight = {.stride = 641};
  const TestLayout *const layouts[] = {NULL, &apart, &tight};

  return test_frame_new(info, layouts[variant], up_to_200, NULL);
}

GST_START_TEST(B34_gray_in_three_layouts)
{
  measure(GRAY_641x5, make_gray, (guint)__i__, 3205);
}
GST_END_TEST;

static guint8
never_zero(guint x, guint y, gpointer unused)
{
  return (guint8)(1 + (x * 7 + y) % 255);
}

/* Zeros around the frame: a sample from outside would show. */
static void
measure_among_zeros(TestFixture *f, gsize offset, gint stride)
{
  GstBuffer *buffer = gst_buffer_new_allocate(
      NULL, offset + (gsize)(f->info.height * stride) + 64, NULL);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  GstMapInfo map;

  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  memset(map.data, 0, map.size);
  for (gint y = 0; y < f->info.height; y++)
    for (gint x = 0; x < f->info.width; x++)
      map.data[offset + (gsize)(y * stride + x)] =
          never_zero((guint)x, (guint)y, NULL);
  gst_buffer_unmap(buffer, &map);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_FORMAT_GRAY8, f->info.width,
                                 f->info.height, 1, offsets, strides);
  test_fixture_measure(f, buffer, 256);
}

GST_START_TEST(B15_every_offset_of_gray)
{
  const guint widths[] = {1,  2,  3,  4,  7,  8,  15,  16,  17,
                          31, 32, 33, 40, 63, 64, 255, 256, 257};
  const guint heights[] = {1, 2, 8};
  const gint strides[] = {641, 644, 704};
  TestFixture f;

  test_fixture_setup(&f, GRAY_641x5, NULL);
  for (guint w = 0; w < G_N_ELEMENTS(widths); w++) {
    for (guint h = 0; h < G_N_ELEMENTS(heights); h++) {
      gchar *caps = g_strdup_printf("video/x-raw,format=GRAY8,width=%u,"
                                    "height=%u,framerate=25/1",
                                    widths[w], heights[h]);

      fail_unless(test_fixture_renegotiate(&f, caps));
      for (gsize offset = 0; offset < 32; offset++)
        measure_among_zeros(&f, offset, strides[__i__]);
      g_free(caps);
    }
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Luma, a row of padding below it, and chroma that is 255 everywhere. */
static GstBuffer *
make_yuv(const GstVideoInfo *info, guint variant)
{
  const TestLayout layout = {
      .stride = variant == 0 ? 0 : 704 * GST_VIDEO_INFO_COMP_PSTRIDE(info, 0),
      .rows_below = 1};
  GstBuffer *buffer = test_frame_new(info, &layout, video_ramp, NULL);

  gst_buffer_memset(buffer, gst_buffer_get_video_meta(buffer)->offset[1], 255,
                    gst_buffer_get_size(buffer));
  return buffer;
}

GST_START_TEST(B34_luma_of_nv12_i420_and_p010)
{
  static const gchar *const formats[] = {"NV12", "I420", "P010_10LE"};
  const gchar *format = formats[__i__ / 2];
  gchar *caps = g_strdup_printf(
      "video/x-raw,format=%s,width=641,height=481,framerate=25/1", format);

  measure(caps, make_yuv, (guint)__i__ % 2, 308321);
  g_free(caps);
}
GST_END_TEST;

/* ---- Cropping is not the element's business: the whole frame counts ---- */

static guint8
inside(guint x, guint y, gpointer unused)
{
  return x >= 16 && x < 16 + 688 && y >= 48 && y < 48 + 480 ? 200 : 0;
}

static const struct {
  guint x, y, width, height;
} crops[] = {
    {16, 48, 688, 480},
    {5, 3, 33, 17},
    {700, 500, 688, 480},
    {0, 0, 0, 0},
    {G_MAXUINT - 3, G_MAXUINT - 3, G_MAXUINT, G_MAXUINT},
};

GST_START_TEST(B42_crop_meta_stays_and_the_whole_frame_counts)
{
  TestFixture f;
  GstVideoCropMeta *crop;
  GstGpuHistogramMeta *meta;
  GstBuffer *buffer;

  test_fixture_setup(&f, GRAY_720x576, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = test_frame_new(&f.info, NULL, inside, NULL);
  crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = crops[__i__].x;
  crop->y = crops[__i__].y;
  crop->width = crops[__i__].width;
  crop->height = crops[__i__].height;
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  meta = gst_buffer_get_gpu_histogram_meta(buffer);
  fail_unless(meta != NULL);
  fail_unless_equals_uint64(meta->bins[0], 84480);
  fail_unless_equals_uint64(meta->bins[200], 330240);
  fail_unless_equals_uint64(meta->pixels, 720 * 576);
  crop = gst_buffer_get_video_crop_meta(buffer);
  fail_unless(crop != NULL);
  fail_unless_equals_int(crop->x, crops[__i__].x);
  fail_unless_equals_int(crop->y, crops[__i__].y);
  fail_unless_equals_int(crop->width, crops[__i__].width);
  fail_unless_equals_int(crop->height, crops[__i__].height);
  gst_buffer_unref(buffer);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
layout_suite(void)
{
  Suite *suite = suite_create("layout");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B34_gray_in_three_layouts, 0, 3);
  tcase_add_loop_test(chain, B15_every_offset_of_gray, 0, 3);
  tcase_add_loop_test(chain, B34_luma_of_nv12_i420_and_p010, 0, 6);
  tcase_add_loop_test(chain, B42_crop_meta_stays_and_the_whole_frame_counts, 0,
                      G_N_ELEMENTS(crops));
  return suite;
}

TEST_MAIN(layout)
