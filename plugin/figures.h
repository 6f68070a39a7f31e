/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which figures a message carries beside the histogram. */

#pragma once

#include "gstgpuhistogram.h"

#define GPU_HISTOGRAM_MAX_PERCENTILES 64u

typedef struct {
  GstGpuHistogramStatistics wanted;
  guint n_percentiles;
  gdouble percentiles[GPU_HISTOGRAM_MAX_PERCENTILES]; /* 0 to 100 */
} GpuHistogramFigures;

/* Takes the percentiles from a GST_TYPE_ARRAY of gdouble, each 0 to 100. FALSE,
 * and nothing changes, where there are too many of them. */
gboolean gpu_histogram_figures_set_percentiles(GpuHistogramFigures *figures,
                                               const GValue *array);

/* Puts the percentiles into an empty GST_TYPE_ARRAY. */
void gpu_histogram_figures_get_percentiles(const GpuHistogramFigures *figures,
                                           GValue *array);
