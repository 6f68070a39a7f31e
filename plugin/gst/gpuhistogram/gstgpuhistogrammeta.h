/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#ifndef GST_GPU_HISTOGRAM_API
#define GST_GPU_HISTOGRAM_API GST_API_IMPORT
#endif

/**
 * GST_GPU_HISTOGRAM_REGION_FRAME:
 *
 * The region id of a histogram of the whole frame.
 *
 * Since: 0.1
 */
#define GST_GPU_HISTOGRAM_REGION_FRAME 0

/**
 * GST_GPU_HISTOGRAM_REGION_ROI:
 *
 * The region id of the element's property `roi`.
 *
 * Since: 0.1
 */
#define GST_GPU_HISTOGRAM_REGION_ROI 1

/**
 * GST_GPU_HISTOGRAM_REGION_CROP:
 *
 * The region id of what a #GstVideoCropMeta leaves of the frame.
 *
 * Since: 0.1
 */
#define GST_GPU_HISTOGRAM_REGION_CROP 2

/**
 * GST_GPU_HISTOGRAM_REGION_ZONE:
 *
 * The region id of the first zone of a grid, which is in the upper left; the
 * next ones follow in its row, and then in the rows below.
 *
 * Since: 0.1
 */
#define GST_GPU_HISTOGRAM_REGION_ZONE 1000

/**
 * GST_GPU_HISTOGRAM_REGION_ROI_META:
 *
 * The region id of the first #GstVideoRegionOfInterestMeta of a buffer; the
 * others follow in their order on the buffer.
 *
 * Since: 0.1
 */
#define GST_GPU_HISTOGRAM_REGION_ROI_META 10000

#define GST_GPU_HISTOGRAM_META_API_TYPE (gst_gpu_histogram_meta_api_get_type())
#define GST_GPU_HISTOGRAM_META_INFO (gst_gpu_histogram_meta_get_info())

typedef struct _GstGpuHistogramMeta GstGpuHistogramMeta;

/**
 * GstGpuHistogramMeta:
 * @meta: the parent #GstMeta
 * @region_id: what was measured; %GST_GPU_HISTOGRAM_REGION_FRAME is the frame
 * @frame: number of the frame at the measuring element, from 0
 * @format: format of the measured frame; %GST_VIDEO_FORMAT_UNKNOWN if nothing
 *     was measured yet, or in a meta received from a newer GStreamer
 * @depth: significant bits of a sample; its grey levels are 0 to 2^depth - 1
 * @width: width of the measured frame, in pixels
 * @height: height of the measured frame, in pixels
 * @rectangle: the part of the frame that was measured, in pixels
 * @pixels: number of samples counted, @rectangle's width times its height
 * @sum: sum of all samples, in grey levels of the format
 * @n_bins: number of bins, a power of two up to 2^depth; 0 when not measured
 * @bins: (array length=n_bins): samples in each bin. Bin b holds the grey
 *     levels b * 2^depth / n_bins up to (b + 1) * 2^depth / n_bins - 1.
 *     Owned by the meta.
 *
 * The exact histogram of the grey levels of one frame.
 *
 * The figures say what was measured, where it was measured. The meta has no
 * tags and survives whatever happens to the buffer afterwards (conversion,
 * scaling, cropping, encoding, copies of a part of it); it then still
 * describes the original frame, whose format and size it carries.
 *
 * The gpuhistogram element attaches one to every buffer that it measures;
 * gst_buffer_get_gpu_histogram_meta() finds it anywhere downstream. The derived
 * figures are in grey levels too, also where the bins are fewer than those. No
 * function of the meta blocks. Those that read it may run on several threads
 * at once, as long as none changes it.
 *
 * Since: 0.1
 */
struct _GstGpuHistogramMeta {
  GstMeta meta;

  gint region_id;
  guint64 frame;

  GstVideoFormat format;
  guint depth;
  guint width;
  guint height;
  GstVideoRectangle rectangle;

  guint64 pixels;
  guint64 sum;
  guint n_bins;
  guint64 *bins;

  /*< private >*/
  /* What bins points to up to 256 bins, so that attaching the usual
   * histogram allocates nothing beyond the meta itself. */
  guint64 own_bins[256];
};

GST_GPU_HISTOGRAM_API
GType gst_gpu_histogram_meta_api_get_type(void);

GST_GPU_HISTOGRAM_API
const GstMetaInfo *gst_gpu_histogram_meta_get_info(void);

GST_GPU_HISTOGRAM_API
GstGpuHistogramMeta *gst_buffer_add_gpu_histogram_meta(GstBuffer *buffer,
                                                       gint region_id);

GST_GPU_HISTOGRAM_API
GstGpuHistogramMeta *gst_buffer_get_gpu_histogram_meta(GstBuffer *buffer);

GST_GPU_HISTOGRAM_API
GstGpuHistogramMeta *gst_buffer_get_gpu_histogram_meta_region(GstBuffer *buffer,
                                                              gint region_id);

GST_GPU_HISTOGRAM_API
void gst_gpu_histogram_meta_set_bins(GstGpuHistogramMeta *meta, guint n_bins,
                                     const guint64 *bins);

GST_GPU_HISTOGRAM_API
const guint64 *gst_gpu_histogram_meta_get_bins(const GstGpuHistogramMeta *meta,
                                               guint *n_bins);

GST_GPU_HISTOGRAM_API
gdouble gst_gpu_histogram_meta_get_mean(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
gdouble gst_gpu_histogram_meta_get_variance(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
gdouble
gst_gpu_histogram_meta_get_standard_deviation(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
guint gst_gpu_histogram_meta_get_min(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
guint gst_gpu_histogram_meta_get_max(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
guint gst_gpu_histogram_meta_get_percentile(const GstGpuHistogramMeta *meta,
                                            gdouble percent);

GST_GPU_HISTOGRAM_API
guint gst_gpu_histogram_meta_get_median(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
gdouble
gst_gpu_histogram_meta_get_interpercentile_mean(const GstGpuHistogramMeta *meta,
                                                gdouble low, gdouble high);

GST_GPU_HISTOGRAM_API
gdouble gst_gpu_histogram_meta_get_dark_share(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
gdouble
gst_gpu_histogram_meta_get_bright_share(const GstGpuHistogramMeta *meta);

GST_GPU_HISTOGRAM_API
gdouble gst_gpu_histogram_meta_get_entropy(const GstGpuHistogramMeta *meta);

G_END_DECLS
