/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "message.h"

static GstStructure *
new_structure(const GpuHistogramFrame *frame, const GstGpuHistogramMeta *meta)
{
  return gst_structure_new(
      "gpuhistogram", "timestamp", G_TYPE_UINT64, GST_BUFFER_PTS(frame->buffer),
      "stream-time", G_TYPE_UINT64, frame->stream_time, "running-time",
      G_TYPE_UINT64, frame->running_time, "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION(frame->buffer), "frame", G_TYPE_UINT64, meta->frame,
      "width", G_TYPE_UINT64, (guint64)meta->width, "height", G_TYPE_UINT64,
      (guint64)meta->height, "pixels", G_TYPE_UINT64, meta->pixels, "sum",
      G_TYPE_UINT64, meta->sum, NULL);
}

static void
set_region(GstStructure *structure, const GstGpuHistogramMeta *meta)
{
  const GstVideoRectangle *r = &meta->rectangle;

  gst_structure_set(structure, "region", G_TYPE_INT, meta->region_id,
                    "region-x", G_TYPE_UINT64, (guint64)r->x, "region-y",
                    G_TYPE_UINT64, (guint64)r->y, "region-width", G_TYPE_UINT64,
                    (guint64)r->w, "region-height", G_TYPE_UINT64,
                    (guint64)r->h, NULL);
}

static void
set_double(GstStructure *structure, const gchar *name, gdouble value)
{
  gst_structure_set(structure, name, G_TYPE_DOUBLE, value, NULL);
}

static void
set_level(GstStructure *structure, const gchar *name, guint level)
{
  gst_structure_set(structure, name, G_TYPE_UINT, level, NULL);
}

static void
set_range(GstStructure *structure, const GstGpuHistogramMeta *meta,
          GstGpuHistogramStatistics wanted)
{
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_MEAN)
    set_double(structure, "mean", gst_gpu_histogram_meta_get_mean(meta));
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_MIN)
    set_level(structure, "min", gst_gpu_histogram_meta_get_min(meta));
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_MAX)
    set_level(structure, "max", gst_gpu_histogram_meta_get_max(meta));
}

static void
set_distribution(GstStructure *structure, const GstGpuHistogramMeta *meta,
                 GstGpuHistogramStatistics wanted)
{
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_VARIANCE)
    set_double(structure, "variance",
               gst_gpu_histogram_meta_get_variance(meta));
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_STANDARD_DEVIATION)
    set_double(structure, "standard-deviation",
               gst_gpu_histogram_meta_get_standard_deviation(meta));
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_MEDIAN)
    set_level(structure, "median", gst_gpu_histogram_meta_get_median(meta));
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_CLIPPED) {
    set_double(structure, "clipped-dark",
               gst_gpu_histogram_meta_get_dark_share(meta));
    set_double(structure, "clipped-bright",
               gst_gpu_histogram_meta_get_bright_share(meta));
  }
  if (wanted & GST_GPU_HISTOGRAM_STATISTICS_ENTROPY)
    set_double(structure, "entropy", gst_gpu_histogram_meta_get_entropy(meta));
}

static void
set_percentiles(GstStructure *structure, const GstGpuHistogramMeta *meta,
                const GpuHistogramFigures *figures)
{
  GValue array = G_VALUE_INIT;

  gst_value_array_init(&array, figures->n_percentiles);
  for (guint i = 0; i < figures->n_percentiles; i++) {
    GValue level = G_VALUE_INIT;

    g_value_init(&level, G_TYPE_UINT);
    g_value_set_uint(&level, gst_gpu_histogram_meta_get_percentile(
                                 meta, figures->percentiles[i]));
    gst_value_array_append_and_take_value(&array, &level);
  }
  gst_structure_take_value(structure, "percentiles", &array);
}

/* There are percentiles. */
static void
set_interpercentile_mean(GstStructure *structure,
                         const GstGpuHistogramMeta *meta,
                         const GpuHistogramFigures *figures)
{
  gdouble low = figures->percentiles[0], high = low;

  for (guint i = 1; i < figures->n_percentiles; i++) {
    low = MIN(low, figures->percentiles[i]);
    high = MAX(high, figures->percentiles[i]);
  }
  set_double(structure, "interpercentile-mean",
             gst_gpu_histogram_meta_get_interpercentile_mean(meta, low, high));
}

static void
set_histogram(GstStructure *structure, const GstGpuHistogramMeta *meta)
{
  GValue array = G_VALUE_INIT;

  if (meta->n_bins > GPU_HISTOGRAM_MESSAGE_BINS) {
    gst_structure_set(structure, "histogram-omitted", G_TYPE_BOOLEAN, TRUE,
                      NULL);
    return;
  }
  gst_value_array_init(&array, meta->n_bins);
  for (guint b = 0; b < meta->n_bins; b++) {
    GValue count = G_VALUE_INIT;

    g_value_init(&count, G_TYPE_UINT64);
    g_value_set_uint64(&count, meta->bins[b]);
    gst_value_array_append_and_take_value(&array, &count);
  }
  gst_structure_take_value(structure, "histogram", &array);
}

GstStructure *
gpu_histogram_message_new(const GpuHistogramFrame *frame,
                          const GstGpuHistogramMeta *meta,
                          const GpuHistogramFigures *figures)
{
  GstStructure *structure = new_structure(frame, meta);

  set_region(structure, meta);
  set_range(structure, meta, figures->wanted);
  set_distribution(structure, meta, figures->wanted);
  if (figures->wanted & GST_GPU_HISTOGRAM_STATISTICS_PERCENTILES)
    set_percentiles(structure, meta, figures);
  if (figures->wanted & GST_GPU_HISTOGRAM_STATISTICS_INTERPERCENTILE_MEAN &&
      figures->n_percentiles > 0)
    set_interpercentile_mean(structure, meta, figures);
  set_histogram(structure, meta);
  return structure;
}
