/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is in a message for any number of bins, also for those that no format
 * has yet. */

#include "message.h"

#include <gst/check/gstcheck.h>

static const GpuHistogramFigures all = {
    .wanted = (GstGpuHistogramStatistics)0x3ff,
    .n_percentiles = 2,
    .percentiles = {5.0, 95.0},
};

/* The message of a frame of 16 bits whose bin b holds b samples. */
static GstStructure *
new_message(guint n_bins)
{
  GpuHistogramFrame frame = {.buffer = gst_buffer_new()};
  GstGpuHistogramMeta *meta = gst_buffer_add_gpu_histogram_meta(
      frame.buffer, GST_GPU_HISTOGRAM_REGION_FRAME);
  guint64 *bins = g_new(guint64, n_bins);
  GstStructure *structure;

  for (guint b = 0; b < n_bins; b++)
    bins[b] = b;
  gst_gpu_histogram_meta_set_bins(meta, n_bins, bins);
  g_free(bins);
  meta->depth = 16;
  meta->pixels = (guint64)n_bins * (n_bins - 1) / 2;
  structure = gpu_histogram_message_new(&frame, meta, &all);
  gst_buffer_unref(frame.buffer);
  return structure;
}

static guint
get_level(const GstStructure *structure, const gchar *field)
{
  guint level;

  fail_unless(gst_structure_get_uint(structure, field, &level));
  return level;
}

GST_START_TEST(up_to_4096_bins_are_there)
{
  static const guint numbers[] = {2, 256, 1024, 4096};

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GstStructure *structure = new_message(numbers[i]);
    const GValue *array = gst_structure_get_value(structure, "histogram");

    fail_unless(array != NULL && GST_VALUE_HOLDS_ARRAY(array));
    fail_unless_equals_int(gst_value_array_get_size(array), numbers[i]);
    for (guint b = 0; b < numbers[i]; b++)
      fail_unless_equals_uint64(
          g_value_get_uint64(gst_value_array_get_value(array, b)), b);
    fail_if(gst_structure_has_field(structure, "histogram-omitted"));
    gst_structure_free(structure);
  }
}
GST_END_TEST;

GST_START_TEST(more_bins_are_left_out_and_the_figures_stay)
{
  static const guint numbers[] = {8192, 65536};

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GstStructure *structure = new_message(numbers[i]);
    guint width = 65536 / numbers[i];
    gboolean omitted;

    fail_if(gst_structure_has_field(structure, "histogram"));
    fail_unless(
        gst_structure_get_boolean(structure, "histogram-omitted", &omitted));
    fail_unless(omitted);
    fail_unless_equals_int(get_level(structure, "min"), width);
    fail_unless_equals_int(get_level(structure, "max"), 65535);
    /* Of the samples up to bin b, b^2 / n^2 of all: half at n / sqrt(2). */
    fail_unless(ABS((gint)get_level(structure, "median") - 46341) <= 16);
    fail_unless(gst_structure_has_field(structure, "entropy"));
    gst_structure_free(structure);
  }
}
GST_END_TEST;

static Suite *
message_size_suite(void)
{
  Suite *suite = suite_create("message-size");
  TCase *tc = tcase_create("size");

  suite_add_tcase(suite, tc);
  tcase_add_test(tc, up_to_4096_bins_are_there);
  tcase_add_test(tc, more_bins_are_left_out_and_the_figures_stay);
  return suite;
}

GST_CHECK_MAIN(message_size);
