/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files of the library share and nobody else sees. */

#pragma once

/* The library's own files export what those of its users import. Not every
 * GStreamer has GST_API_EXPORT in its headers. */
#define GST_GPU_HISTOGRAM_API GST_PLUGIN_EXPORT extern

#include "gstgpuhistogrammeta.h"

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

#if GST_CHECK_VERSION(1, 24, 0)
/* GstMetaSerializeFunction and GstMetaDeserializeFunction of the meta. */
gboolean gpu_histogram_meta_serialize(const GstMeta *meta,
                                      GstByteArrayInterface *data,
                                      guint8 *version);
GstMeta *gpu_histogram_meta_deserialize(const GstMetaInfo *info,
                                        GstBuffer *buffer, const guint8 *data,
                                        gsize size, guint8 version);
#endif
