/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The meta as bytes, for GStreamer from 1.24 on (gst_meta_serialize()).
 *
 * Version 0, all numbers little endian:
 *
 *   offset  bytes  field
 *        0      4  region_id, signed
 *        4      4  depth
 *        8      8  frame
 *       16      4  width
 *       20      4  height
 *       24     16  rectangle: x, y, w, h, each 4 bytes, signed
 *       40      8  pixels
 *       48      8  sum
 *       56      4  n_bins
 *       60      4  L, length of the format's name
 *       64      L  name of the format, as in caps, without a final zero
 *     64+L 8*n_bins  bins
 *
 * The format goes by its name: an older receiver then takes a newer format
 * for an unknown one, never for another.
 */

#include "gstgpuhistogrammeta-private.h"

#include <string.h>

#if GST_CHECK_VERSION(1, 24, 0)

#define VERSION 0
#define HEADER_BYTES 64u

/* Whether the fields keep what the header promises, so that a reader can, for
 * example, use the rectangle on a frame of that size. Checked on both ways:
 * what is written can be read. */
static gboolean
is_sound(const GstGpuHistogramMeta *meta)
{
  const GstVideoRectangle *r = &meta->rectangle;

  if (meta->depth > GPU_HISTOGRAM_MAX_DEPTH)
    return FALSE;
  if (meta->n_bins != 0 &&
      (!gpu_histogram_is_bin_count(meta->n_bins) ||
       meta->n_bins > G_GUINT64_CONSTANT(1) << meta->depth))
    return FALSE;
  if (r->x < 0 || r->y < 0 || r->w < 0 || r->h < 0)
    return FALSE;
  return (guint64)r->x + (guint64)r->w <= meta->width &&
         (guint64)r->y + (guint64)r->h <= meta->height;
}

void
gpu_histogram_put(guint8 **to, guint bytes, guint64 value)
{
  for (guint i = 0; i < bytes; i++)
    (*to)[i] = (guint8)(value >> (8 * i));
  *to += bytes;
}

guint64
gpu_histogram_get(const guint8 **from, guint bytes)
{
  guint64 value = 0;

  for (guint i = 0; i < bytes; i++)
    value |= (guint64)(*from)[i] << (8 * i);
  *from += bytes;
  return value;
}

const gchar *
gpu_histogram_format_name(GstVideoFormat format)
{
  const gchar *name = NULL;

  if (format != GST_VIDEO_FORMAT_UNKNOWN)
    name = gst_video_format_to_string(format);
  return name ? name : "";
}

gboolean
gpu_histogram_meta_serialize(const GstMeta *meta, GstByteArrayInterface *data,
                             guint8 *version)
{
  const GstGpuHistogramMeta *self = (const GstGpuHistogramMeta *)meta;
  const gchar *name = gpu_histogram_format_name(self->format);
  gsize length = strlen(name);
  guint8 *to;

  if (!is_sound(self))
    return FALSE;
  to = gst_byte_array_interface_append(data, HEADER_BYTES + length +
                                                 8 * (gsize)self->n_bins);
  if (!to)
    return FALSE;

  *version = VERSION;
  gpu_histogram_put(&to, 4, (guint64)self->region_id);
  gpu_histogram_put(&to, 4, self->depth);
  gpu_histogram_put(&to, 8, self->frame);
  gpu_histogram_put(&to, 4, self->width);
  gpu_histogram_put(&to, 4, self->height);
  gpu_histogram_put(&to, 4, (guint64)self->rectangle.x);
  gpu_histogram_put(&to, 4, (guint64)self->rectangle.y);
  gpu_histogram_put(&to, 4, (guint64)self->rectangle.w);
  gpu_histogram_put(&to, 4, (guint64)self->rectangle.h);
  gpu_histogram_put(&to, 8, self->pixels);
  gpu_histogram_put(&to, 8, self->sum);
  gpu_histogram_put(&to, 4, self->n_bins);
  gpu_histogram_put(&to, 4, length);
  memcpy(to, name, length);
  to += length;
  for (guint b = 0; b < self->n_bins; b++)
    gpu_histogram_put(&to, 8, self->bins[b]);
  return TRUE;
}

/* Reads HEADER_BYTES bytes into meta; returns the length of the name. */
static guint32
get_header(GstGpuHistogramMeta *meta, const guint8 *from)
{
  meta->region_id = (gint)gpu_histogram_get(&from, 4);
  meta->depth = (guint32)gpu_histogram_get(&from, 4);
  meta->frame = gpu_histogram_get(&from, 8);
  meta->width = (guint32)gpu_histogram_get(&from, 4);
  meta->height = (guint32)gpu_histogram_get(&from, 4);
  meta->rectangle.x = (gint)gpu_histogram_get(&from, 4);
  meta->rectangle.y = (gint)gpu_histogram_get(&from, 4);
  meta->rectangle.w = (gint)gpu_histogram_get(&from, 4);
  meta->rectangle.h = (gint)gpu_histogram_get(&from, 4);
  meta->pixels = gpu_histogram_get(&from, 8);
  meta->sum = gpu_histogram_get(&from, 8);
  meta->n_bins = (guint32)gpu_histogram_get(&from, 4);
  return (guint32)gpu_histogram_get(&from, 4);
}

/* Not gst_video_format_from_string(): it is declared as if it did not read its
 * argument, so that the compiler leaves out copying a name for it. */
GstVideoFormat
gpu_histogram_get_format(const guint8 *from, gsize length)
{
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw(&n);

  for (guint i = 0; i < n; i++) {
    const gchar *name = gst_video_format_to_string(formats[i]);

    if (strlen(name) == length && memcmp(name, from, length) == 0)
      return formats[i];
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

/* The payload may be anything: it comes from a file or over a network. Nothing
 * is added to the buffer, nor replaced on it, before all of it is checked. */
GstMeta *
gpu_histogram_meta_deserialize(const GstMetaInfo *info, GstBuffer *buffer,
                               const guint8 *data, gsize size, guint8 version)
{
  GstGpuHistogramMeta read = {0}, *meta;
  guint32 length;
  const guint8 *from;

  if (version != VERSION || size < HEADER_BYTES)
    return NULL;
  length = get_header(&read, data);
  size -= HEADER_BYTES;
  if (!is_sound(&read) || length > size ||
      size - length != 8 * (gsize)read.n_bins)
    return NULL;

  meta = gst_buffer_add_gpu_histogram_meta(buffer, read.region_id);
  if (!meta)
    return NULL;
  read.format = gpu_histogram_get_format(data + HEADER_BYTES, length);
  read.bins = g_new(guint64, read.n_bins);
  from = data + HEADER_BYTES + length;
  for (guint b = 0; b < read.n_bins; b++)
    read.bins[b] = gpu_histogram_get(&from, 8);
  gpu_histogram_meta_copy(meta, &read);
  g_free(read.bins);
  return (GstMeta *)meta;
}

#endif
