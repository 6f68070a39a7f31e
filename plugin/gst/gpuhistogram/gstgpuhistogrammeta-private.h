/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files of the library share and nobody else sees. */

#pragma once

/* The library's own files export what those of its users import. Not every
 * GStreamer has GST_API_EXPORT in its headers. */
#define GST_GPU_HISTOGRAM_API GST_PLUGIN_EXPORT extern

#include "gstgpuhistogrammeta.h"
#include "gstgpuhistogramrowsmeta.h"

#define GPU_HISTOGRAM_MAX_BINS 65536u

/* Grey levels are handled as 32-bit numbers; formats stop at 16 bits. */
#define GPU_HISTOGRAM_MAX_DEPTH 32u

static inline gboolean
gpu_histogram_is_bin_count(guint n_bins)
{
  return n_bins > 0 && n_bins <= GPU_HISTOGRAM_MAX_BINS &&
         (n_bins & (n_bins - 1)) == 0;
}

/* Copies all but the region id. */
void gpu_histogram_meta_copy(GstGpuHistogramMeta *dst,
                             const GstGpuHistogramMeta *src);

/* Copies all figures. */
void gpu_histogram_rows_meta_copy(GstGpuHistogramRowsMeta *dst,
                                  const GstGpuHistogramRowsMeta *src);

#if GST_CHECK_VERSION(1, 24, 0)
/* GstMetaSerializeFunction and GstMetaDeserializeFunction of the two metas. */
gboolean gpu_histogram_meta_serialize(const GstMeta *meta,
                                      GstByteArrayInterface *data,
                                      guint8 *version);
GstMeta *gpu_histogram_meta_deserialize(const GstMetaInfo *info,
                                        GstBuffer *buffer, const guint8 *data,
                                        gsize size, guint8 version);
gboolean gpu_histogram_rows_meta_serialize(const GstMeta *meta,
                                           GstByteArrayInterface *data,
                                           guint8 *version);
GstMeta *gpu_histogram_rows_meta_deserialize(const GstMetaInfo *info,
                                             GstBuffer *buffer,
                                             const guint8 *data, gsize size,
                                             guint8 version);

/* Write and read a number of 1 to 8 bytes, little endian, and move on. Byte by
 * byte: nothing in the payload is aligned. */
void gpu_histogram_put(guint8 **to, guint bytes, guint64 value);
guint64 gpu_histogram_get(const guint8 **from, guint bytes);

/* The name of the format, "" where it has none; and the format of a name that
 * ends without a zero. */
const gchar *gpu_histogram_format_name(GstVideoFormat format);
GstVideoFormat gpu_histogram_get_format(const guint8 *from, gsize length);
#endif
