/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The metas' library where its caller is wrong: a critical warning, an answer
 * that says nothing was measured, and metas that are as they were. */

#include <gst/check/gstcheck.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>
#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>

#include <math.h>
#include <string.h>

/* A buffer with a meta of each kind, which hold what the setup put there. */
static struct {
  GstBuffer *buffer;
  GstGpuHistogramMeta *meta;
  GstGpuHistogramRowsMeta *rows;
} f;

static const guint64 numbers[4] = {1, 2, 3, 4};

static void
setup(void)
{
  f.buffer = gst_buffer_new();
  f.meta = gst_buffer_add_gpu_histogram_meta(f.buffer, 0);
  f.meta->depth = 2;
  f.meta->pixels = 10;
  f.meta->sum = 20;
  gst_gpu_histogram_meta_set_bins(f.meta, 4, numbers);
  f.rows = gst_buffer_add_gpu_histogram_rows_meta(f.buffer);
  gst_gpu_histogram_rows_meta_set_sums(f.rows, 4, numbers);
}

/* Nothing of what went wrong has changed the metas. */
static void
teardown(void)
{
  g_test_assert_expected_messages();
  fail_unless_equals_int(f.meta->n_bins, 4);
  fail_unless(memcmp(f.meta->bins, numbers, sizeof(numbers)) == 0);
  fail_unless_equals_int(f.rows->n_rows, 4);
  fail_unless(memcmp(f.rows->sums, numbers, sizeof(numbers)) == 0);
  gst_buffer_unref(f.buffer);
}

/* That @function, which is called next, complains. */
static void
expect_critical(const gchar *function)
{
  gchar *pattern = g_strdup_printf("%s: assertion *failed", function);

  g_test_assert_expected_messages();
  g_test_expect_message("GStreamer-GpuHistogram", G_LOG_LEVEL_CRITICAL,
                        pattern);
  g_free(pattern);
}

#define EXPECT_ZERO(function, ...)             \
  G_STMT_START                                 \
  {                                            \
    expect_critical(#function);                \
    fail_unless(function(__VA_ARGS__) == 0.0); \
  }                                            \
  G_STMT_END

#define EXPECT_NULL(function, ...)              \
  G_STMT_START                                  \
  {                                             \
    expect_critical(#function);                 \
    fail_unless(function(__VA_ARGS__) == NULL); \
  }                                             \
  G_STMT_END

GST_START_TEST(figures_of_no_meta)
{
  EXPECT_ZERO(gst_gpu_histogram_meta_get_mean, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_variance, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_standard_deviation, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_min, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_max, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_percentile, NULL, 50.0);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_interpercentile_mean, NULL, 5.0, 95.0);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_dark_share, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_bright_share, NULL);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_entropy, NULL);
  EXPECT_ZERO(gst_gpu_histogram_rows_meta_get_mean, NULL, 0);
}
GST_END_TEST;

GST_START_TEST(percentages_that_are_no_numbers)
{
  EXPECT_ZERO(gst_gpu_histogram_meta_get_percentile, f.meta, (gdouble)NAN);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_interpercentile_mean, f.meta,
              (gdouble)NAN, 95.0);
  EXPECT_ZERO(gst_gpu_histogram_meta_get_interpercentile_mean, f.meta, 5.0,
              (gdouble)NAN);
}
GST_END_TEST;

GST_START_TEST(arrays_of_no_meta)
{
  guint n = 99;

  EXPECT_NULL(gst_gpu_histogram_meta_get_bins, NULL, &n);
  EXPECT_NULL(gst_gpu_histogram_rows_meta_get_means, NULL, &n);
  expect_critical("gst_gpu_histogram_meta_set_bins");
  gst_gpu_histogram_meta_set_bins(NULL, 4, numbers);
  expect_critical("gst_gpu_histogram_rows_meta_set_sums");
  gst_gpu_histogram_rows_meta_set_sums(NULL, 4, numbers);
  fail_unless_equals_int(n, 99);
}
GST_END_TEST;

GST_START_TEST(arrays_that_cannot_be)
{
  expect_critical("gst_gpu_histogram_meta_set_bins");
  gst_gpu_histogram_meta_set_bins(f.meta, 3, numbers);
  expect_critical("gst_gpu_histogram_meta_set_bins");
  gst_gpu_histogram_meta_set_bins(f.meta, 131072, numbers);
  expect_critical("gst_gpu_histogram_meta_set_bins");
  gst_gpu_histogram_meta_set_bins(f.meta, 4, NULL);
  expect_critical("gst_gpu_histogram_rows_meta_set_sums");
  gst_gpu_histogram_rows_meta_set_sums(f.rows, 4, NULL);
}
GST_END_TEST;

static void
check_no_buffer(GstBuffer *buffer)
{
  EXPECT_NULL(gst_buffer_add_gpu_histogram_meta, buffer, 0);
  EXPECT_NULL(gst_buffer_get_gpu_histogram_meta_region, buffer, 0);
  EXPECT_NULL(gst_buffer_add_gpu_histogram_rows_meta, buffer);
  EXPECT_NULL(gst_buffer_get_gpu_histogram_rows_meta, buffer);
}

GST_START_TEST(no_buffer)
{
  GstCaps *caps = gst_caps_new_any();

  check_no_buffer(NULL);
  check_no_buffer((GstBuffer *)caps);
  gst_caps_unref(caps);
}
GST_END_TEST;

GST_START_TEST(buffer_of_others_too)
{
  GstMeta *meta = &f.meta->meta, *rows = &f.rows->meta;
  GstBuffer *shared = gst_buffer_new();

  gst_buffer_ref(shared);
  EXPECT_NULL(gst_buffer_add_gpu_histogram_meta, shared, 0);
  EXPECT_NULL(gst_buffer_add_gpu_histogram_rows_meta, shared);
  /* Nor are they copied to it. */
  expect_critical("gst_buffer_add_gpu_histogram_meta");
  fail_if(meta->info->transform_func(shared, meta, f.buffer, 0, NULL));
  expect_critical("gst_buffer_add_gpu_histogram_rows_meta");
  fail_if(rows->info->transform_func(shared, rows, f.buffer, 0, NULL));
  fail_if(gst_buffer_get_meta(shared, GST_GPU_HISTOGRAM_META_API_TYPE));
  fail_if(gst_buffer_get_meta(shared, GST_GPU_HISTOGRAM_ROWS_META_API_TYPE));
  gst_buffer_unref(shared);
  gst_buffer_unref(shared);
}
GST_END_TEST;

static Suite *
misuse_suite(void)
{
  Suite *suite = suite_create("misuse");
  TCase *tc = tcase_create("general");

  suite_add_tcase(suite, tc);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, figures_of_no_meta);
  tcase_add_test(tc, percentages_that_are_no_numbers);
  tcase_add_test(tc, arrays_of_no_meta);
  tcase_add_test(tc, arrays_that_cannot_be);
  tcase_add_test(tc, no_buffer);
  tcase_add_test(tc, buffer_of_others_too);
  return suite;
}

GST_CHECK_MAIN(misuse);
