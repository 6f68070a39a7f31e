/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The element between two pads, and what is known of each frame that it got. */

#pragma once

#include "input.h"

#include <gst/video/video.h>

#define MOST_FRAMES 256

typedef struct {
  gboolean pushed;
  gboolean owed;      /* has to come out */
  gboolean forbidden; /* may not come out, any more or at all */
  gboolean out;
  gboolean measured; /* where it comes out, it has a meta */
} Frame;

typedef struct {
  GstElement *element;
  GstBus *bus;
  GstPad *src, *sink; /* around the element */

  /* Of the thread that does the steps. */
  gboolean running; /* PAUSED or PLAYING */
  gboolean negotiated;
  gboolean flushing;
  gboolean ended;
  gboolean tainted; /* downstream refused frames, or may drop some */
  gboolean qos;     /* frames may be dropped for their lateness */
  gboolean attaches;
  GstVideoInfo info; /* of the caps that were taken */
  guint n_frames;
  GstBuffer *held; /* (nullable): one that others have, too */

  GMutex lock;
  Frame frames[MOST_FRAMES];
  guint next; /* lowest number that may come out now */
  GstFlowReturn flow;
  guint delay_us;        /* that downstream takes for a frame */
  GstVideoInfo out_info; /* of the caps that came out */
  guint bins;            /* since the start */
} Fixture;

/* element-pads.c */
void fixture_open(Fixture *self);
void fixture_close(Fixture *self);

/* Begins a stream anew, as after an activation of pads. */
void fixture_activate(Fixture *self);

/* Of frames that did not come out yet: none of them has to, or may not. */
void fixture_release(Fixture *self);
void fixture_forbid(Fixture *self);

/* All that have to come out did. */
void fixture_check_drained(Fixture *self, const gchar *when);

/* element-check.c: what is attached to a buffer is exact; and so is what is
 * not. */
void check_buffer(GstBuffer *buffer, const GstVideoInfo *info, guint bins,
                  gboolean measured);
/* Whether the luma of a frame lies in the buffer, by its layout. */
gboolean is_whole(GstBuffer *buffer, const GstVideoInfo *info);

/* element-input.c */
GstCaps *take_caps(Input *input, gboolean *refused);
GstBuffer *take_buffer(Input *input, const GstVideoInfo *info);
/* Sets one of the element's properties to any value, and reads it. */
void take_property(Input *input, Fixture *fixture);
void check_properties_are_known(void);
