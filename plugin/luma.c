/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "luma.h"

#include "cudamemory.h"
#include "sample.h"

#include <string.h>

/* Formats that their GstVideoFormatInfo does not describe, or not right:
 * samples that share bytes, and words whose order, shift or place it leaves
 * out. By name, as not every GStreamer has each of them. */
static const struct {
  const gchar *name;
  GpuHistogramLumaFormat format;
} special_formats[] = {
    {"GRAY10_LE32", {{.packing = GH_TENS_LE32}, 0}},
    {"NV12_10LE32", {{.packing = GH_TENS_LE32}, 0}},
    {"NV16_10LE32", {{.packing = GH_TENS_LE32}, 0}},
    {"NV12_10LE40", {{.packing = GH_TENS_LE40}, 0}},
    {"NV16_10LE40", {{.packing = GH_TENS_LE40}, 0}},
    {"Y210", {{GH_WORDS_LE, 4, 6, 10}, 0}},
    /* Bits 10 to 19 of 32, which are 2 to 11 of the word in their middle. */
    {"Y410", {{GH_WORDS_LE, 4, 2, 10}, 1}},
    /* U comes first. */
    {"Y412_LE", {{GH_WORDS_LE, 8, 4, 12}, 2}},
    {"Y412_BE", {{GH_WORDS_BE, 8, 4, 12}, 2}},
    {"v216", {{GH_WORDS_LE, 4, 0, 16}, 2}},
};

static const GpuHistogramLumaFormat *
find_special(const GstVideoFormatInfo *info)
{
  const gchar *name = GST_VIDEO_FORMAT_INFO_NAME(info);

  for (guint i = 0; i < G_N_ELEMENTS(special_formats); i++)
    if (g_str_equal(special_formats[i].name, name))
      return &special_formats[i].format;
  return NULL;
}

/* What a sample that is no more than a byte, or else a 16-bit word, lies in. */
static GhPacking
find_packing(const GstVideoFormatInfo *info)
{
  if (GST_VIDEO_FORMAT_INFO_BITS(info) <= 8)
    return GH_BYTES;
  return GST_VIDEO_FORMAT_INFO_IS_LE(info) ? GH_WORDS_LE : GH_WORDS_BE;
}

/* FALSE where the info does not tell where each sample of the first plane is.
 */
static gboolean
find_regular(GpuHistogramLumaFormat *format, const GstVideoFormatInfo *info)
{
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(info) ||
      GST_VIDEO_FORMAT_INFO_IS_COMPLEX(info) ||
      GST_VIDEO_FORMAT_INFO_BITS(info) > 16 ||
      GST_VIDEO_FORMAT_INFO_DEPTH(info, 0) == 0 ||
      GST_VIDEO_FORMAT_INFO_PLANE(info, 0) != 0 ||
      GST_VIDEO_FORMAT_INFO_PSTRIDE(info, 0) <= 0)
    return FALSE;
  format->samples = (GhFormat){find_packing(info),
                               (guint)GST_VIDEO_FORMAT_INFO_PSTRIDE(info, 0),
                               GST_VIDEO_FORMAT_INFO_SHIFT(info, 0),
                               GST_VIDEO_FORMAT_INFO_DEPTH(info, 0)};
  format->first = GST_VIDEO_FORMAT_INFO_POFFSET(info, 0);
  return TRUE;
}

gboolean
gpu_histogram_luma_find(GpuHistogramLumaFormat *format,
                        const GstVideoFormatInfo *info)
{
  const GpuHistogramLumaFormat *special = find_special(info);

  if (!GST_VIDEO_FORMAT_INFO_IS_YUV(info) &&
      !GST_VIDEO_FORMAT_INFO_IS_GRAY(info))
    return FALSE;
  if (special)
    *format = *special;
  else if (!find_regular(format, info))
    return FALSE;
  format->samples = gh_format_complete(format->samples);
  return gh_format_is_valid(&format->samples);
}

GstCaps *
gpu_histogram_luma_caps(void)
{
  GValue formats = G_VALUE_INIT, name = G_VALUE_INIT;
  guint n;
  const GstVideoFormat *raw = gst_video_formats_raw(&n);
  GstCaps *caps = gst_caps_from_string("video/x-raw, "
                                       "width = " GST_VIDEO_SIZE_RANGE ", "
                                       "height = " GST_VIDEO_SIZE_RANGE ", "
                                       "framerate = " GST_VIDEO_FPS_RANGE);

  g_value_init(&formats, GST_TYPE_LIST);
  g_value_init(&name, G_TYPE_STRING);
  for (guint i = 0; i < n; i++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(raw[i]);
    GpuHistogramLumaFormat format;

    if (!gpu_histogram_luma_find(&format, info))
      continue;
    g_value_set_static_string(&name, GST_VIDEO_FORMAT_INFO_NAME(info));
    gst_value_list_append_value(&formats, &name);
  }
  gst_caps_set_value(caps, "format", &formats);
  g_value_unset(&name);
  g_value_unset(&formats);
  gpu_histogram_cuda_add_caps(caps);
  return caps;
}

/* Where the first row starts and how far rows are apart, in bytes. @cuda: the
 * buffer's memory, where it is on the GPU. */
static const gchar *
find_plane(GstBuffer *buffer, const GstVideoInfo *info, GstMemory *cuda,
           gsize *offset, gint *stride)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  if (!meta) {
    const GstVideoInfo *caps = info;

    if (cuda)
      info = gpu_histogram_cuda_get_layout(cuda);
    if (GST_VIDEO_INFO_WIDTH(info) < GST_VIDEO_INFO_WIDTH(caps) ||
        GST_VIDEO_INFO_HEIGHT(info) < GST_VIDEO_INFO_HEIGHT(caps))
      return "the buffer's memory is smaller than its caps";
    *offset = GST_VIDEO_INFO_PLANE_OFFSET(info, 0);
    *stride = GST_VIDEO_INFO_PLANE_STRIDE(info, 0);
    return gst_buffer_get_size(buffer) < GST_VIDEO_INFO_SIZE(info)
               ? "the buffer is too short for its caps"
               : NULL;
  }
  *offset = meta->offset[0];
  *stride = meta->stride[0];
  return meta->width < (guint)GST_VIDEO_INFO_WIDTH(info) ||
                 meta->height < (guint)GST_VIDEO_INFO_HEIGHT(info)
             ? "the buffer's video meta is smaller than its caps"
             : NULL;
}

/* Makes @offset, where the plane starts, the lowest byte of the luma, as rows
 * may go upwards, and gives the bytes that it spans; @first are in front of a
 * row's first sample. FALSE where these do not lie in the buffer. */
static gboolean
find_span(gsize size, const GhFrame *frame, gsize first, gint stride,
          gsize *offset, gsize *span)
{
  gsize way = frame->stride * (frame->height - 1);

  /* A meta can say anything, and a sum may wrap. */
  if (*offset > size)
    return FALSE;
  *offset += first;
  if (stride < 0) {
    if (*offset < way)
      return FALSE;
    *offset -= way;
  }
  *span = way + gh_row_bytes(&frame->format, frame->width);
  return *offset <= size && *span <= size - *offset;
}

/* Each memory on its own: where one cannot be mapped, gst_buffer_extract()
 * leaves the buffer without it. @skip bytes of the first one are left out. */
static gboolean
gather(GstBuffer *buffer, guint first, gsize skip, guint8 *to, gsize span)
{
  for (guint i = first; span > 0; i++) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    GstMapInfo map;
    gsize bytes;

    if (!gst_memory_map(memory, &map, GST_MAP_READ))
      return FALSE;
    bytes = MIN(map.size - skip, span);
    memcpy(to, map.data + skip, bytes);
    gst_memory_unmap(memory, &map);
    to += bytes;
    span -= bytes;
    skip = 0;
  }
  return TRUE;
}

static const gchar *
map_span(GpuHistogramLuma *luma, gsize offset, gsize span, GstMapFlags flags)
{
  guint first, n;
  gsize skip;

  if (!gst_buffer_find_memory(luma->buffer, offset, span, &first, &n, &skip))
    return "the buffer has no memory for its luma";
  if (n == 1) {
    if (!gst_buffer_map_range(luma->buffer, first, 1, &luma->map, flags))
      return "the buffer cannot be mapped for reading";
    luma->samples.samples = luma->map.data + skip;
    return NULL;
  }
  /* Mapping several memories at once would merge them for everybody. */
  luma->gathered = g_try_malloc(span);
  luma->samples.samples = luma->gathered;
  if (!luma->gathered ||
      !gather(luma->buffer, first, skip, luma->gathered, span))
    return "the buffer's memories cannot be read";
  return NULL;
}

const gchar *
gpu_histogram_luma_map(GpuHistogramLuma *luma, GstBuffer *buffer,
                       const GstVideoInfo *info,
                       const GpuHistogramLumaFormat *format, gboolean on_gpu)
{
  GstMemory *cuda = gpu_histogram_cuda_get_memory(buffer);
  const gchar *fault;
  gsize offset, span;
  gint stride;

  *luma = (GpuHistogramLuma){.buffer = buffer};
  fault = find_plane(buffer, info, cuda, &offset, &stride);
  if (fault)
    return fault;
  luma->samples.format = format->samples;
  luma->samples.stride = ABS((gssize)stride);
  luma->upwards = stride < 0;
  luma->samples.width = GST_VIDEO_INFO_WIDTH(info);
  luma->samples.height = GST_VIDEO_INFO_HEIGHT(info);
  if (!find_span(gst_buffer_get_size(buffer), &luma->samples, format->first,
                 stride, &offset, &span))
    return "the buffer is too short for its strides";
  on_gpu = on_gpu && cuda;
  fault = map_span(luma, offset, span,
                   on_gpu ? gpu_histogram_cuda_map_flags() : GST_MAP_READ);
  if (fault) {
    gpu_histogram_luma_unmap(luma);
  } else if (on_gpu) {
    luma->samples.memory = GH_MEMORY_DEVICE;
    gpu_histogram_cuda_set_ready(cuda, &luma->samples);
  }
  return fault;
}

void
gpu_histogram_luma_unmap(GpuHistogramLuma *luma)
{
  if (luma->map.memory)
    gst_buffer_unmap(luma->buffer, &luma->map);
  luma->map.memory = NULL;
  g_clear_pointer(&luma->gathered, g_free);
  g_clear_pointer(&luma->turned, g_free);
}
