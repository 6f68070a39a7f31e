/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures that are derived from the bins. */

#include "gstgpuhistogrammeta-private.h"

#include <math.h>

/* Grey levels in one bin. The meta has bins. */
static guint64
bin_width(const GstGpuHistogramMeta *meta)
{
  guint depth = MIN(meta->depth, GPU_HISTOGRAM_MAX_DEPTH);
  guint bits = g_bit_storage(meta->n_bins) - 1;

  return depth > bits ? G_GUINT64_CONSTANT(1) << (depth - bits) : 1;
}

/* The lowest bin that holds samples; n_bins where none does. */
static guint
first_bin(const GstGpuHistogramMeta *meta)
{
  guint b = 0;

  while (b < meta->n_bins && meta->bins[b] == 0)
    b++;
  return b;
}

/**
 * gst_gpu_histogram_meta_get_mean:
 * @meta: a #GstGpuHistogramMeta
 *
 * The mean of all samples, @sum / @pixels. It comes from the exact sum and so
 * does not depend on the number of bins.
 *
 * Returns: the mean in grey levels, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_mean(const GstGpuHistogramMeta *meta)
{
  g_return_val_if_fail(meta != NULL, 0.0);

  if (meta->pixels == 0)
    return 0.0;
  return (gdouble)meta->sum / (gdouble)meta->pixels;
}

/**
 * gst_gpu_histogram_meta_get_variance:
 * @meta: a #GstGpuHistogramMeta
 *
 * The population variance of all samples, the sum of n[b] * (c[b] - m)^2 over
 * all bins b, divided by the sum of n[b]. Here n[b] is the number of samples
 * in bin b, c[b] the centre of its grey levels, and m the mean of the c[b]
 * weighted by n[b]. With as many bins as grey levels this is the variance of
 * the samples themselves.
 *
 * Returns: the variance in grey levels squared, 0 or more; 0 when not measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_variance(const GstGpuHistogramMeta *meta)
{
  gdouble count = 0.0, mean = 0.0, squares = 0.0;
  guint first;

  g_return_val_if_fail(meta != NULL, 0.0);

  first = first_bin(meta);
  if (first == meta->n_bins)
    return 0.0;

  /* In bins from the first one: a flat frame gives exactly 0. */
  for (guint b = first; b < meta->n_bins; b++) {
    count += (gdouble)meta->bins[b];
    mean += (gdouble)meta->bins[b] * (b - first);
  }
  mean /= count;
  for (guint b = first; b < meta->n_bins; b++) {
    gdouble distance = (b - first) - mean;
    squares += (gdouble)meta->bins[b] * distance * distance;
  }
  return squares / count * (gdouble)bin_width(meta) * (gdouble)bin_width(meta);
}

/**
 * gst_gpu_histogram_meta_get_min:
 * @meta: a #GstGpuHistogramMeta
 *
 * The lowest grey level of the first bin that holds samples: the darkest
 * sample, or with fewer bins than grey levels a lower bound of it.
 *
 * Returns: a grey level, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
guint
gst_gpu_histogram_meta_get_min(const GstGpuHistogramMeta *meta)
{
  guint first;

  g_return_val_if_fail(meta != NULL, 0);

  first = first_bin(meta);
  if (first == meta->n_bins)
    return 0;
  return (guint)(first * bin_width(meta));
}

/**
 * gst_gpu_histogram_meta_get_max:
 * @meta: a #GstGpuHistogramMeta
 *
 * The highest grey level of the last bin that holds samples: the brightest
 * sample, or with fewer bins than grey levels an upper bound of it.
 *
 * Returns: a grey level, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
guint
gst_gpu_histogram_meta_get_max(const GstGpuHistogramMeta *meta)
{
  guint end;

  g_return_val_if_fail(meta != NULL, 0);

  end = meta->n_bins;
  while (end > 0 && meta->bins[end - 1] == 0)
    end--;
  if (end == 0)
    return 0;
  return (guint)(end * bin_width(meta) - 1);
}

/**
 * gst_gpu_histogram_meta_get_percentile:
 * @meta: a #GstGpuHistogramMeta
 * @percent: share of the samples in percent, 0 to 100; values outside are
 *     taken as the nearer of the two, NaN is not allowed
 *
 * The percentile by nearest rank: the lowest grey level of the first bin that
 * holds samples and with which the samples counted from the darkest reach
 * @percent / 100 * @pixels. 0 gives the bin of the darkest sample, 50 the lower
 * median, 100 the bin of the brightest sample.
 *
 * A share that is met exactly counts as reached, also if @percent has no exact
 * binary form: 99.9 percent of 1000 samples are 999. So up to 2^46 samples.
 *
 * Returns: a grey level, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
guint
gst_gpu_histogram_meta_get_percentile(const GstGpuHistogramMeta *meta,
                                      gdouble percent)
{
  guint64 counted = 0;
  guint found = 0;

  g_return_val_if_fail(meta != NULL, 0);
  g_return_val_if_fail(!isnan(percent), 0);

  if (meta->pixels == 0 || meta->n_bins == 0)
    return 0;
  percent = CLAMP(percent, 0.0, 100.0);

  for (guint b = 0; b < meta->n_bins; b++) {
    gdouble reached;

    if (meta->bins[b] == 0)
      continue;
    found = b;
    counted += meta->bins[b];
    /* Exact but for one division, whose result is rounded just as the
     * caller's number was: equal shares compare equal. */
    reached = (gdouble)counted * 100.0 / (gdouble)meta->pixels;
    if (reached >= percent)
      break;
  }
  return (guint)(found * bin_width(meta));
}
