/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The way of a frame, of events and of queries.
 *
 * The streaming thread takes a frame, maps it, submits it to the engine and
 * goes on. The output thread, a task on the source pad, collects the oldest
 * frame's result, attaches it and pushes the frame: nothing else pushes
 * buffers. A frame therefore leaves when its own work is done. Whatever must
 * not overtake a frame first drains, then goes GstBaseTransform's own way.
 */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

static GstBaseTransformClass *parent_class;

/* Output thread: one round of the task. */
static void
output_loop(gpointer data)
{
  GstPad *pad = data;
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(GST_PAD_PARENT(pad));
  GpuHistogramFrame *oldest = gpu_histogram_flight_oldest(&self->flight);
  GpuHistogramFrame frame;
  GstFlowReturn flow = GST_FLOW_ERROR;
  GhResult result;
  gboolean good;

  if (!oldest) {
    gpu_histogram_flight_drop(&self->flight);
    gst_pad_pause_task(pad);
    return;
  }
  good = !oldest->measured ||
         gst_gpu_histogram_counting_collect(self, oldest, &result);
  gpu_histogram_luma_unmap(&oldest->luma);
  gpu_histogram_flight_pop(&self->flight, &frame);
  if (good && frame.measured)
    gst_gpu_histogram_report(self, &frame, &result);
  g_clear_pointer(&frame.regions, gpu_histogram_regions_unref);
  if (good)
    flow = gst_pad_push(pad, frame.buffer);
  else
    gst_buffer_unref(frame.buffer);
  /* A frame that could not be counted has its error on the bus already. */
  gpu_histogram_flight_delivered(&self->flight, flow, !good);
}

static gboolean
start_output(GstGpuHistogram *self)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD(self);

  return gst_pad_start_task(pad, output_loop, pad, NULL);
}

static gboolean
src_activate_mode(GstPad *pad, GstObject *parent, GstPadMode mode,
                  gboolean active)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  gpu_histogram_flight_set_active(&self->flight, active);
  return active ? start_output(self) : gst_pad_stop_task(pad);
}

/* A fault that goes on is said once, not with every frame. */
static void
warn_of_fault(GstGpuHistogram *self, guint64 number, const gchar *fault)
{
  if (self->faulty)
    GST_WARNING_OBJECT(self, "frame %" G_GUINT64_FORMAT " passes uncounted: %s",
                       number, fault);
  else
    GST_ELEMENT_WARNING(
        self, STREAM, FORMAT,
        ("Frame %" G_GUINT64_FORMAT " passes uncounted: %s.", number, fault),
        (NULL));
  self->faulty = TRUE;
}

/* Starts counting where there is something to count; FALSE on an error. */
static gboolean
measure(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  const gchar *fault;

  gst_gpu_histogram_read_wishes(self, frame);
  if (!frame->attach_meta && !frame->post_message)
    return TRUE;
  fault = gst_gpu_histogram_counting_map(self, frame);
  if (fault) {
    warn_of_fault(self, frame->number, fault);
    return TRUE;
  }
  self->faulty = FALSE;
  frame->measured = TRUE;
  if (gst_gpu_histogram_counting_submit(self, frame))
    return TRUE;
  gpu_histogram_luma_unmap(&frame->luma);
  return FALSE;
}

/* What GstBaseTransform does when it pushes a buffer itself. */
static void
follow_stream(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  GstClockTime time = GST_BUFFER_PTS(frame->buffer);
  GstClockTime end = time;

  frame->number = self->n_frames++;
  frame->format = GST_VIDEO_INFO_FORMAT(&self->info);
  frame->depth = self->format.samples.depth;
  frame->stream_time = frame->running_time = GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID(time) && segment->format == GST_FORMAT_TIME) {
    frame->stream_time =
        gst_segment_to_stream_time(segment, GST_FORMAT_TIME, time);
    frame->running_time =
        gst_segment_to_running_time(segment, GST_FORMAT_TIME, time);
    if (GST_BUFFER_DURATION_IS_VALID(frame->buffer))
      end += GST_BUFFER_DURATION(frame->buffer);
    segment->position = end;
  }
  if (!self->discont)
    return;
  self->discont = FALSE;
  if (!GST_BUFFER_IS_DISCONT(frame->buffer) &&
      gst_gpu_histogram_make_writable(self, frame))
    GST_BUFFER_FLAG_SET(frame->buffer, GST_BUFFER_FLAG_DISCONT);
}

static GstFlowReturn
submit_input_buffer(GstBaseTransform *trans, gboolean is_discont,
                    GstBuffer *buffer)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  GpuHistogramFrame frame = {0};
  GstFlowReturn flow =
      parent_class->submit_input_buffer(trans, is_discont, buffer);

  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    self->discont = TRUE;
  if (flow != GST_FLOW_OK)
    return flow;
  frame.buffer = g_steal_pointer(&trans->queued_buf);
  flow = GST_FLOW_FLUSHING;
  if (!gpu_histogram_flight_wait_for_room(&self->flight))
    goto drop;
  flow = GST_FLOW_NOT_NEGOTIATED;
  if (GST_VIDEO_INFO_FORMAT(&self->info) == GST_VIDEO_FORMAT_UNKNOWN)
    goto drop;
  follow_stream(self, &frame);
  flow = GST_FLOW_ERROR;
  if (!measure(self, &frame))
    goto drop;
  return gpu_histogram_flight_push(&self->flight, &frame);

drop:
  g_clear_pointer(&frame.regions, gpu_histogram_regions_unref);
  gst_buffer_unref(frame.buffer);
  return flow;
}

/* The output thread has them. */
static GstFlowReturn
generate_output(GstBaseTransform *trans, GstBuffer **buffer)
{
  *buffer = NULL;
  return GST_FLOW_OK;
}

/* The output thread is at rest once its task is paused, so nothing else
 * touches the frames or the engine. */
static void
finish_flush(GstGpuHistogram *self)
{
  gpu_histogram_flight_set_flushing(&self->flight, TRUE);
  gst_pad_pause_task(GST_BASE_TRANSFORM_SRC_PAD(self));
  gpu_histogram_flight_drop(&self->flight);
  gst_gpu_histogram_counting_flush(self);
  self->last_posted = GST_CLOCK_TIME_NONE;
}

/* No more frames come whose push could tell upstream why the last ones did not
 * get through. */
static void
report_last_flow(GstGpuHistogram *self)
{
  GstFlowReturn flow = gpu_histogram_flight_get_untold_flow(&self->flight);

  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS)
    GST_ELEMENT_FLOW_ERROR(self, flow);
}

/* What has to happen before an event goes on. */
static void
prepare_for_event(GstGpuHistogram *self, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START)
    gpu_histogram_flight_set_flushing(&self->flight, TRUE);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    finish_flush(self);
  else if (GST_EVENT_IS_SERIALIZED(event))
    gpu_histogram_flight_drain(&self->flight);

  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_EOS:
    report_last_flow(self);
    break;
  case GST_EVENT_STREAM_START:
  case GST_EVENT_CAPS:
  case GST_EVENT_SEGMENT:
    gpu_histogram_flight_forget_flow(&self->flight);
    break;
  default:
    break;
  }
}

static gboolean
sink_event(GstBaseTransform *trans, GstEvent *event)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  gboolean flush_stop = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP;
  gboolean handled;

  prepare_for_event(self, event);
  handled = parent_class->sink_event(trans, event);
  if (flush_stop) {
    gpu_histogram_flight_set_flushing(&self->flight, FALSE);
    if (gst_pad_is_active(GST_BASE_TRANSFORM_SRC_PAD(self)))
      start_output(self);
  }
  return handled;
}

/* After a change downstream, such as a new link, a flow that had stopped may
 * go on. */
static gboolean
src_event(GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    gpu_histogram_flight_forget_flow(&GST_GPU_HISTOGRAM(trans)->flight);
  return parent_class->src_event(trans, event);
}

/* A frame leaves when its own work is done, so nobody has to wait longer for
 * it; upstream may have to, for the frames in flight before. */
static void
add_latency(GstGpuHistogram *self, GstQuery *query)
{
  GstClockTime min, max, held;
  gboolean live;

  gst_query_parse_latency(query, &live, &min, &max);
  GST_OBJECT_LOCK(self);
  held = self->settings.async_depth *
         MIN(self->frame_duration, GST_CLOCK_TIME_NONE / GH_MAX_DEPTH);
  GST_OBJECT_UNLOCK(self);
  if (GST_CLOCK_TIME_IS_VALID(max))
    max = max < GST_CLOCK_TIME_NONE - held ? max + held : GST_CLOCK_TIME_NONE;
  gst_query_set_latency(query, live, min, max);
}

static gboolean
answer_context(GstGpuHistogram *self, GstQuery *query)
{
  GstObject *context = gst_gpu_histogram_get_context(self);
  gboolean answered =
      context && gpu_histogram_cuda_answer(GST_ELEMENT(self), query, context);

  gst_clear_object(&context);
  return answered;
}

static gboolean
answer_query(GstBaseTransform *trans, GstPadDirection direction,
             GstQuery *query)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  gboolean answered;

  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && answer_context(self, query))
    return TRUE;
  if (direction == GST_PAD_SINK) {
    if (GST_QUERY_IS_SERIALIZED(query))
      gpu_histogram_flight_drain(&self->flight);
    return parent_class->query(trans, direction, query);
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_SCHEDULING) {
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return TRUE;
  }
  answered = parent_class->query(trans, direction, query);
  if (answered && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    add_latency(self, query);
  return answered;
}

void
gst_gpu_histogram_stream_init(GstGpuHistogram *self)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(self);

  gpu_histogram_flight_init(&self->flight);
  gst_video_info_init(&self->info);
  self->last_posted = GST_CLOCK_TIME_NONE;
  gst_base_transform_set_passthrough(trans, TRUE);
  gst_pad_set_activatemode_function(GST_BASE_TRANSFORM_SRC_PAD(trans),
                                    src_activate_mode);
}

void
gst_gpu_histogram_stream_class_init(GstBaseTransformClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->submit_input_buffer = submit_input_buffer;
  klass->generate_output = generate_output;
  klass->sink_event = sink_event;
  klass->src_event = src_event;
  klass->query = answer_query;
  klass->propose_allocation = gst_gpu_histogram_propose_allocation;
}
