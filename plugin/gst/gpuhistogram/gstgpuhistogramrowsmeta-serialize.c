/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The meta of the rows as bytes, for GStreamer from 1.24 on
 * (gst_meta_serialize()).
 *
 * Version 0, all numbers little endian:
 *
 *   offset  bytes  field
 *        0      8  frame
 *        8      4  depth
 *       12      4  width
 *       16      4  height
 *       20      4  n_rows
 *       24      4  L, length of the format's name
 *       28      L  name of the format, as in caps, without a final zero
 *     28+L 8*n_rows  sums
 */

#include "gstgpuhistogrammeta-private.h"

#include <string.h>

#if GST_CHECK_VERSION(1, 24, 0)

#define VERSION 0
#define HEADER_BYTES 28u

/* Whether the fields keep what the header promises. Checked on both ways: what
 * is written can be read. */
static gboolean
is_sound(const GstGpuHistogramRowsMeta *meta)
{
  return meta->depth <= GPU_HISTOGRAM_MAX_DEPTH && meta->n_rows <= meta->height;
}

gboolean
gpu_histogram_rows_meta_serialize(const GstMeta *meta,
                                  GstByteArrayInterface *data, guint8 *version)
{
  const GstGpuHistogramRowsMeta *self = (const GstGpuHistogramRowsMeta *)meta;
  const gchar *name = gpu_histogram_format_name(self->format);
  gsize length = strlen(name);
  guint8 *to;

  if (!is_sound(self))
    return FALSE;
  to = gst_byte_array_interface_append(data, HEADER_BYTES + length +
                                                 8 * (gsize)self->n_rows);
  if (!to)
    return FALSE;

  *version = VERSION;
  gpu_histogram_put(&to, 8, self->frame);
  gpu_histogram_put(&to, 4, self->depth);
  gpu_histogram_put(&to, 4, self->width);
  gpu_histogram_put(&to, 4, self->height);
  gpu_histogram_put(&to, 4, self->n_rows);
  gpu_histogram_put(&to, 4, length);
  memcpy(to, name, length);
  to += length;
  for (guint row = 0; row < self->n_rows; row++)
    gpu_histogram_put(&to, 8, self->sums[row]);
  return TRUE;
}

/* Reads HEADER_BYTES bytes into meta; returns the length of the name. */
static guint32
get_header(GstGpuHistogramRowsMeta *meta, const guint8 *from)
{
  meta->frame = gpu_histogram_get(&from, 8);
  meta->depth = (guint32)gpu_histogram_get(&from, 4);
  meta->width = (guint32)gpu_histogram_get(&from, 4);
  meta->height = (guint32)gpu_histogram_get(&from, 4);
  meta->n_rows = (guint32)gpu_histogram_get(&from, 4);
  return (guint32)gpu_histogram_get(&from, 4);
}

/* The payload may be anything: it comes from a file or over a network. Nothing
 * is added to the buffer, nor replaced on it, before all of it is checked. */
GstMeta *
gpu_histogram_rows_meta_deserialize(const GstMetaInfo *info, GstBuffer *buffer,
                                    const guint8 *data, gsize size,
                                    guint8 version)
{
  GstGpuHistogramRowsMeta read = {0}, *meta;
  guint32 length;
  const guint8 *from;

  if (version != VERSION || size < HEADER_BYTES)
    return NULL;
  length = get_header(&read, data);
  size -= HEADER_BYTES;
  if (!is_sound(&read) || length > size ||
      size - length != 8 * (guint64)read.n_rows)
    return NULL;

  meta = gst_buffer_add_gpu_histogram_rows_meta(buffer);
  if (!meta)
    return NULL;
  read.format = gpu_histogram_get_format(data + HEADER_BYTES, length);
  read.sums = g_new(guint64, read.n_rows);
  from = data + HEADER_BYTES + length;
  for (guint row = 0; row < read.n_rows; row++)
    read.sums[row] = gpu_histogram_get(&from, 8);
  gpu_histogram_rows_meta_copy(meta, &read);
  g_free(read.sums);
  return (GstMeta *)meta;
}

#endif
