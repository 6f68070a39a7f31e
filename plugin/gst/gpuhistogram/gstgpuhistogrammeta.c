/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstgpuhistogrammeta-private.h"

#include <string.h>

/* The bins if they have an allocation of their own, otherwise NULL. */
static guint64 *
allocated_bins(const GstGpuHistogramMeta *meta)
{
  return meta->bins == meta->own_bins ? NULL : meta->bins;
}

/* Sets everything behind the GstMeta to "not measured", without freeing. */
static void
zero(GstGpuHistogramMeta *meta, gint region_id)
{
  GstMeta parent = meta->meta;

  memset(meta, 0, sizeof(*meta));
  meta->meta = parent;
  meta->region_id = region_id;
}

static void
empty(GstGpuHistogramMeta *meta)
{
  g_free(allocated_bins(meta));
  zero(meta, meta->region_id);
}

static gboolean
meta_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  const gint *region_id = params;

  zero((GstGpuHistogramMeta *)meta,
       region_id ? *region_id : GST_GPU_HISTOGRAM_REGION_FRAME);
  return TRUE;
}

static void
meta_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(allocated_bins((GstGpuHistogramMeta *)meta));
}

void
gpu_histogram_meta_copy(GstGpuHistogramMeta *dst,
                        const GstGpuHistogramMeta *src)
{
  dst->frame = src->frame;
  dst->format = src->format;
  dst->depth = src->depth;
  dst->width = src->width;
  dst->height = src->height;
  dst->rectangle = src->rectangle;
  dst->pixels = src->pixels;
  dst->sum = src->sum;
  gst_gpu_histogram_meta_set_bins(dst, src->n_bins, src->bins);
}

/* Every kind of transform copies the figures whole, a copy of a part of the
 * buffer too: they tell what was measured, not what the buffer holds now. */
static gboolean
meta_transform(GstBuffer *transbuf, GstMeta *meta, GstBuffer *buffer,
               GQuark type, gpointer data)
{
  const GstGpuHistogramMeta *src = (const GstGpuHistogramMeta *)meta;
  GstGpuHistogramMeta *dst;

  /* In place: adding would empty the source. */
  if (transbuf == buffer)
    return TRUE;

  dst = gst_buffer_add_gpu_histogram_meta(transbuf, src->region_id);
  if (dst)
    gpu_histogram_meta_copy(dst, src);
  return dst != NULL;
}

/**
 * gst_gpu_histogram_meta_api_get_type:
 *
 * The type of the API that #GstGpuHistogramMeta implements. It has no tags,
 * so that elements which change the pixels keep the meta.
 *
 * Returns: the API type, for example for gst_buffer_get_meta()
 *
 * Since: 0.1
 */
GType
gst_gpu_histogram_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = {NULL};

  if (g_once_init_enter(&type)) {
    GType t = gst_meta_api_type_register("GstGpuHistogramMetaAPI", tags);
    g_once_init_leave(&type, t);
  }
  return type;
}

#if GST_CHECK_VERSION(1, 24, 0)
static void
meta_clear(GstBuffer *buffer, GstMeta *meta)
{
  empty((GstGpuHistogramMeta *)meta);
}
#endif

static const GstMetaInfo *
register_info(void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstMetaInfo *info =
      gst_meta_info_new(GST_GPU_HISTOGRAM_META_API_TYPE, "GstGpuHistogramMeta",
                        sizeof(GstGpuHistogramMeta));

  info->init_func = meta_init;
  info->free_func = meta_free;
  info->transform_func = meta_transform;
  info->serialize_func = gpu_histogram_meta_serialize;
  info->deserialize_func = gpu_histogram_meta_deserialize;
  info->clear_func = meta_clear;
  return gst_meta_info_register(info);
#else
  return gst_meta_register(GST_GPU_HISTOGRAM_META_API_TYPE,
                           "GstGpuHistogramMeta", sizeof(GstGpuHistogramMeta),
                           meta_init, meta_free, meta_transform);
#endif
}

/**
 * gst_gpu_histogram_meta_get_info:
 *
 * Registers the meta, at the first call, as `GstGpuHistogramMeta`.
 * gst_meta_deserialize() knows it from then on.
 *
 * Returns: (transfer none): the #GstMetaInfo, which is never freed
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_gpu_histogram_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered = register_info();
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

/**
 * gst_buffer_add_gpu_histogram_meta:
 * @buffer: (transfer none): a writable #GstBuffer
 * @region_id: what will be measured, %GST_GPU_HISTOGRAM_REGION_FRAME for the
 *     whole frame
 *
 * Attaches a histogram that holds no measurement yet: every figure reads 0 and
 * there are no bins. A buffer has one histogram a region at most: if it has one
 * of @region_id already, that one is emptied and returned, so that a second
 * measurement replaces the first.
 *
 * A copy of @buffer, or of a part of it (gst_buffer_copy_region()), gets a
 * histogram of its own with all the figures, which still describe the frame
 * that was measured.
 *
 * Returns: (transfer none): the #GstGpuHistogramMeta on @buffer
 *
 * Since: 0.1
 */
GstGpuHistogramMeta *
gst_buffer_add_gpu_histogram_meta(GstBuffer *buffer, gint region_id)
{
  GstGpuHistogramMeta *meta;

  g_return_val_if_fail(GST_IS_BUFFER(buffer), NULL);
  g_return_val_if_fail(gst_buffer_is_writable(buffer), NULL);

  meta = gst_buffer_get_gpu_histogram_meta_region(buffer, region_id);
  if (meta) {
    empty(meta);
    return meta;
  }

  return (GstGpuHistogramMeta *)gst_buffer_add_meta(
      buffer, GST_GPU_HISTOGRAM_META_INFO, &region_id);
}

/**
 * gst_buffer_get_gpu_histogram_meta:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Finds the histogram of the region %GST_GPU_HISTOGRAM_REGION_FRAME.
 *
 * Returns: (transfer none) (nullable): the #GstGpuHistogramMeta on @buffer, or
 *     %NULL when it has none
 *
 * Since: 0.1
 */
GstGpuHistogramMeta *
gst_buffer_get_gpu_histogram_meta(GstBuffer *buffer)
{
  return gst_buffer_get_gpu_histogram_meta_region(
      buffer, GST_GPU_HISTOGRAM_REGION_FRAME);
}

/**
 * gst_buffer_get_gpu_histogram_meta_region:
 * @buffer: (transfer none): a #GstBuffer
 * @region_id: the region
 *
 * Finds the histogram of one region.
 *
 * Returns: (transfer none) (nullable): the #GstGpuHistogramMeta of @region_id
 *     on @buffer, or %NULL when it has none
 *
 * Since: 0.1
 */
GstGpuHistogramMeta *
gst_buffer_get_gpu_histogram_meta_region(GstBuffer *buffer, gint region_id)
{
  gpointer state = NULL;
  GstMeta *meta;

  g_return_val_if_fail(GST_IS_BUFFER(buffer), NULL);

  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_GPU_HISTOGRAM_META_API_TYPE))) {
    if (((GstGpuHistogramMeta *)meta)->region_id == region_id)
      return (GstGpuHistogramMeta *)meta;
  }
  return NULL;
}

/**
 * gst_gpu_histogram_meta_set_bins:
 * @meta: a #GstGpuHistogramMeta on a writable buffer
 * @n_bins: number of bins: a power of two, 1 to 65536 and at most 2^depth; or
 *     0 to remove the bins
 * @bins: (array length=n_bins) (transfer none) (nullable): samples in each
 *     bin, the darkest first; %NULL only where @n_bins is 0. May be the bins of
 *     @meta itself.
 *
 * Copies @bins into @meta, in place of those it has; allocates only for more
 * than 256 of them. The other fields, such as @depth, are the caller's to set.
 *
 * Since: 0.1
 */
void
gst_gpu_histogram_meta_set_bins(GstGpuHistogramMeta *meta, guint n_bins,
                                const guint64 *bins)
{
  guint64 *old, *target;

  g_return_if_fail(meta != NULL);
  g_return_if_fail(n_bins == 0 || gpu_histogram_is_bin_count(n_bins));
  g_return_if_fail(n_bins == 0 || bins != NULL);

  old = allocated_bins(meta);
  if (n_bins == 0)
    target = NULL;
  else if (n_bins <= G_N_ELEMENTS(meta->own_bins))
    target = meta->own_bins;
  else if (old && n_bins == meta->n_bins)
    target = old;
  else
    target = g_new(guint64, n_bins);

  /* The old bins go last: they may be what is copied. */
  if (target)
    memmove(target, bins, n_bins * sizeof(*bins));
  if (old != target)
    g_free(old);
  meta->bins = target;
  meta->n_bins = n_bins;
}

/**
 * gst_gpu_histogram_meta_get_bins:
 * @meta: a #GstGpuHistogramMeta
 * @n_bins: (out) (optional): number of bins; 0 when not measured
 *
 * The histogram itself, see #GstGpuHistogramMeta.bins.
 *
 * Returns: (array length=n_bins) (transfer none) (nullable): samples in each
 *     bin, the darkest first; %NULL when nothing was measured. Valid until
 *     @meta is changed or removed.
 *
 * Since: 0.1
 */
const guint64 *
gst_gpu_histogram_meta_get_bins(const GstGpuHistogramMeta *meta, guint *n_bins)
{
  g_return_val_if_fail(meta != NULL, NULL);

  if (n_bins)
    *n_bins = meta->n_bins;
  return meta->bins;
}
