/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_GPU_HISTOGRAM (gst_gpu_histogram_get_type())
G_DECLARE_FINAL_TYPE(GstGpuHistogram, gst_gpu_histogram, GST, GPU_HISTOGRAM,
                     GstBaseTransform)

/**
 * GstGpuHistogramEngine:
 * @GST_GPU_HISTOGRAM_ENGINE_AUTO: CUDA where a device works, else the CPU
 * @GST_GPU_HISTOGRAM_ENGINE_CUDA: an NVIDIA GPU
 * @GST_GPU_HISTOGRAM_ENGINE_CPU: the CPU
 *
 * What counts the samples.
 */
typedef enum {
  GST_GPU_HISTOGRAM_ENGINE_AUTO,
  GST_GPU_HISTOGRAM_ENGINE_CUDA,
  GST_GPU_HISTOGRAM_ENGINE_CPU
} GstGpuHistogramEngine;

#define GST_TYPE_GPU_HISTOGRAM_ENGINE (gst_gpu_histogram_engine_get_type())
GType gst_gpu_histogram_engine_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(gpuhistogram)

G_END_DECLS
