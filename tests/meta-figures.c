/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures derived from the bins, compared with known values and with
 * loops over the samples themselves. */

#include <gst/check/gstcheck.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define FRAME GST_GPU_HISTOGRAM_REGION_FRAME

/* Measures the samples, of 2^depth grey levels, into n_bins bins. */
static GstGpuHistogramMeta *
measure(GstBuffer *buffer, guint depth, guint n_bins, const guint *samples,
        guint n)
{
  GstGpuHistogramMeta *meta = gst_buffer_add_gpu_histogram_meta(buffer, FRAME);
  guint64 *bins = g_new0(guint64, n_bins);

  meta->depth = depth;
  meta->pixels = n;
  for (guint i = 0; i < n; i++) {
    bins[(guint64)samples[i] * n_bins >> depth]++;
    meta->sum += samples[i];
  }
  gst_gpu_histogram_meta_set_bins(meta, n_bins, bins);
  g_free(bins);
  return meta;
}

GST_START_TEST(known_figures)
{
  static const guint rows[16] = {0, 0, 0, 0, 0,   0,   0,   0,
                                 1, 1, 1, 1, 255, 255, 255, 255};
  static const struct {
    gdouble percent;
    guint level;
  } expected[] = {{-1, 0}, {0, 0},      {50, 0},    {50.1, 1},
                  {75, 1}, {75.1, 255}, {100, 255}, {1e300, 255}};
  GstBuffer *buffer = gst_buffer_new();
  GstGpuHistogramMeta *meta = measure(buffer, 8, 256, rows, 16);

  fail_unless_equals_uint64(meta->sum, 1024);
  fail_unless_equals_float(gst_gpu_histogram_meta_get_mean(meta), 64.0);
  /* (8 * 64^2 + 4 * 63^2 + 4 * 191^2) / 16 */
  fail_unless_equals_float(gst_gpu_histogram_meta_get_variance(meta), 12160.5);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_min(meta), 0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta), 255);
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
    fail_unless_equals_int(
        gst_gpu_histogram_meta_get_percentile(meta, expected[i].percent),
        expected[i].level);
  gst_buffer_unref(buffer);
}
GST_END_TEST;

GST_START_TEST(known_figures_of_coarse_bins)
{
  /* 16 bins of 16 levels: two samples in bin 2, one in each of 3 and 5. */
  static const guint samples[4] = {32, 47, 50, 95};
  GstBuffer *buffer = gst_buffer_new();
  GstGpuHistogramMeta *meta = measure(buffer, 8, 16, samples, 4);

  fail_unless_equals_float(gst_gpu_histogram_meta_get_mean(meta), 56.0);
  /* Centres 39.5, 39.5, 55.5, 87.5, their mean 55.5. */
  fail_unless_equals_float(gst_gpu_histogram_meta_get_variance(meta), 384.0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_min(meta), 32);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta), 95);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 0), 32);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 50), 32);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 51), 48);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 100), 80);
  gst_buffer_unref(buffer);
}
GST_END_TEST;

/* Also with counts that a double does not hold to the unit. */
GST_START_TEST(flat_frame_has_no_variance)
{
  static const guint64 counts[] = {1, 257, G_MAXUINT64 / 3};
  GstBuffer *buffer = gst_buffer_new();
  GstGpuHistogramMeta *meta = gst_buffer_add_gpu_histogram_meta(buffer, FRAME);
  guint64 bins[256] = {0};

  meta->depth = 8;
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    bins[7] = meta->pixels = counts[i];
    gst_gpu_histogram_meta_set_bins(meta, 256, bins);
    fail_unless(gst_gpu_histogram_meta_get_variance(meta) == 0.0);
    fail_unless_equals_int(gst_gpu_histogram_meta_get_min(meta), 7);
    fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta), 7);
    fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 0), 7);
    fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 100), 7);
  }
  gst_buffer_unref(buffer);
}
GST_END_TEST;

GST_START_TEST(nan_is_refused)
{
  static const guint samples[1] = {9};
  GstBuffer *buffer = gst_buffer_new();
  GstGpuHistogramMeta *meta = measure(buffer, 8, 256, samples, 1);

  g_test_expect_message("GStreamer-GpuHistogram", G_LOG_LEVEL_CRITICAL,
                        "*isnan*");
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, NAN), 0);
  g_test_assert_expected_messages();
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 1), 9);
  gst_buffer_unref(buffer);
}
GST_END_TEST;

/* The first of two bins holds k of n samples. */
static GstGpuHistogramMeta *
measure_share(GstBuffer *buffer, guint64 k, guint64 n)
{
  GstGpuHistogramMeta *meta = gst_buffer_add_gpu_histogram_meta(buffer, FRAME);
  guint64 bins[2] = {k, n - k};

  meta->depth = 1;
  meta->pixels = n;
  meta->sum = n - k;
  gst_gpu_histogram_meta_set_bins(meta, 2, bins);
  return meta;
}

GST_START_TEST(percentile_of_tenths_is_the_nearest_rank)
{
  GstBuffer *buffer = gst_buffer_new();

  for (guint n = 1; n <= 130; n++) {
    for (guint tenths = 0; tenths <= 1000; tenths++) {
      guint rank = MAX(1, (tenths * n + 999) / 1000);
      GstGpuHistogramMeta *meta = measure_share(buffer, rank, n);

      fail_unless_equals_int(
          gst_gpu_histogram_meta_get_percentile(meta, tenths / 10.0), 0);
      meta = measure_share(buffer, rank - 1, n);
      fail_unless_equals_int(
          gst_gpu_histogram_meta_get_percentile(meta, tenths / 10.0), 1);
    }
  }
  gst_buffer_unref(buffer);
}
GST_END_TEST;

static void
check_share(GstBuffer *buffer, guint64 k, guint64 n)
{
  gdouble percent = 100.0 * (gdouble)k / (gdouble)n;
  GstGpuHistogramMeta *meta = measure_share(buffer, k, n);
  guint at = gst_gpu_histogram_meta_get_percentile(meta, percent);
  guint above = gst_gpu_histogram_meta_get_percentile(
      meta, percent + percent * DBL_EPSILON);

  fail_unless(at == 0, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, k, n);
  fail_unless(above == (k < n),
              "above %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, k, n);
}

GST_START_TEST(percentile_is_exact_for_any_share)
{
  static const guint64 totals[] = {3,
                                   7,
                                   1000,
                                   1003 * 769,
                                   7680 * 4320,
                                   (G_GUINT64_CONSTANT(1) << 40) - 1,
                                   G_GUINT64_CONSTANT(1) << 40,
                                   (G_GUINT64_CONSTANT(1) << 46) - 1};
  GstBuffer *buffer = gst_buffer_new();

  for (guint i = 0; i < G_N_ELEMENTS(totals); i++) {
    guint64 n = totals[i], step = MAX(1, n / 1009);

    for (guint64 k = 1; k <= n; k += step) {
      check_share(buffer, k, n);
      check_share(buffer, n - k + 1, n);
    }
  }
  gst_buffer_unref(buffer);
}
GST_END_TEST;

static gint
compare(gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *)a, y = *(const guint *)b;

  return x < y ? -1 : x > y;
}

/* The variance of the centres of the samples' bins. */
static gdouble
plain_variance(const guint *samples, guint n, guint width)
{
  gdouble mean = 0.0, squares = 0.0;

  for (guint i = 0; i < n; i++)
    mean += (samples[i] / width * width + (width - 1) / 2.0) / n;
  for (guint i = 0; i < n; i++) {
    gdouble d = samples[i] / width * width + (width - 1) / 2.0 - mean;
    squares += d * d / n;
  }
  return squares;
}

static void
assert_close(gdouble value, gdouble expected)
{
  fail_unless(fabs(value - expected) <= 1e-9 * (1.0 + expected),
              "%.17g, not %.17g", value, expected);
}

/* Sorts the samples. */
static void
check_samples(guint depth, guint n_bins, guint *samples, guint n)
{
  GstBuffer *buffer = gst_buffer_new();
  GstGpuHistogramMeta *meta = measure(buffer, depth, n_bins, samples, n);
  guint width = (1u << depth) / n_bins;
  gdouble mean = 0.0;

  qsort(samples, n, sizeof(*samples), compare);
  for (guint i = 0; i < n; i++)
    mean += (gdouble)samples[i] / n;
  assert_close(gst_gpu_histogram_meta_get_mean(meta), mean);
  assert_close(gst_gpu_histogram_meta_get_variance(meta),
               plain_variance(samples, n, width));
  fail_unless_equals_int(gst_gpu_histogram_meta_get_min(meta),
                         samples[0] / width * width);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta),
                         samples[n - 1] / width * width + width - 1);
  for (guint percent = 0; percent <= 100; percent++) {
    guint rank = MAX(1, (percent * n + 99) / 100);

    fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, percent),
                           samples[rank - 1] / width * width);
  }
  gst_buffer_unref(buffer);
}

GST_START_TEST(figures_agree_with_loops_over_the_samples)
{
  const gchar *text = g_getenv("GPUHISTOGRAM_TEST_SEED");
  guint32 seed =
      text ? (guint32)g_ascii_strtoull(text, NULL, 0) : g_random_int();
  GRand *rand = g_rand_new_with_seed(seed);
  guint samples[1000];

  g_print("seed %u\n", seed);
  for (guint round = 0; round < 300; round++) {
    guint depth = (guint)g_rand_int_range(rand, 1, 17);
    guint n_bins = 1u << g_rand_int_range(rand, 0, (gint32)depth + 1);
    guint n = (guint)g_rand_int_range(rand, 1, G_N_ELEMENTS(samples) + 1);
    gint32 low = g_rand_int_range(rand, 0, 1 << depth);

    for (guint i = 0; i < n; i++)
      samples[i] = (guint)g_rand_int_range(rand, low, 1 << depth);
    check_samples(depth, n_bins, samples, n);
  }
  g_rand_free(rand);
}
GST_END_TEST;

static Suite *
meta_figures_suite(void)
{
  Suite *suite = suite_create("meta-figures");
  TCase *tc = tcase_create("figures");

  /* The harness watches GStreamer's own domains alone. */
  g_log_set_fatal_mask("GStreamer-GpuHistogram",
                       G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, known_figures);
  tcase_add_test(tc, known_figures_of_coarse_bins);
  tcase_add_test(tc, flat_frame_has_no_variance);
  tcase_add_test(tc, nan_is_refused);
  tcase_add_test(tc, percentile_of_tenths_is_the_nearest_rank);
  tcase_add_test(tc, percentile_is_exact_for_any_share);
  tcase_add_test(tc, figures_agree_with_loops_over_the_samples);
  return suite;
}

GST_CHECK_MAIN(meta_figures);
