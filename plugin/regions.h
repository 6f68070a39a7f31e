/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parts of a frame that are counted beside the whole: what is asked for, and
 * the rectangles that this means in frames of a size. */

#pragma once

#include "engine.h"

#include <gst/video/video.h>

#define GPU_HISTOGRAM_MAX_ZONES 1024u

/* Of a buffer's GstVideoRegionOfInterestMeta. */
#define GPU_HISTOGRAM_MAX_ROI_METAS 64u

/* A rectangle as people write it: "x,y,width,height", each a whole number of
 * pixels, or of per cent with a sign behind it. */
typedef struct {
  gchar text[64]; /* empty: none */
  gboolean valid;
  gdouble sides[4]; /* x, y, width, height ... */
  gboolean percent[4];
} GpuHistogramRoi;

/* A grid as people write it: "8x6", columns by rows. */
typedef struct {
  gchar text[24]; /* empty: none */
  guint columns;  /* 0 where the text is no grid, or none */
  guint rows;
} GpuHistogramZones;

typedef struct {
  GpuHistogramRoi roi;
  GpuHistogramZones zones;
  gboolean roi_metas; /* those of each buffer */
  gboolean crop_meta;
  guint n_weights; /* of the zones; 0 where there are none */
} GpuHistogramRegionWishes;

/* Takes NULL for none. Text that cannot be understood is kept, and is a fault.
 */
void gpu_histogram_roi_parse(GpuHistogramRoi *roi, const gchar *text);
void gpu_histogram_zones_parse(GpuHistogramZones *zones, const gchar *text);

/* (transfer full) (nullable): why what is wished is impossible, whatever the
 * frames are; one sentence. */
gchar *gpu_histogram_regions_get_fault(const GpuHistogramRegionWishes *wishes,
                                       guint bins);

/* The same; what is impossible is not wished any more, and the rest is. */
gchar *gpu_histogram_regions_leave_out_faults(GpuHistogramRegionWishes *wishes,
                                              guint bins);

/* (transfer full) (nullable): why it is in frames of that size. */
gchar *gpu_histogram_regions_get_misfit(const GpuHistogramRegionWishes *wishes,
                                        guint width, guint height);

typedef struct {
  gint id;         /* of the meta */
  GQuark roi_type; /* of a GstVideoRegionOfInterestMeta, otherwise 0 */
  gint roi_id;
} GpuHistogramRegion;

/* The regions of one frame, or of many. Constant once made, from any thread. */
typedef struct {
  guint n;
  GhRect *rects;
  GpuHistogramRegion *regions;
  guint first_zone; /* among them */
  guint n_zones;
  gdouble *weights; /* (nullable): of each zone */

  /*< private >*/
  gint references; /* atomic */
} GpuHistogramRegions;

/* (transfer full): those that are the same in all frames of a size, as far as
 * they fit. @weights: of as many zones as there are, or %NULL. */
GpuHistogramRegions *
gpu_histogram_regions_new(const GpuHistogramRegionWishes *wishes,
                          const gdouble *weights, guint width, guint height);

/* (transfer full): @base, and those that @buffer has of its own. */
GpuHistogramRegions *
gpu_histogram_regions_with_metas(GpuHistogramRegions *base,
                                 const GpuHistogramRegionWishes *wishes,
                                 GstBuffer *buffer, guint width, guint height);

GpuHistogramRegions *gpu_histogram_regions_ref(GpuHistogramRegions *regions);

/* Takes %NULL. */
void gpu_histogram_regions_unref(GpuHistogramRegions *regions);

/* The mean of the zones' means, in grey levels, each as often as its weight. */
gdouble
gpu_histogram_regions_get_weighted_mean(const GpuHistogramRegions *regions,
                                        const GhHistogram *histograms);
