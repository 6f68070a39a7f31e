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

/**
 * GstGpuHistogramAlgorithm:
 * @GST_GPU_HISTOGRAM_ALGORITHM_AUTO: the fastest one for the frame and device
 * @GST_GPU_HISTOGRAM_ALGORITHM_GLOBAL: one atomic in device memory a sample
 * @GST_GPU_HISTOGRAM_ALGORITHM_BLOCK: a table a block in shared memory
 * @GST_GPU_HISTOGRAM_ALGORITHM_WARP: a table a warp in shared memory
 * @GST_GPU_HISTOGRAM_ALGORITHM_LANE: a column of the table a lane
 * @GST_GPU_HISTOGRAM_ALGORITHM_SORT: sort, then count runs
 *
 * How the GPU counts. All give the same numbers. In the order of GhAlgorithm.
 */
typedef enum {
  GST_GPU_HISTOGRAM_ALGORITHM_AUTO,
  GST_GPU_HISTOGRAM_ALGORITHM_GLOBAL,
  GST_GPU_HISTOGRAM_ALGORITHM_BLOCK,
  GST_GPU_HISTOGRAM_ALGORITHM_WARP,
  GST_GPU_HISTOGRAM_ALGORITHM_LANE,
  GST_GPU_HISTOGRAM_ALGORITHM_SORT
} GstGpuHistogramAlgorithm;

#define GST_TYPE_GPU_HISTOGRAM_ALGORITHM \
  (gst_gpu_histogram_algorithm_get_type())
GType gst_gpu_histogram_algorithm_get_type(void);

#define GST_TYPE_GPU_HISTOGRAM_ENGINE (gst_gpu_histogram_engine_get_type())
GType gst_gpu_histogram_engine_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(gpuhistogram)

G_END_DECLS
