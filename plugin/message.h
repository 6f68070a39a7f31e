/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is in a message. */

#pragma once

#include "figures.h"
#include "flight.h"

#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

/* A message that is printed, logged or sent on stays of a size that is fit for
 * that. */
#define GPU_HISTOGRAM_MESSAGE_BINS 4096u

/* (transfer full): the structure of the message that reports @meta, which
 * measured @frame. Of @frame the buffer and the times are read. More bins than
 * GPU_HISTOGRAM_MESSAGE_BINS are left out, and the message says so. */
GstStructure *gpu_histogram_message_new(const GpuHistogramFrame *frame,
                                        const GstGpuHistogramMeta *meta,
                                        const GpuHistogramFigures *figures);
