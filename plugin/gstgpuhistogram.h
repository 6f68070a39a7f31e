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

/**
 * GstGpuHistogramStatistics:
 * @GST_GPU_HISTOGRAM_STATISTICS_MEAN: the mean
 * @GST_GPU_HISTOGRAM_STATISTICS_MIN: the lowest grey level
 * @GST_GPU_HISTOGRAM_STATISTICS_MAX: the highest grey level
 * @GST_GPU_HISTOGRAM_STATISTICS_VARIANCE: the population variance
 * @GST_GPU_HISTOGRAM_STATISTICS_STANDARD_DEVIATION: its square root
 * @GST_GPU_HISTOGRAM_STATISTICS_MEDIAN: the lower median
 * @GST_GPU_HISTOGRAM_STATISTICS_PERCENTILES: those of the property
 * @GST_GPU_HISTOGRAM_STATISTICS_INTERPERCENTILE_MEAN: the mean between the
 * least and the greatest of those
 * @GST_GPU_HISTOGRAM_STATISTICS_CLIPPED: the shares of the samples in the
 * lowest and in the highest bin
 * @GST_GPU_HISTOGRAM_STATISTICS_ENTROPY: the entropy of the histogram
 *
 * What a message says of the samples, beside their sum and the histogram. The
 * functions of #GstGpuHistogramMeta define each of them.
 */
typedef enum {
  GST_GPU_HISTOGRAM_STATISTICS_MEAN = 1 << 0,
  GST_GPU_HISTOGRAM_STATISTICS_MIN = 1 << 1,
  GST_GPU_HISTOGRAM_STATISTICS_MAX = 1 << 2,
  GST_GPU_HISTOGRAM_STATISTICS_VARIANCE = 1 << 3,
  GST_GPU_HISTOGRAM_STATISTICS_STANDARD_DEVIATION = 1 << 4,
  GST_GPU_HISTOGRAM_STATISTICS_MEDIAN = 1 << 5,
  GST_GPU_HISTOGRAM_STATISTICS_PERCENTILES = 1 << 6,
  GST_GPU_HISTOGRAM_STATISTICS_INTERPERCENTILE_MEAN = 1 << 7,
  GST_GPU_HISTOGRAM_STATISTICS_CLIPPED = 1 << 8,
  GST_GPU_HISTOGRAM_STATISTICS_ENTROPY = 1 << 9
} GstGpuHistogramStatistics;

#define GST_TYPE_GPU_HISTOGRAM_STATISTICS \
  (gst_gpu_histogram_statistics_get_type())
GType gst_gpu_histogram_statistics_get_type(void);

#define GST_TYPE_GPU_HISTOGRAM_ALGORITHM \
  (gst_gpu_histogram_algorithm_get_type())
GType gst_gpu_histogram_algorithm_get_type(void);

#define GST_TYPE_GPU_HISTOGRAM_ENGINE (gst_gpu_histogram_engine_get_type())
GType gst_gpu_histogram_engine_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(gpuhistogram)

G_END_DECLS
