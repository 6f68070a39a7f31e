/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What came out, against a plain count of the buffer that carries it. */

#include "../testing.h"
#include "element.h"

#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>

/* Where the first row starts, and how far it is to the next one. */
static void
find_rows(GstBuffer *buffer, const GstVideoInfo *info, gint64 *first,
          gint64 *apart)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  *first = (gint64)(meta ? meta->offset[0] : info->offset[0]);
  *apart = meta ? meta->stride[0] : info->stride[0];
}

/* The bytes that samples of the luma are in, of each row. */
static void
find_bytes(const GstVideoInfo *info, gint64 *first, gint64 *end)
{
  TestLuma luma;

  test_luma(&luma, info->finfo);
  *first = luma.first / luma.unit * luma.unit / 8;
  *end = (gint64)test_luma_row_bytes(&luma, (guint)info->width);
}

gboolean
is_whole(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  gint64 first, apart, from, to, last;

  if (!meta)
    return gst_buffer_get_size(buffer) >= info->size;
  if (meta->width < (guint)info->width || meta->height < (guint)info->height ||
      meta->offset[0] > G_MAXINT)
    return FALSE;
  find_rows(buffer, info, &first, &apart);
  find_bytes(info, &from, &to);
  last = first + apart * (info->height - 1);
  return MIN(first, last) + from >= 0 &&
         MAX(first, last) + to <= (gint64)gst_buffer_get_size(buffer);
}

/* All samples of the frame, row by row, so many bits of each. */
static guint *
read_levels(GstBuffer *buffer, const GstVideoInfo *info, guint depth)
{
  guint width = (guint)info->width, height = (guint)info->height;
  guint *levels = g_new(guint, (gsize)width * height);
  gint64 first, apart, from, to;
  TestLuma luma;
  guint8 *row;

  test_luma(&luma, info->finfo);
  CHECK(depth >= 1 && depth <= luma.depth, "%u", depth);
  find_rows(buffer, info, &first, &apart);
  find_bytes(info, &from, &to);
  row = g_malloc0((gsize)to);
  for (guint y = 0; y < height; y++) {
    gint64 at = first + apart * y + from;

    CHECK(gst_buffer_extract(buffer, (gsize)at, row + from,
                             (gsize)(to - from)) == (gsize)(to - from),
          "row %u", y);
    for (guint x = 0; x < width; x++)
      levels[(gsize)y * width + x] =
          test_luma_get(&luma, row, x) & ((1u << depth) - 1);
  }
  g_free(row);
  return levels;
}

static void
check_part(const GstGpuHistogramMeta *meta, const GstVideoInfo *info,
           const guint *levels, guint n_bins)
{
  const GstVideoRectangle *part = &meta->rectangle;
  guint64 *bins = g_new0(guint64, n_bins), sum = 0;
  guint group = (1u << meta->depth) / n_bins;

  CHECK(meta->n_bins == n_bins && group > 0, "%u", meta->n_bins);
  CHECK(part->x >= 0 && part->y >= 0 && part->w > 0 && part->h > 0 &&
            part->x + part->w <= info->width &&
            part->y + part->h <= info->height,
        "region %d", meta->region_id);
  for (gint y = part->y; y < part->y + part->h; y++) {
    for (gint x = part->x; x < part->x + part->w; x++) {
      bins[levels[y * info->width + x] / group]++;
      sum += levels[y * info->width + x];
    }
  }
  for (guint b = 0; b < n_bins; b++)
    CHECK(meta->bins[b] == bins[b], "region %d, bin %u", meta->region_id, b);
  CHECK(meta->sum == sum, "region %d", meta->region_id);
  CHECK(meta->pixels == (guint64)part->w * (guint64)part->h, "region %d",
        meta->region_id);
  g_free(bins);
}

static void
check_rows(GstBuffer *buffer, const GstVideoInfo *info, const guint *levels)
{
  GstGpuHistogramRowsMeta *rows =
      gst_buffer_get_gpu_histogram_rows_meta(buffer);

  if (!rows)
    return;
  CHECK(rows->n_rows == (guint)info->height, "%u", rows->n_rows);
  for (gint y = 0; y < info->height; y++) {
    guint64 sum = 0;

    for (gint x = 0; x < info->width; x++)
      sum += levels[y * info->width + x];
    CHECK(rows->sums[y] == sum, "row %d", y);
  }
}

void
check_buffer(GstBuffer *buffer, const GstVideoInfo *info, guint bins,
             gboolean measured)
{
  GstGpuHistogramMeta *whole = gst_buffer_get_gpu_histogram_meta(buffer);
  gpointer state = NULL;
  GstMeta *meta;
  guint *levels;

  CHECK((whole != NULL) == measured, "%zu bytes", gst_buffer_get_size(buffer));
  if (!whole)
    return;
  CHECK(whole->rectangle.w == info->width && whole->rectangle.h == info->height,
        "%dx%d", whole->rectangle.w, whole->rectangle.h);
  levels = read_levels(buffer, info, whole->depth);
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_GPU_HISTOGRAM_META_API_TYPE)))
    check_part((GstGpuHistogramMeta *)meta, info, levels, bins);
  check_rows(buffer, info, levels);
  g_free(levels);
}
