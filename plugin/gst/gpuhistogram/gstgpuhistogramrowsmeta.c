/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstgpuhistogrammeta-private.h"

#include <string.h>

/* Sets everything behind the GstMeta to "not measured", without freeing. */
static void
zero(GstGpuHistogramRowsMeta *meta)
{
  GstMeta parent = meta->meta;

  memset(meta, 0, sizeof(*meta));
  meta->meta = parent;
}

static void
empty(GstGpuHistogramRowsMeta *meta)
{
  g_free(meta->sums);
  zero(meta);
}

static gboolean
meta_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  zero((GstGpuHistogramRowsMeta *)meta);
  return TRUE;
}

static void
meta_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(((GstGpuHistogramRowsMeta *)meta)->sums);
}

void
gpu_histogram_rows_meta_copy(GstGpuHistogramRowsMeta *dst,
                             const GstGpuHistogramRowsMeta *src)
{
  dst->frame = src->frame;
  dst->format = src->format;
  dst->depth = src->depth;
  dst->width = src->width;
  dst->height = src->height;
  gst_gpu_histogram_rows_meta_set_sums(dst, src->n_rows, src->sums);
}

/* Every kind of transform copies the figures whole, as those of
 * GstGpuHistogramMeta. */
static gboolean
meta_transform(GstBuffer *transbuf, GstMeta *meta, GstBuffer *buffer,
               GQuark type, gpointer data)
{
  GstGpuHistogramRowsMeta *dst;

  /* In place: adding would empty the source. */
  if (transbuf == buffer)
    return TRUE;

  dst = gst_buffer_add_gpu_histogram_rows_meta(transbuf);
  if (dst)
    gpu_histogram_rows_meta_copy(dst, (const GstGpuHistogramRowsMeta *)meta);
  return dst != NULL;
}

/**
 * gst_gpu_histogram_rows_meta_api_get_type:
 *
 * The type of the API that #GstGpuHistogramRowsMeta implements. It has no tags,
 * so that elements which change the pixels keep the meta.
 *
 * Returns: the API type, for example for gst_buffer_get_meta()
 *
 * Since: 0.1
 */
GType
gst_gpu_histogram_rows_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = {NULL};

  if (g_once_init_enter(&type)) {
    GType t = gst_meta_api_type_register("GstGpuHistogramRowsMetaAPI", tags);
    g_once_init_leave(&type, t);
  }
  return type;
}

#if GST_CHECK_VERSION(1, 24, 0)
static void
meta_clear(GstBuffer *buffer, GstMeta *meta)
{
  empty((GstGpuHistogramRowsMeta *)meta);
}
#endif

static const GstMetaInfo *
register_info(void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstMetaInfo *info = gst_meta_info_new(GST_GPU_HISTOGRAM_ROWS_META_API_TYPE,
                                        "GstGpuHistogramRowsMeta",
                                        sizeof(GstGpuHistogramRowsMeta));

  info->init_func = meta_init;
  info->free_func = meta_free;
  info->transform_func = meta_transform;
  info->serialize_func = gpu_histogram_rows_meta_serialize;
  info->deserialize_func = gpu_histogram_rows_meta_deserialize;
  info->clear_func = meta_clear;
  return gst_meta_info_register(info);
#else
  return gst_meta_register(
      GST_GPU_HISTOGRAM_ROWS_META_API_TYPE, "GstGpuHistogramRowsMeta",
      sizeof(GstGpuHistogramRowsMeta), meta_init, meta_free, meta_transform);
#endif
}

/**
 * gst_gpu_histogram_rows_meta_get_info:
 *
 * Registers the meta, at the first call, as `GstGpuHistogramRowsMeta`.
 * gst_meta_deserialize() knows it from then on.
 *
 * Returns: (transfer none): the #GstMetaInfo, which is never freed
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_gpu_histogram_rows_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered = register_info();
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

/**
 * gst_buffer_add_gpu_histogram_rows_meta:
 * @buffer: (transfer none): a writable #GstBuffer
 *
 * Attaches a meta that holds no measurement yet: every figure reads 0 and there
 * are no sums. A buffer has one at most: if it has one already, that one is
 * emptied and returned, so that a second measurement replaces the first.
 *
 * A copy of @buffer, or of a part of it (gst_buffer_copy_region()), gets a
 * meta of its own with all the figures, which still describe the frame that
 * was measured.
 *
 * Returns: (transfer none): the #GstGpuHistogramRowsMeta on @buffer
 *
 * Since: 0.1
 */
GstGpuHistogramRowsMeta *
gst_buffer_add_gpu_histogram_rows_meta(GstBuffer *buffer)
{
  GstGpuHistogramRowsMeta *meta;

  g_return_val_if_fail(GST_IS_BUFFER(buffer), NULL);
  g_return_val_if_fail(gst_buffer_is_writable(buffer), NULL);

  meta = gst_buffer_get_gpu_histogram_rows_meta(buffer);
  if (meta) {
    empty(meta);
    return meta;
  }

  return (GstGpuHistogramRowsMeta *)gst_buffer_add_meta(
      buffer, GST_GPU_HISTOGRAM_ROWS_META_INFO, NULL);
}

/**
 * gst_buffer_get_gpu_histogram_rows_meta:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Finds the means of the rows.
 *
 * Returns: (transfer none) (nullable): the #GstGpuHistogramRowsMeta on @buffer,
 *     or %NULL when it has none
 *
 * Since: 0.1
 */
GstGpuHistogramRowsMeta *
gst_buffer_get_gpu_histogram_rows_meta(GstBuffer *buffer)
{
  g_return_val_if_fail(GST_IS_BUFFER(buffer), NULL);

  return (GstGpuHistogramRowsMeta *)gst_buffer_get_meta(
      buffer, GST_GPU_HISTOGRAM_ROWS_META_API_TYPE);
}

/**
 * gst_gpu_histogram_rows_meta_set_sums:
 * @meta: a #GstGpuHistogramRowsMeta on a writable buffer
 * @n_rows: number of rows, at most the height of the frame; or 0 to remove the
 *     sums
 * @sums: (array length=n_rows) (transfer none) (nullable): sum of the samples
 *     of each row, in grey levels, the topmost row first; %NULL only where
 *     @n_rows is 0. May be the sums of @meta itself.
 *
 * Copies @sums into @meta, in place of those it has; allocates only where their
 * number changes. The other fields, such as @width, are the caller's to set.
 *
 * Since: 0.1
 */
void
gst_gpu_histogram_rows_meta_set_sums(GstGpuHistogramRowsMeta *meta,
                                     guint n_rows, const guint64 *sums)
{
  guint64 *old, *target;

  g_return_if_fail(meta != NULL);
  g_return_if_fail(n_rows == 0 || sums != NULL);

  old = meta->sums;
  target = n_rows == meta->n_rows ? old : g_new(guint64, n_rows);

  /* The old sums go last: they may be what is copied. */
  if (target)
    memmove(target, sums, n_rows * sizeof(*sums));
  if (old != target)
    g_free(old);
  meta->sums = target;
  meta->n_rows = n_rows;
}

/**
 * gst_gpu_histogram_rows_meta_get_mean:
 * @meta: a #GstGpuHistogramRowsMeta
 * @row: number of the row, the topmost is 0
 *
 * The mean of the samples of one row, @sums[row] / @width. In numpy:
 * mean(x[row]) of the samples x.
 *
 * Returns: the mean in grey levels, 0 to 2^depth - 1; 0 for a row that was not
 *     measured
 *
 * Since: 0.1
 */
gdouble
gst_gpu_histogram_rows_meta_get_mean(const GstGpuHistogramRowsMeta *meta,
                                     guint row)
{
  g_return_val_if_fail(meta != NULL, 0.0);

  if (row >= meta->n_rows || meta->width == 0)
    return 0.0;
  return (gdouble)meta->sums[row] / meta->width;
}

/**
 * gst_gpu_histogram_rows_meta_get_means:
 * @meta: a #GstGpuHistogramRowsMeta
 * @n_rows: (out) (optional): number of rows; 0 when not measured
 *
 * The means of all rows, see gst_gpu_histogram_rows_meta_get_mean(). In numpy:
 * mean(x, axis=1) of the samples x.
 *
 * Returns: (array length=n_rows) (transfer full) (nullable): the mean of each
 *     row in grey levels, the topmost row first; %NULL when nothing was
 *     measured. Free it with g_free().
 *
 * Since: 0.1
 */
gdouble *
gst_gpu_histogram_rows_meta_get_means(const GstGpuHistogramRowsMeta *meta,
                                      guint *n_rows)
{
  gdouble *means;

  g_return_val_if_fail(meta != NULL, NULL);

  means = g_new(gdouble, meta->n_rows);
  for (guint row = 0; row < meta->n_rows; row++)
    means[row] = gst_gpu_histogram_rows_meta_get_mean(meta, row);
  if (n_rows)
    *n_rows = meta->n_rows;
  return means;
}
