/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What comes out: the meta on the buffer, and when there is a message. */

#include "gstgpuhistogram-private.h"
#include "message.h"

#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>

/* The region of number @index of the frame, or the whole for -1. */
static void
fill_meta(GstGpuHistogram *self, GstGpuHistogramMeta *meta,
          const GpuHistogramFrame *frame, gint index,
          const GhHistogram *histogram)
{
  const GhFrame *samples = &frame->luma.samples;
  GhRect rect = {0, 0, samples->width, samples->height};

  if (index >= 0)
    rect = frame->regions->rects[index];
  meta->region_id = index < 0 ? GST_GPU_HISTOGRAM_REGION_FRAME
                              : frame->regions->regions[index].id;
  meta->frame = frame->number;
  meta->format = frame->format;
  meta->depth = frame->depth;
  meta->width = samples->width;
  meta->height = samples->height;
  meta->rectangle = (GstVideoRectangle){(gint)rect.x, (gint)rect.y,
                                        (gint)rect.width, (gint)rect.height};
  meta->pixels = histogram->pixels;
  meta->sum = histogram->sum;
  gst_gpu_histogram_meta_set_bins(meta, self->bins, histogram->bins);
}

static void
message_freed(gpointer data, GstMiniObject *message)
{
  GstGpuHistogram *self = data;

  g_atomic_int_add(&self->messages_alive, -1);
}

/* What a message has beside what the meta has. */
static void
add_extras(GstStructure *structure, const GpuHistogramFrame *frame, gint index,
           const GhResult *result)
{
  const GpuHistogramRegions *regions = frame->regions;

  if (!regions)
    return;
  if (index < 0 && regions->weights)
    gst_structure_set(
        structure, "weighted-mean", G_TYPE_DOUBLE,
        gpu_histogram_regions_get_weighted_mean(regions, result->regions),
        NULL);
  if (index >= 0 && regions->regions[index].roi_type != 0)
    gst_structure_set(structure, "roi-type", G_TYPE_STRING,
                      g_quark_to_string(regions->regions[index].roi_type),
                      "roi-id", G_TYPE_INT, regions->regions[index].roi_id,
                      NULL);
}

static void
post_structure(GstGpuHistogram *self, GstStructure *structure)
{
  GstMessage *message = gst_message_new_element(GST_OBJECT(self), structure);

  /* The message holds the element, so the element outlives it. */
  gst_mini_object_weak_ref(GST_MINI_OBJECT(message), message_freed, self);
  g_atomic_int_inc(&self->messages_alive);
  gst_element_post_message(GST_ELEMENT(self), message);
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
post(GstGpuHistogram *self, const GpuHistogramFrame *frame, gint index,
     const GhResult *result, const GstGpuHistogramMeta *meta)
{
  GpuHistogramFigures figures;
  GstStructure *structure;
  guint max_pending;

  GST_OBJECT_LOCK(self);
  max_pending = self->settings.max_pending_messages;
  figures = self->settings.figures;
  GST_OBJECT_UNLOCK(self);
  if ((guint)g_atomic_int_get(&self->messages_alive) < max_pending) {
    self->last_posted = frame->stream_time;
    structure = gpu_histogram_message_new(frame, meta, &figures);
    add_extras(structure, frame, index, result);
    post_structure(self, structure);
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

/* What is to come out of a frame. */
typedef struct {
  gboolean attaches;
  gboolean fresh; /* the buffer has no histogram yet */
  gboolean posts;
} Report;

/* To look for one that it replaces takes its time where there are many. */
static GstGpuHistogramMeta *
attach(GstBuffer *buffer, gint region_id, gboolean fresh)
{
  if (!fresh)
    return gst_buffer_add_gpu_histogram_meta(buffer, region_id);
  return (GstGpuHistogramMeta *)gst_buffer_add_meta(
      buffer, GST_GPU_HISTOGRAM_META_INFO, &region_id);
}

static void
report_part(GstGpuHistogram *self, GpuHistogramFrame *frame, gint index,
            const GhResult *result, const Report *report)
{
  const GhHistogram *histogram =
      index < 0 ? &result->whole : &result->regions[index];
  GstGpuHistogramMeta unattached = {.bins = NULL};
  GstGpuHistogramMeta *meta = &unattached;

  if (report->attaches)
    meta = attach(frame->buffer,
                  index < 0 ? GST_GPU_HISTOGRAM_REGION_FRAME
                            : frame->regions->regions[index].id,
                  report->fresh);
  fill_meta(self, meta, frame, index, histogram);
  if (report->posts)
    post(self, frame, index, result, meta);
  gst_gpu_histogram_meta_set_bins(&unattached, 0, NULL);
}

static void
attach_rows(GpuHistogramFrame *frame, const GhResult *result)
{
  GstGpuHistogramRowsMeta *meta =
      gst_buffer_add_gpu_histogram_rows_meta(frame->buffer);

  meta->frame = frame->number;
  meta->format = frame->format;
  meta->depth = frame->depth;
  meta->width = frame->luma.samples.width;
  meta->height = frame->luma.samples.height;
  gst_gpu_histogram_rows_meta_set_sums(meta, meta->height, result->row_sums);
}

/* The messages of a frame's regions belong together. */
static gboolean
is_to_be_posted(GstGpuHistogram *self, const GpuHistogramFrame *frame)
{
  GstClockTime interval;

  GST_OBJECT_LOCK(self);
  interval = self->settings.interval;
  GST_OBJECT_UNLOCK(self);
  return frame->post_message && is_due(self, frame->stream_time, interval);
}

void
gst_gpu_histogram_report(GstGpuHistogram *self, GpuHistogramFrame *frame,
                         const GhResult *result)
{
  gint n = (gint)frame->luma.samples.n_regions;
  Report report = {.posts = is_to_be_posted(self, frame)};

  report.attaches =
      frame->attach_meta && gst_gpu_histogram_make_writable(self, frame);
  report.fresh =
      !gst_buffer_get_meta(frame->buffer, GST_GPU_HISTOGRAM_META_API_TYPE);
  for (gint index = -1; index < n && (report.attaches || report.posts); index++)
    report_part(self, frame, index, result, &report);
  if (frame->rows && report.attaches)
    attach_rows(frame, result);
}
