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

/* The first bin that holds samples and with which those counted from the
 * darkest reach @percent; the last one that does where they never do, and 0
 * where there are no samples. */
static guint
percentile_bin(const GstGpuHistogramMeta *meta, gdouble percent)
{
  guint64 counted = 0;
  guint found = 0;

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
  return found;
}

static gboolean
is_measured(const GstGpuHistogramMeta *meta)
{
  return meta->pixels != 0 && meta->n_bins != 0;
}

/**
 * gst_gpu_histogram_meta_get_mean:
 * @meta: a #GstGpuHistogramMeta
 *
 * The mean of all samples, @sum / @pixels. It comes from the exact sum and so
 * does not depend on the number of bins. In numpy: mean(x) of the samples x.
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
 * the samples themselves; in numpy: var(x).
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
 * gst_gpu_histogram_meta_get_standard_deviation:
 * @meta: a #GstGpuHistogramMeta
 *
 * The population standard deviation of all samples: the square root of
 * gst_gpu_histogram_meta_get_variance(). In numpy: std(x) of the samples x,
 * where there are as many bins as grey levels.
 *
 * Returns: the standard deviation in grey levels, 0 or more; 0 when not
 *     measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_standard_deviation(const GstGpuHistogramMeta *meta)
{
  g_return_val_if_fail(meta != NULL, 0.0);

  return sqrt(gst_gpu_histogram_meta_get_variance(meta));
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
 * In numpy: percentile(x, percent, method="inverted_cdf") of the samples x,
 * where there are as many bins as grey levels. numpy rounds @percent / 100 and
 * so may take the next sample where a share is met exactly.
 *
 * Returns: a grey level, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
guint
gst_gpu_histogram_meta_get_percentile(const GstGpuHistogramMeta *meta,
                                      gdouble percent)
{
  g_return_val_if_fail(meta != NULL, 0);
  g_return_val_if_fail(!isnan(percent), 0);

  if (!is_measured(meta))
    return 0;
  return (guint)(percentile_bin(meta, percent) * bin_width(meta));
}

/**
 * gst_gpu_histogram_meta_get_median:
 * @meta: a #GstGpuHistogramMeta
 *
 * The lower median: gst_gpu_histogram_meta_get_percentile() of 50. Of an even
 * number of samples it is the darker one of the two in the middle. In numpy:
 * percentile(x, 50, method="inverted_cdf") of the samples x, where there are as
 * many bins as grey levels.
 *
 * Returns: a grey level, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
guint
gst_gpu_histogram_meta_get_median(const GstGpuHistogramMeta *meta)
{
  return gst_gpu_histogram_meta_get_percentile(meta, 50.0);
}

/* The mean of the centres of the bins @first to @last, weighted by their
 * samples. */
static gdouble
mean_of_bins(const GstGpuHistogramMeta *meta, guint first, guint last)
{
  gdouble width = (gdouble)bin_width(meta);
  gdouble count = 0.0, sum = 0.0;

  /* In bins from the first one: a flat frame gives exactly its level. */
  for (guint b = first; b <= last; b++) {
    count += (gdouble)meta->bins[b];
    sum += (gdouble)meta->bins[b] * (b - first);
  }
  if (count == 0.0)
    return 0.0;
  return first * width + sum / count * width + (width - 1.0) / 2.0;
}

/**
 * gst_gpu_histogram_meta_get_interpercentile_mean:
 * @meta: a #GstGpuHistogramMeta
 * @low: where the samples begin, as a percentile
 * @high: where they end, as a percentile
 *
 * The mean of the samples between two percentiles, both included: the sum of
 * n[b] * c[b], divided by the sum of n[b], over all bins b from the one of
 * gst_gpu_histogram_meta_get_percentile() of @low to that of @high. Here n[b]
 * is the number of samples in bin b and c[b] the centre of its grey levels. A
 * bin counts whole: samples of the same level as the percentile are in it, be
 * they beyond the share or not. Few samples that are very dark or very bright,
 * such as defective pixels, make no difference to it.
 *
 * Percentages outside 0 to 100 are taken as the nearer of the two, and @low and
 * @high may come in either order; NaN is not allowed.
 *
 * In numpy: x[(x >= l) & (x <= h)].mean() of the samples x, where there are as
 * many bins as grey levels and l and h are the two percentiles.
 *
 * Returns: the mean in grey levels, 0 to 2^depth - 1; 0 when not measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_interpercentile_mean(const GstGpuHistogramMeta *meta,
                                                gdouble low, gdouble high)
{
  g_return_val_if_fail(meta != NULL, 0.0);
  g_return_val_if_fail(!isnan(low), 0.0);
  g_return_val_if_fail(!isnan(high), 0.0);

  if (!is_measured(meta))
    return 0.0;
  return mean_of_bins(meta, percentile_bin(meta, MIN(low, high)),
                      percentile_bin(meta, MAX(low, high)));
}

/**
 * gst_gpu_histogram_meta_get_dark_share:
 * @meta: a #GstGpuHistogramMeta
 *
 * The share of the samples that are clipped in the dark: n[0] / @pixels, where
 * n[0] is the number of samples in the lowest bin. In numpy: mean(x == 0) of
 * the samples x, where there are as many bins as grey levels.
 *
 * The lowest bin begins at level 0, also in formats whose black is at another
 * level, such as 16 of 8 bits.
 *
 * Returns: a share, 0 to 1; 0 when not measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_dark_share(const GstGpuHistogramMeta *meta)
{
  g_return_val_if_fail(meta != NULL, 0.0);

  if (!is_measured(meta))
    return 0.0;
  return (gdouble)meta->bins[0] / (gdouble)meta->pixels;
}

/**
 * gst_gpu_histogram_meta_get_bright_share:
 * @meta: a #GstGpuHistogramMeta
 *
 * The share of the samples that are clipped in the bright: n[b] / @pixels,
 * where n[b] is the number of samples in the highest bin. In numpy: mean(x ==
 * 2**depth - 1) of the samples x, where there are as many bins as grey levels.
 *
 * The highest bin ends at level 2^depth - 1, also in formats whose white is at
 * another level, such as 235 of 8 bits.
 *
 * Returns: a share, 0 to 1; 0 when not measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_bright_share(const GstGpuHistogramMeta *meta)
{
  g_return_val_if_fail(meta != NULL, 0.0);

  if (!is_measured(meta))
    return 0.0;
  return (gdouble)meta->bins[meta->n_bins - 1] / (gdouble)meta->pixels;
}

/**
 * gst_gpu_histogram_meta_get_entropy:
 * @meta: a #GstGpuHistogramMeta
 *
 * The entropy of the histogram: minus the sum of p[b] * log2(p[b]) over all
 * bins b that hold samples, where p[b] is the number of samples in bin b,
 * divided by
 * @pixels. It is 0 for a flat frame and greatest, the number of bits of the
 * number of a bin, where all bins hold equally many.
 *
 * In numpy: p = bincount(x) / x.size; p = p[p > 0]; -(p * log2(p)).sum() of the
 * samples x, where there are as many bins as grey levels.
 *
 * Returns: the entropy in bits a sample, 0 to log2(@n_bins); 0 when not
 * measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_meta_get_entropy(const GstGpuHistogramMeta *meta)
{
  gdouble bits = 0.0;

  g_return_val_if_fail(meta != NULL, 0.0);

  if (!is_measured(meta))
    return 0.0;
  for (guint b = 0; b < meta->n_bins; b++) {
    gdouble p = (gdouble)meta->bins[b] / (gdouble)meta->pixels;

    if (p > 0.0)
      bits -= p * log2(p);
  }
  return bits;
}
