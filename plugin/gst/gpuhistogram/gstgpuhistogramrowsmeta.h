/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

G_BEGIN_DECLS

#define GST_GPU_HISTOGRAM_ROWS_META_API_TYPE \
  (gst_gpu_histogram_rows_meta_api_get_type())
#define GST_GPU_HISTOGRAM_ROWS_META_INFO \
  (gst_gpu_histogram_rows_meta_get_info())

typedef struct _GstGpuHistogramRowsMeta GstGpuHistogramRowsMeta;

/**
 * GstGpuHistogramRowsMeta:
 * @meta: the parent #GstMeta
 * @frame: number of the frame at the measuring element, from 0
 * @format: format of the measured frame; %GST_VIDEO_FORMAT_UNKNOWN if nothing
 *     was measured yet, or in a meta received from a newer GStreamer
 * @depth: significant bits of a sample; its grey levels are 0 to 2^depth - 1
 * @width: width of the measured frame, and so samples in each row
 * @height: height of the measured frame, in pixels
 * @n_rows: number of rows that were measured, from the top of the frame, at
 *     most @height; 0 when not measured
 * @sums: (array length=n_rows): sum of the samples of each row, in grey levels
 *     of the format, the topmost row first. Owned by the meta.
 *
 * The exact sum of the grey levels of each row of one frame, from which the
 * rows' means come. Light that flickers shows in them as bands, where a camera
 * reads its rows one after the other.
 *
 * As #GstGpuHistogramMeta, it says what was measured, where it was measured: it
 * has no tags and survives whatever happens to the buffer afterwards. No
 * function of the meta blocks. Those that read it may run on several threads at
 * once, as long as none changes it.
 *
 * Since: 0.1
 */
struct _GstGpuHistogramRowsMeta {
  GstMeta meta;

  guint64 frame;

  GstVideoFormat format;
  guint depth;
  guint width;
  guint height;

  guint n_rows;
  guint64 *sums;
};

GST_GPU_HISTOGRAM_API
GType gst_gpu_histogram_rows_meta_api_get_type(void);

GST_GPU_HISTOGRAM_API
const GstMetaInfo *gst_gpu_histogram_rows_meta_get_info(void);

GST_GPU_HISTOGRAM_API
GstGpuHistogramRowsMeta *
gst_buffer_add_gpu_histogram_rows_meta(GstBuffer *buffer);

GST_GPU_HISTOGRAM_API
GstGpuHistogramRowsMeta *
gst_buffer_get_gpu_histogram_rows_meta(GstBuffer *buffer);

GST_GPU_HISTOGRAM_API
void gst_gpu_histogram_rows_meta_set_sums(GstGpuHistogramRowsMeta *meta,
                                          guint n_rows, const guint64 *sums);

GST_GPU_HISTOGRAM_API
gdouble
gst_gpu_histogram_rows_meta_get_mean(const GstGpuHistogramRowsMeta *meta,
                                     guint row);

GST_GPU_HISTOGRAM_API
gdouble *
gst_gpu_histogram_rows_meta_get_means(const GstGpuHistogramRowsMeta *meta,
                                      guint *n_rows);

G_END_DECLS
