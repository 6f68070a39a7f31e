/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the samples lie: strides, offsets, padding, cropping. */

#include "testing.h"

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
  fail_unless_equals_int(crop->width, crops[__i__].width);
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
  tcase_add_loop_test(chain, B34_luma_of_nv12_i420_and_p010, 0, 6);
  tcase_add_loop_test(chain, B42_crop_meta_stays_and_the_whole_frame_counts, 0,
                      G_N_ELEMENTS(crops));
  return suite;
}

TEST_MAIN(layout)
