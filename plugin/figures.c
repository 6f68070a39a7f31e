/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "figures.h"

GType
gst_gpu_histogram_statistics_get_type(void)
{
  static gsize type = 0;
  static const GFlagsValue values[] = {
      {GST_GPU_HISTOGRAM_STATISTICS_MEAN, "Mean (mean)", "mean"},
      {GST_GPU_HISTOGRAM_STATISTICS_MIN, "Lowest grey level (min)", "min"},
      {GST_GPU_HISTOGRAM_STATISTICS_MAX, "Highest grey level (max)", "max"},
      {GST_GPU_HISTOGRAM_STATISTICS_VARIANCE, "Population variance (variance)",
       "variance"},
      {GST_GPU_HISTOGRAM_STATISTICS_STANDARD_DEVIATION,
       "Population standard deviation (standard-deviation)",
       "standard-deviation"},
      {GST_GPU_HISTOGRAM_STATISTICS_MEDIAN, "Lower median (median)", "median"},
      {GST_GPU_HISTOGRAM_STATISTICS_PERCENTILES,
       "Grey levels of the property percentiles (percentiles)", "percentiles"},
      {GST_GPU_HISTOGRAM_STATISTICS_INTERPERCENTILE_MEAN,
       "Mean from the least to the greatest of the property percentiles "
       "(interpercentile-mean)",
       "interpercentile-mean"},
      {GST_GPU_HISTOGRAM_STATISTICS_CLIPPED,
       "Shares of the samples in the lowest and in the highest bin "
       "(clipped-dark, clipped-bright)",
       "clipped"},
      {GST_GPU_HISTOGRAM_STATISTICS_ENTROPY, "Bits a sample (entropy)",
       "entropy"},
      {0, NULL, NULL}};

  if (g_once_init_enter(&type))
    g_once_init_leave(
        &type, g_flags_register_static("GstGpuHistogramStatistics", values));
  return type;
}

gboolean
gpu_histogram_figures_set_percentiles(GpuHistogramFigures *figures,
                                      const GValue *array)
{
  guint n = gst_value_array_get_size(array);

  if (n > GPU_HISTOGRAM_MAX_PERCENTILES)
    return FALSE;
  for (guint i = 0; i < n; i++)
    figures->percentiles[i] =
        g_value_get_double(gst_value_array_get_value(array, i));
  figures->n_percentiles = n;
  return TRUE;
}

void
gpu_histogram_figures_get_percentiles(const GpuHistogramFigures *figures,
                                      GValue *array)
{
  for (guint i = 0; i < figures->n_percentiles; i++) {
    GValue percent = G_VALUE_INIT;

    g_value_init(&percent, G_TYPE_DOUBLE);
    g_value_set_double(&percent, figures->percentiles[i]);
    gst_value_array_append_and_take_value(array, &percent);
  }
}
