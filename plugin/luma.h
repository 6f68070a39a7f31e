/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The luma of a frame: which formats have it, and where it is in a buffer. */

#pragma once

#include "engine.h"

#include <gst/video/video.h>

/* Where the luma is in the first plane of a format. */
typedef struct {
  GhFormat samples; /* with nothing left to be understood */
  gsize first;      /* the byte of a row that the first sample's byte or word
                       begins at */
} GpuHistogramLumaFormat;

/* Read access to the luma of one buffer. */
typedef struct {
  GhFrame samples;  /* valid until the unmap */
  gboolean upwards; /* their first row is the frame's last */
  GhRect *turned;   /* (nullable): regions of such samples, until the unmap */

  /*< private >*/
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *gathered;
} GpuHistogramLuma;

/* FALSE where the first plane has no luma or grey samples, each in a byte or in
 * a word, or packed in one of the ways that the engines know. */
gboolean gpu_histogram_luma_find(GpuHistogramLumaFormat *format,
                                 const GstVideoFormatInfo *info);

/* Returns: (transfer full): the caps that can be counted: raw video of every
 * format that gpu_histogram_luma_find() finds luma in, in system memory, and in
 * CUDA memory where GStreamer's CUDA library is there. */
GstCaps *gpu_histogram_luma_caps(void);

/*
 * Maps the luma of @buffer for reading, by the strides and offsets of its
 * GstVideoMeta where it has one, else by @info; @format is that of @info, or
 * fewer bits of it. The buffer's memories stay as
 * they are; luma that lies in more than one of them is gathered into a copy.
 * With @on_gpu, CUDA memory gives addresses on the GPU, and otherwise a copy
 * for the CPU.
 *
 * Returns: %NULL, and @luma to be unmapped before @buffer is released; or why
 *     the buffer does not hold the frame, as static text.
 */
const gchar *gpu_histogram_luma_map(GpuHistogramLuma *luma, GstBuffer *buffer,
                                    const GstVideoInfo *info,
                                    const GpuHistogramLumaFormat *format,
                                    gboolean on_gpu);

/* Takes a @luma that is not mapped. */
void gpu_histogram_luma_unmap(GpuHistogramLuma *luma);
