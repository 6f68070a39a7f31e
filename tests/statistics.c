/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The statistics of histograms that are small enough to work out by hand. */

#include <gst/check/gstcheck.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

#include <math.h>

static GstBuffer *buffer;
static GstGpuHistogramMeta *meta;

static void
setup(void)
{
  buffer = gst_buffer_new();
  meta =
      gst_buffer_add_gpu_histogram_meta(buffer, GST_GPU_HISTOGRAM_REGION_FRAME);
}

static void
teardown(void)
{
  gst_buffer_unref(buffer);
}

/* A histogram without samples. */
static void
begin(guint depth, guint n_bins)
{
  guint64 *bins = g_new0(guint64, n_bins);

  gst_gpu_histogram_meta_set_bins(meta, n_bins, bins);
  g_free(bins);
  meta->depth = depth;
  meta->pixels = 0;
  meta->sum = 0;
}

/* @n samples of @level. */
static void
add(guint level, guint64 n)
{
  meta->bins[(guint64)level * meta->n_bins >> meta->depth] += n;
  meta->pixels += n;
  meta->sum += level * n;
}

typedef struct {
  gdouble mean, variance, deviation;
  guint median;
  gdouble dark, bright, entropy;
} Expected;

static void
assert_close(gdouble value, gdouble expected)
{
  fail_unless(fabs(value - expected) <= 1e-12 * fabs(expected),
              "%.17g, not %.17g", value, expected);
  fail_if(signbit(value));
}

static void
check(const Expected *expected)
{
  assert_close(gst_gpu_histogram_meta_get_mean(meta), expected->mean);
  assert_close(gst_gpu_histogram_meta_get_variance(meta), expected->variance);
  assert_close(gst_gpu_histogram_meta_get_standard_deviation(meta),
               expected->deviation);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_median(meta),
                         expected->median);
  assert_close(gst_gpu_histogram_meta_get_dark_share(meta), expected->dark);
  assert_close(gst_gpu_histogram_meta_get_bright_share(meta), expected->bright);
  assert_close(gst_gpu_histogram_meta_get_entropy(meta), expected->entropy);
}

/* The mean from percentile @low to @high, in either order. */
static void
check_between(gdouble low, gdouble high, gdouble expected)
{
  assert_close(gst_gpu_histogram_meta_get_interpercentile_mean(meta, low, high),
               expected);
  assert_close(gst_gpu_histogram_meta_get_interpercentile_mean(meta, high, low),
               expected);
}

GST_START_TEST(flat)
{
  static const guint levels[] = {0, 7, 254, 255};

  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    guint level = levels[i];

    begin(8, 256);
    add(level, 1003 * 769);
    check(&(Expected){.mean = level,
                      .median = level,
                      .dark = level == 0,
                      .bright = level == 255});
    check_between(0, 100, level);
    check_between(50, 50, level);
  }
}
GST_END_TEST;

GST_START_TEST(one_pixel)
{
  begin(10, 1024);
  add(1023, 1);
  check(&(Expected){.mean = 1023, .median = 1023, .bright = 1});
  check_between(0, 0, 1023);
  check_between(5, 95, 1023);
  begin(10, 1024);
  add(1, 1);
  check(&(Expected){.mean = 1, .median = 1});
}
GST_END_TEST;

GST_START_TEST(two_values)
{
  begin(8, 256);
  add(10, 3);
  add(20, 1);
  check(&(Expected){.mean = 12.5,
                    .variance = 18.75,
                    .deviation = 4.3301270189221932,
                    .median = 10,
                    .entropy = 2 - 0.75 * log2(3)});
  check_between(0, 75, 10);
  check_between(0, 75.1, 12.5);
  check_between(75, 100, 12.5);
  check_between(75.1, 100, 20);
}
GST_END_TEST;

/* The lower one of the two in the middle. */
GST_START_TEST(median_of_an_even_number)
{
  begin(8, 256);
  add(3, 5);
  add(200, 5);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_median(meta), 3);
  add(200, 1);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_median(meta), 200);
}
GST_END_TEST;

GST_START_TEST(ramp)
{
  begin(8, 256);
  for (guint level = 0; level < 256; level++)
    add(level, 4);
  check(&(Expected){.mean = 127.5,
                    .variance = 5461.25, /* (256^2 - 1) / 12 */
                    .deviation = sqrt(5461.25),
                    .median = 127,
                    .dark = 1 / 256.0,
                    .bright = 1 / 256.0,
                    .entropy = 8});
  check_between(0, 100, 127.5);
  /* Levels 63 to 191. */
  check_between(25, 75, 127);
  check_between(0, 25, 31.5);
}
GST_END_TEST;

GST_START_TEST(ramp_of_16_bits)
{
  begin(16, 65536);
  for (guint level = 0; level < 65536; level++)
    add(level, 1000);
  check(&(Expected){.mean = 32767.5,
                    .variance = (65536.0 * 65536 - 1) / 12,
                    .deviation = sqrt((65536.0 * 65536 - 1) / 12),
                    .median = 32767,
                    .dark = 1 / 65536.0,
                    .bright = 1 / 65536.0,
                    .entropy = 16});
  check_between(25, 75, (16383 + 49151) / 2.0);
}
GST_END_TEST;

GST_START_TEST(gaps)
{
  begin(8, 256);
  add(0, 1);
  add(100, 2);
  add(255, 1);
  check(&(Expected){.mean = 113.75,
                    .variance = 8317.1875,
                    .deviation = sqrt(8317.1875),
                    .median = 100,
                    .dark = 0.25,
                    .bright = 0.25,
                    .entropy = 1.5});
  check_between(25, 75, 200 / 3.0);
  check_between(26, 75, 100);
  check_between(26, 76, 455 / 3.0);
}
GST_END_TEST;

/* Four bins of 16384 levels, with 1, 0, 2 and 1 samples. */
GST_START_TEST(few_bins_of_16_bits)
{
  begin(16, 4);
  add(16383, 1);
  add(32768, 2);
  add(65000, 1);
  check(&(Expected){.mean = (16383 + 2 * 32768 + 65000) / 4.0,
                    .variance = 1.1875 * 16384 * 16384,
                    .deviation = sqrt(1.1875) * 16384,
                    .median = 32768,
                    .dark = 0.25,
                    .bright = 0.25,
                    .entropy = 1.5});
  check_between(0, 100, (8191.5 + 2 * 40959.5 + 57343.5) / 4);
  check_between(30, 75, 40959.5);
  check_between(0, 25, 8191.5);
}
GST_END_TEST;

GST_START_TEST(one_bin_is_the_darkest_and_the_brightest)
{
  begin(8, 1);
  add(3, 4);
  check(&(Expected){.mean = 3, .dark = 1, .bright = 1});
  check_between(5, 95, 127.5);
}
GST_END_TEST;

GST_START_TEST(percentages_beyond_the_ends)
{
  begin(8, 256);
  add(10, 1);
  add(20, 1);
  check_between(-1, 50, 10);
  check_between(-1e300, INFINITY, 15);
  check_between(101, 1e300, 20);
  check_between(-INFINITY, -1, 10);
}
GST_END_TEST;

/* Also a histogram that holds no sample, whatever its pixels say. */
GST_START_TEST(not_measured)
{
  const Expected nothing = {.mean = 0};

  check(&nothing);
  check_between(0, 100, 0);
  begin(8, 256);
  check(&nothing);
  check_between(0, 100, 0);
  meta->pixels = 5;
  check(&nothing);
  check_between(0, 100, 0);
  gst_gpu_histogram_meta_set_bins(meta, 0, NULL);
  check(&nothing);
  check_between(0, 100, 0);
}
GST_END_TEST;

GST_START_TEST(nan_is_refused)
{
  begin(8, 256);
  add(9, 1);
  for (guint i = 0; i < 2; i++) {
    g_test_expect_message("GStreamer-GpuHistogram", G_LOG_LEVEL_CRITICAL,
                          "*isnan*");
    fail_unless(gst_gpu_histogram_meta_get_interpercentile_mean(
                    meta, i == 0 ? NAN : 5, i == 1 ? NAN : 95) == 0.0);
    g_test_assert_expected_messages();
  }
  check_between(5, 95, 9);
}
GST_END_TEST;

static Suite *
statistics_suite(void)
{
  Suite *suite = suite_create("statistics");
  TCase *tc = tcase_create("statistics");

  /* The harness watches GStreamer's own domains alone. */
  g_log_set_fatal_mask("GStreamer-GpuHistogram",
                       G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  suite_add_tcase(suite, tc);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, flat);
  tcase_add_test(tc, one_pixel);
  tcase_add_test(tc, two_values);
  tcase_add_test(tc, median_of_an_even_number);
  tcase_add_test(tc, ramp);
  tcase_add_test(tc, ramp_of_16_bits);
  tcase_add_test(tc, gaps);
  tcase_add_test(tc, few_bins_of_16_bits);
  tcase_add_test(tc, one_bin_is_the_darkest_and_the_brightest);
  tcase_add_test(tc, percentages_beyond_the_ends);
  tcase_add_test(tc, not_measured);
  tcase_add_test(tc, nan_is_refused);
  return suite;
}

GST_CHECK_MAIN(statistics);
