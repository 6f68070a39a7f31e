/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Samples of more than 8 bits: exact values, written out byte by byte, and the
 * bits that are significant. */

#include "testing.h"

#include <string.h>

#define VIDEO(format, width, height)                           \
  "video/x-raw,framerate=25/1,format=" format ",width=" #width \
  ",height=" #height

/* An element that verifies what it counts, in so many bins. */
static void
setup(TestFixture *f, const gchar *caps, guint bins, guint significant_bits)
{
  test_fixture_setup(f, caps, "bins", bins, "significant-bits",
                     significant_bits, "verify", TRUE, NULL);
  test_tap_skip_until(f->tap, GST_EVENT_SEGMENT);
}

/* (transfer full): @buffer once it was counted, and its meta. */
static GstBuffer *
measure(TestFixture *f, GstBuffer *buffer, GstGpuHistogramMeta **meta)
{
  test_fixture_push(f, buffer);
  buffer = test_tap_pop_buffer(f->tap);
  *meta = gst_buffer_get_gpu_histogram_meta(buffer);
  fail_unless(*meta != NULL);
  return buffer;
}

/* All bins are the same. */
static void
check_even(const GstGpuHistogramMeta *meta, guint n_bins, guint64 each,
           guint64 sum)
{
  fail_unless_equals_int(meta->n_bins, n_bins);
  for (guint bin = 0; bin < n_bins; bin++)
    fail_unless_equals_uint64(meta->bins[bin], each);
  fail_unless_equals_uint64(meta->pixels, n_bins * each);
  fail_unless_equals_uint64(meta->sum, sum);
}

/* ---- 10 bits in the upper part of a word ---- */

static void
write_le(guint8 *at, guint word)
{
  at[0] = (guint8)word;
  at[1] = (guint8)(word >> 8);
}

/* Every code once, chroma in the middle, 0xAA elsewhere. */
static GstBuffer *
every_code(guint low_bits, gint stride)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = {0, (gsize)stride * 16};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride, stride};
  guint8 *bytes = g_malloc((gsize)stride * 24);
  GstBuffer *buffer;

  memset(bytes, 0xAA, (gsize)stride * 24);
  for (guint y = 0; y < 24; y++) {
    for (guint x = 0; x < 64; x++) {
      guint code = y < 16 ? y * 64 + x : 512;

      write_le(bytes + y * (gsize)stride + 2 * x, code << 6 | low_bits);
    }
  }
  buffer = gst_buffer_new_wrapped(bytes, (gsize)stride * 24);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_FORMAT_P010_10LE, 64, 16, 2, offset,
                                 strides);
  return buffer;
}

static const struct {
  guint low_bits;
  gint stride;
} p010[] = {{0, 128}, {0x3f, 128}, {0, 192}, {0x3f, 192}};

GST_START_TEST(B29_p010_counts_its_10_bits)
{
  for (guint bins = 256; bins <= 1024; bins *= 2) {
    GstGpuHistogramMeta *meta;
    TestFixture f;
    GstBuffer *buffer;

    setup(&f, VIDEO("P010_10LE", 64, 16), bins, 0);
    buffer = measure(&f, every_code(p010[__i__].low_bits, p010[__i__].stride),
                     &meta);
    fail_unless_equals_int(meta->depth, 10);
    check_even(meta, bins, 1024 / bins, 1023 * 1024 / 2);
    gst_buffer_unref(buffer);
    test_fixture_teardown(&f);
  }
}
GST_END_TEST;

/* ---- 16 bits ---- */

static guint
every_value(guint x, guint y, gpointer unused)
{
  return y * 256 + x;
}

static guint
deep_flat(guint x, guint y, gpointer value)
{
  return GPOINTER_TO_UINT(value);
}

static guint
deep_ramp(guint x, guint y, gpointer unused)
{
  return (y * 641 + x) * 20;
}

static const gchar *const gray16[] = {VIDEO("GRAY16_LE", 256, 256),
                                      VIDEO("GRAY16_BE", 256, 256)};

/* The other order of bytes has to change something. */
GST_START_TEST(B44_frames_are_what_they_claim_to_be)
{
  for (guint i = 0; i < G_N_ELEMENTS(gray16); i++) {
    GstVideoInfo info;
    GstBuffer *buffer;
    guint8 bytes[2];

    test_video_info(&info, gray16[i]);
    buffer = test_deep_frame_new(&info, NULL, every_value, NULL);
    gst_buffer_extract(buffer, 2 * 0x1234, bytes, 2);
    fail_unless_equals_int_hex(bytes[i], 0x34);
    fail_unless_equals_int_hex(bytes[1 - i], 0x12);
    gst_buffer_unref(buffer);
  }
}
GST_END_TEST;

GST_START_TEST(B44_every_value_of_16_bits)
{
  for (guint bins = 256; bins <= 65536; bins *= 256) {
    GstGpuHistogramMeta *meta;
    TestFixture f;
    GstBuffer *buffer;

    setup(&f, gray16[__i__], bins, 0);
    buffer = measure(&f, test_deep_frame_new(&f.info, NULL, every_value, NULL),
                     &meta);
    fail_unless_equals_int(meta->depth, 16);
    check_even(meta, bins, 65536 / bins, 2147450880);
    gst_buffer_unref(buffer);
    test_fixture_teardown(&f);
  }
}
GST_END_TEST;

/* Above half of the range, where a sign would show. */
GST_START_TEST(B44_one_value_of_16_bits)
{
  static const guint values[] = {36830, 65535}, bins[] = {143, 255};

  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    GstGpuHistogramMeta *meta;
    TestFixture f;
    GstBuffer *buffer;

    setup(&f, gray16[__i__], 256, 0);
    buffer = measure(&f,
                     test_deep_frame_new(&f.info, NULL, deep_flat,
                                         GUINT_TO_POINTER(values[i])),
                     &meta);
    for (guint bin = 0; bin < 256; bin++)
      fail_unless_equals_uint64(meta->bins[bin], bin == bins[i] ? 65536 : 0);
    fail_unless_equals_uint64(meta->sum, 65536 * (guint64)values[i]);
    gst_buffer_unref(buffer);
    test_fixture_teardown(&f);
  }
}
GST_END_TEST;

GST_START_TEST(B44_padding_of_16_bits)
{
  static const gchar *const caps[] = {VIDEO("GRAY16_LE", 641, 3),
                                      VIDEO("GRAY16_BE", 641, 3)};
  TestExpected expected;
  GstBuffer *buffer;
  TestFixture f;

  setup(&f, caps[__i__], 65536, 0);
  fail_unless_equals_int(GST_VIDEO_INFO_PLANE_STRIDE(&f.info, 0), 1284);
  buffer = test_deep_frame_new(&f.info, NULL, deep_ramp, NULL);
  for (guint y = 0; y < 3; y++)
    gst_buffer_memset(buffer, y * 1284 + 1282, 0xAA, 2);
  test_expect(&expected, buffer, &f.info);
  fail_unless_equals_uint64(expected.pixels, 1923);
  fail_unless_equals_uint64(expected.levels[0xAAAA], 0);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  test_check_frame(&expected, buffer, 65536);
  gst_buffer_unref(buffer);
  test_expected_clear(&expected);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Significant bits ---- */

static const struct {
  const gchar *caps;
  guint bits;
  guint bins;
} narrow[] = {
    {VIDEO("GRAY16_LE", 641, 31), 12, 4096},
    {VIDEO("GRAY16_LE", 641, 31), 10, 256},
    {VIDEO("GRAY16_BE", 641, 31), 12, 256},
    {VIDEO("GRAY16_BE", 641, 31), 10, 1024},
    {VIDEO("GRAY16_LE", 641, 31), 16, 65536},
    {VIDEO("GRAY16_LE", 641, 31), 14, 16384},
    {VIDEO("GRAY16_BE", 641, 31), 8, 256},
    {VIDEO("GRAY16_LE", 641, 31), 1, 2},
    {VIDEO("I420_12LE", 641, 31), 10, 16},
    {VIDEO("I420_10LE", 641, 31), 10, 1024},
    {VIDEO("P010_10LE", 641, 31), 10, 1024},
    {VIDEO("P012_BE", 641, 31), 9, 512},
    {VIDEO("AYUV64", 641, 31), 12, 64},
    {VIDEO("Y212_LE", 641, 31), 11, 2048},
};

static guint
deep_noise(guint x, guint y, gpointer random)
{
  return g_rand_int(random) & 0xffff;
}

/* Other bits of a sample are whatever they are. */
GST_START_TEST(significant_bits)
{
  guint bits = narrow[__i__].bits, bins = narrow[__i__].bins;
  GRand *random = test_random();
  TestExpected expected;
  GstBuffer *buffer;
  TestFixture f;
  TestLuma luma;

  setup(&f, narrow[__i__].caps, bins, bits);
  test_luma(&luma, f.info.finfo);
  luma.depth = bits;
  buffer = test_deep_frame_new(&f.info, NULL, deep_noise, random);
  test_expect_luma(&expected, buffer, &f.info, &luma);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  test_check_frame(&expected, buffer, bins);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  gst_buffer_unref(buffer);
  test_expected_clear(&expected);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* A 12-bit camera in the dark: what counts is 4096 levels and not 65536. */
GST_START_TEST(significant_bits_of_a_dim_frame)
{
  GstGpuHistogramMeta *meta;
  TestFixture f;
  GstBuffer *buffer;

  setup(&f, gray16[0], 256, 12);
  buffer = measure(
      &f, test_deep_frame_new(&f.info, NULL, deep_flat, GUINT_TO_POINTER(4000)),
      &meta);
  fail_unless_equals_int(meta->depth, 12);
  fail_unless_equals_uint64(meta->bins[250], 65536);
  fail_unless_equals_float(gst_gpu_histogram_meta_get_mean(meta), 4000.0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta), 4015);
  gst_buffer_unref(buffer);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
depths_suite(void)
{
  Suite *suite = suite_create("depths");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B29_p010_counts_its_10_bits, 0,
                      G_N_ELEMENTS(p010));
  tcase_add_test(chain, B44_frames_are_what_they_claim_to_be);
  tcase_add_loop_test(chain, B44_every_value_of_16_bits, 0, 2);
  tcase_add_loop_test(chain, B44_one_value_of_16_bits, 0, 2);
  tcase_add_loop_test(chain, B44_padding_of_16_bits, 0, 2);
  tcase_add_loop_test(chain, significant_bits, 0, G_N_ELEMENTS(narrow));
  tcase_add_test(chain, significant_bits_of_a_dim_frame);
  return suite;
}

TEST_MAIN(depths)
