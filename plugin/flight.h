/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The frames in flight: those that were taken from upstream and have not yet
 * been counted, oldest first, and whether one is being delivered.
 *
 * The streaming thread waits for room and pushes; the output thread waits for
 * the oldest frame, has it counted, pops it, and says when it is delivered.
 * While closed, that is before activation, after deactivation and between
 * flush-start and flush-stop, every wait returns at once and no frame is
 * taken. Only a frame that is released uncounted makes a call wait for the
 * device, if that reads the frame from where it is.
 */

#pragma once

#include "luma.h"
#include "regions.h"

typedef struct {
  GstBuffer *buffer; /* (transfer full) */
  guint64 number;    /* frames of the stream before this one */
  GstVideoFormat format;
  guint depth; /* bits of a sample */
  GstClockTime stream_time;
  GstClockTime running_time;
  gboolean attach_meta; /* the settings when it came */
  gboolean post_message;
  GpuHistogramRegions *regions; /* (nullable) (transfer full): to be counted */
  gboolean rows;                /* each row is to be added up */
  gboolean measured;            /* whether it is being counted */
  GhEngine *engine;             /* (nullable): the one that counts it */
  GpuHistogramLuma luma;        /* mapped where measured */
} GpuHistogramFrame;

typedef struct {
  GMutex lock;
  /* One for each wait, so that a thread wakes up for what it waits for. */
  GCond arrived;
  GCond room;
  GCond idle;
  GpuHistogramFrame frames[GH_MAX_DEPTH];
  guint depth; /* frames that may be in flight */
  guint first;
  guint n;
  guint n_max;         /* most frames that were in flight */
  gboolean delivering; /* one was popped and is on its way downstream */
  gboolean stale_flow; /* that one's outcome is of no interest any more */
  gboolean active;     /* the source pad is */
  gboolean flushing;   /* between flush-start and flush-stop */
  GstFlowReturn flow;  /* of the last delivery */
  gboolean flow_told;  /* and upstream, or the bus, knows it */
} GpuHistogramFlight;

void gpu_histogram_flight_init(GpuHistogramFlight *flight);
void gpu_histogram_flight_clear(GpuHistogramFlight *flight);

/* Sets how many frames may be in flight, while there are none. */
void gpu_histogram_flight_set_depth(GpuHistogramFlight *flight, guint depth);

void gpu_histogram_flight_set_active(GpuHistogramFlight *flight,
                                     gboolean active);
void gpu_histogram_flight_set_flushing(GpuHistogramFlight *flight,
                                       gboolean flushing);

/* Streaming thread. Blocks until there is room; where there was none, until
 * half of the frames have gone, so that it wakes up once for several of them.
 * FALSE when closed. */
gboolean gpu_histogram_flight_wait_for_room(GpuHistogramFlight *flight);

/* Streaming thread, after waiting for room. Takes what @frame owns.
 * Returns the outcome of the last delivery, %GST_FLOW_FLUSHING when closed. */
GstFlowReturn gpu_histogram_flight_push(GpuHistogramFlight *flight,
                                        GpuHistogramFrame *frame);

/* Streaming thread. Blocks until every frame has been delivered, or until
 * closed; whether none is left. Called before everything that must not overtake
 * a frame. */
gboolean gpu_histogram_flight_drain(GpuHistogramFlight *flight);

/* Output thread. Blocks until there is a frame. The oldest one, which stays
 * in flight; %NULL when closed. */
GpuHistogramFrame *gpu_histogram_flight_oldest(GpuHistogramFlight *flight);

/* Output thread. Takes the oldest frame out and makes room. */
void gpu_histogram_flight_pop(GpuHistogramFlight *flight,
                              GpuHistogramFrame *frame);

/* Output thread. The popped frame has left, with that outcome. @told: it need
 * not be reported any more. */
void gpu_histogram_flight_delivered(GpuHistogramFlight *flight,
                                    GstFlowReturn flow, gboolean told);

/* Releases all frames in flight. Output thread, or any while that rests. */
void gpu_histogram_flight_drop(GpuHistogramFlight *flight);

/* Forgets the outcome of deliveries so far, the one that goes on included:
 * something changed that lets them succeed again. Any thread. */
void gpu_histogram_flight_forget_flow(GpuHistogramFlight *flight);

/* The outcome of the last delivery, if upstream does not know it yet, else
 * %GST_FLOW_OK. Streaming thread. */
GstFlowReturn gpu_histogram_flight_get_untold_flow(GpuHistogramFlight *flight);

guint gpu_histogram_flight_get_max(GpuHistogramFlight *flight);
