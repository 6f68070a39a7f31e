/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What comes out: the meta on the buffer, and when there is a message. */

#include "gstgpuhistogram-private.h"
#include "message.h"

static void
fill_meta(GstGpuHistogram *self, GstGpuHistogramMeta *meta,
          const GpuHistogramFrame *frame, const GhResult *result)
{
  meta->region_id = GST_GPU_HISTOGRAM_REGION_FRAME;
  meta->frame = frame->number;
  meta->format = frame->format;
  meta->depth = frame->depth;
  meta->width = frame->luma.samples.width;
  meta->height = frame->luma.samples.height;
  meta->rectangle =
      (GstVideoRectangle){0, 0, (gint)meta->width, (gint)meta->height};
  meta->pixels = result->whole.pixels;
  meta->sum = result->whole.sum;
  gst_gpu_histogram_meta_set_bins(meta, self->bins, result->whole.bins);
}

static void
message_freed(gpointer data, GstMiniObject *message)
{
  GstGpuHistogram *self = data;

  g_atomic_int_add(&self->messages_alive, -1);
}

static GstMessage *
new_message(GstGpuHistogram *self, const GpuHistogramFrame *frame,
            const GstGpuHistogramMeta *meta, const GpuHistogramFigures *figures)
{
  GstMessage *message = gst_message_new_element(
      GST_OBJECT(self), gpu_histogram_message_new(frame, meta, figures));

  /* The message holds the element, so the element outlives it. */
  gst_mini_object_weak_ref(GST_MINI_OBJECT(message), message_freed, self);
  g_atomic_int_inc(&self->messages_alive);
  return message;
}

/* Whether @interval lies between the last message and @time, in either
 * direction of playback. A time that is not known makes no one wait. */
static gboolean
is_due(GstGpuHistogram *self, GstClockTime time, GstClockTime interval)
{
  GstClockTime last = self->last_posted;

  if (!GST_CLOCK_TIME_IS_VALID(time) || !GST_CLOCK_TIME_IS_VALID(last))
    return TRUE;
  return (time > last ? time - last : last - time) >= interval;
}

static void
post(GstGpuHistogram *self, const GpuHistogramFrame *frame,
     const GstGpuHistogramMeta *meta)
{
  GpuHistogramFigures figures;
  GstClockTime interval;
  guint max_pending;

  GST_OBJECT_LOCK(self);
  interval = self->settings.interval;
  max_pending = self->settings.max_pending_messages;
  figures = self->settings.figures;
  GST_OBJECT_UNLOCK(self);
  if (!is_due(self, frame->stream_time, interval))
    return;
  if ((guint)g_atomic_int_get(&self->messages_alive) < max_pending) {
    self->last_posted = frame->stream_time;
    gst_element_post_message(GST_ELEMENT(self),
                             new_message(self, frame, meta, &figures));
    return;
  }
  GST_OBJECT_LOCK(self);
  self->stats.messages_dropped++;
  GST_OBJECT_UNLOCK(self);
  GST_DEBUG_OBJECT(self, "message of frame %" G_GUINT64_FORMAT " dropped",
                   frame->number);
}

gboolean
gst_gpu_histogram_make_writable(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  GstBuffer *copy;

  if (gst_buffer_is_writable(frame->buffer))
    return TRUE;
  copy = gst_buffer_copy(frame->buffer);
  if (!copy) {
    GST_WARNING_OBJECT(self,
                       "frame %" G_GUINT64_FORMAT " passes as it is: its "
                       "buffer is shared and cannot be copied",
                       frame->number);
    return FALSE;
  }
  gst_buffer_unref(frame->buffer);
  frame->buffer = copy;
  return TRUE;
}

void
gst_gpu_histogram_report(GstGpuHistogram *self, GpuHistogramFrame *frame,
                         const GhResult *result)
{
  GstGpuHistogramMeta unattached = {.bins = NULL};
  GstGpuHistogramMeta *meta = &unattached;

  if (frame->attach_meta && gst_gpu_histogram_make_writable(self, frame))
    meta = gst_buffer_add_gpu_histogram_meta(frame->buffer,
                                             GST_GPU_HISTOGRAM_REGION_FRAME);
  fill_meta(self, meta, frame, result);
  if (frame->post_message)
    post(self, frame, meta);
}
