/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the files of the element share:
 *
 *   gstgpuhistogram.c  what it is: class, start and stop
 *   properties.c, region-properties.c
 *                      what can be set and read
 *   caps.c             the formats: which are counted, which refused
 *   stream.c           the way of a frame, of events and of queries
 *   measuring.c        what is to be counted in a frame
 *   allocation.c       what upstream is told about buffers
 *   counting.c         the engines: choice, failure, recount
 *   context.c          the CUDA context that the pipeline shares
 *   report.c           what comes out: the meta, and whether there is a message
 *
 * and what these rest on: flight, the frames between the two threads; luma,
 * a frame's samples; regions, parts of a frame; message, what is in one;
 * figures, which of them it has; pinned and registered, memory that the GPU
 * reads by itself; cudamemory, GStreamer's CUDA library.
 */

#pragma once

#include "engine.h"
#include "figures.h"
#include "flight.h"
#include "gstgpuhistogram.h"
#include "pinned.h"

#include <gst/gpuhistogram/gstgpuhistogrammeta.h>
#include <gst/video/video.h>

#define GST_CAT_DEFAULT gst_gpu_histogram_debug
GST_DEBUG_CATEGORY_EXTERN(gst_gpu_histogram_debug);

typedef struct {
  GstGpuHistogramEngine engine;
  gint cuda_device_id;
  GstGpuHistogramAlgorithm algorithm;
  guint n_threads;
  guint async_depth;
  guint bins;
  guint significant_bits;
  gboolean attach_meta;
  gboolean post_messages;
  GstClockTime interval;
  guint max_pending_messages;
  gboolean verify;
  gboolean register_memory;
  GpuHistogramFigures figures;
  GpuHistogramRegionWishes regions;
  gboolean rows;
} GpuHistogramSettings;

#define GPU_HISTOGRAM_MAX_BINS GH_MAX_BINS

extern const GpuHistogramSettings gpu_histogram_default_settings;

/* What the stats property shows. */
typedef struct {
  const gchar *engine; /* in use: "cuda", "cpu", or "none" when stopped */
  gchar *device;
  gchar *reason; /* why this engine */
  guint64 frames;
  guint64 messages_dropped;
  guint64 bytes_uploaded;
  guint64 bytes_copied;
  GstClockTime device_time;
} GpuHistogramStats;

struct _GstGpuHistogram {
  GstBaseTransform parent;

  GpuHistogramFlight flight;

  /* Under the object lock. */
  GpuHistogramSettings settings;
  GpuHistogramStats stats;
  gdouble *zone_weights; /* (nullable): settings.regions.n_weights */
  guint regions_version; /* counts the changes of roi, zones and weights */
  gboolean started;
  GstObject *context; /* (nullable): the pipeline's GstCudaContext */
  GThread *asking;    /* (nullable): that asks for it ... */
  GpuHistogramAllocator *allocator; /* (nullable): where the GPU counts */
  GhEngine *failed; /* (nullable): an engine that is of no further use */
  GhError failure;  /* and why */
  GstClockTime frame_duration; /* 0 when not known */

  /* Set at the start; constant until the stop. */
  guint bins;
  guint significant_bits; /* 0 = all that the format has */
  gboolean may_fall_back; /* to the CPU */

  /* The streaming thread's. The caps change only with no frame in flight. */
  GstObject *answer; /* (nullable): ... and gets it here */
  GhEngine *engine;
  gboolean on_gpu;           /* it is the GPU's */
  GstObject *engine_context; /* (nullable): a GstCudaContext that it works in */
  GhEngine *broken;          /* (nullable): a CUDA engine, closed at the stop */
  GstVideoInfo info;
  GpuHistogramLumaFormat format; /* of info, with the bits that count */
  GpuHistogramRegions *regions;  /* (nullable): in frames of info ... */
  guint regions_made;            /* ... of that version of the settings */
  gboolean regions_fitted;       /* once since the start */
  guint64 n_frames;
  gboolean discont; /* a frame was dropped: the next one has to say so */
  gboolean faulty;  /* the last buffer did not hold its frame */
  gboolean refused; /* the last caps were, and why has been said */

  /* The output thread's. */
  GhHistogram *histograms; /* of the whole, and of as many regions as came */
  guint n_histograms;
  guint64 *histogram_bins; /* those of all, one after the other */
  guint64 *row_sums;
  guint n_row_sums;
  GhEngine *lost; /* (nullable): an engine that owes results for ever */
  GstClockTime last_posted; /* stream time of the last message */

  gint messages_alive; /* atomic */
};

/* properties.c */
void gst_gpu_histogram_install_properties(GObjectClass *klass);

/* region-properties.c: those from this number on. */
#define GPU_HISTOGRAM_FIRST_REGION_PROPERTY 100
void gst_gpu_histogram_install_region_properties(GObjectClass *klass);
void gst_gpu_histogram_set_region_property(GstGpuHistogram *self, guint id,
                                           const GValue *value);
void gst_gpu_histogram_get_region_property(GstGpuHistogram *self, guint id,
                                           GValue *value);

/* caps.c: streaming thread. Makes @in the format of the frames to come, after
 * those before have left. FALSE, with an element error on the bus, where they
 * cannot be counted. */
gboolean gst_gpu_histogram_set_caps(GstBaseTransform *trans, GstCaps *in,
                                    GstCaps *out);

/* Has caps that the sink pad refuses explained on the bus. */
void gst_gpu_histogram_watch_caps(GstGpuHistogram *self);

/* measuring.c: streaming thread. Whether the regions that are wished can be
 * counted in frames of that size; otherwise why not, (transfer full), in
 * @why. After the first caps parts of them will do, with a warning. */
gboolean gst_gpu_histogram_fit_regions(GstGpuHistogram *self, guint width,
                                       guint height, gchar **why);

/* The regions were made for other frames, or are not needed any more. */
void gst_gpu_histogram_forget_regions(GstGpuHistogram *self);

/* Settles what is to come out of @frame. */
void gst_gpu_histogram_read_wishes(GstGpuHistogram *self,
                                   GpuHistogramFrame *frame);

/* stream.c */
void gst_gpu_histogram_stream_init(GstGpuHistogram *self);
void gst_gpu_histogram_stream_class_init(GstBaseTransformClass *klass);

/* allocation.c */
gboolean gst_gpu_histogram_propose_allocation(GstBaseTransform *trans,
                                              GstQuery *decide,
                                              GstQuery *query);

/*
 * counting.c
 *
 * Opens the engine that the settings ask for. After a failure there is an
 * element error on the bus. Called while nothing streams.
 */
gboolean gst_gpu_histogram_counting_start(GstGpuHistogram *self,
                                          const GpuHistogramSettings *settings);
void gst_gpu_histogram_counting_stop(GstGpuHistogram *self);

/* Streaming thread. Maps the frame where the engine in use can count it;
 * returns why it cannot be, or %NULL. */
const gchar *gst_gpu_histogram_counting_map(GstGpuHistogram *self,
                                            GpuHistogramFrame *frame);

/* Streaming thread. Has the GPU, if it counts, work in @context from now on,
 * after the frames before have left. */
void gst_gpu_histogram_counting_move(GstGpuHistogram *self, GstObject *context);

/* Streaming thread. Starts counting a mapped frame; FALSE when that is no
 * longer possible, with an element error on the bus. */
gboolean gst_gpu_histogram_counting_submit(GstGpuHistogram *self,
                                           GpuHistogramFrame *frame);

/* Output thread. Waits for the result of the oldest frame in flight. FALSE
 * when there is none, with an element error on the bus; a frame that can no
 * longer be read is not measured any more. */
gboolean gst_gpu_histogram_counting_collect(GstGpuHistogram *self,
                                            GpuHistogramFrame *frame,
                                            GhResult *result);

/* Streaming thread, while the output thread rests. */
void gst_gpu_histogram_counting_flush(GstGpuHistogram *self);

/* context.c */
void gst_gpu_histogram_context_class_init(GstElementClass *klass);

/* Takes what the application gave, if it is for the device that is wanted; and
 * forgets what came up since. */
void gst_gpu_histogram_start_context(GstGpuHistogram *self);
void gst_gpu_histogram_stop_context(GstGpuHistogram *self);

/* (transfer full) (nullable): the context that the pipeline is known to share.
 */
GstObject *gst_gpu_histogram_get_context(GstGpuHistogram *self);

/* Makes @context the one that others are told of. */
void gst_gpu_histogram_set_context(GstGpuHistogram *self, GstObject *context);

/* Streaming thread. If the GPU counts, asks the pipeline for a context and has
 * it count in that. */
void gst_gpu_histogram_join_context(GstGpuHistogram *self);

/* report.c
 *
 * Makes the buffer of @frame one whose meta and flags may change; its memory
 * stays. FALSE, after a warning, where the buffer cannot be copied. */
gboolean gst_gpu_histogram_make_writable(GstGpuHistogram *self,
                                         GpuHistogramFrame *frame);

/* Output thread. Attaches the result to the frame's buffer, which may become
 * another one with the same memory, and posts it on the bus. */
void gst_gpu_histogram_report(GstGpuHistogram *self, GpuHistogramFrame *frame,
                              const GhResult *result);
