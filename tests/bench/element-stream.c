/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One element between two pads of our own, and nothing else. */

#include "element.h"

#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

#define PATIENCE (10 * G_TIME_SPAN_SECOND)
#define FRAME_DURATION (GST_SECOND / 60)

struct BenchStream {
  GstElement *element;
  GstBus *bus;
  GstPad *before, *after; /* ours */
  guint64 pixels;         /* of a frame */
  gboolean verify;
  guint64 n_pushed; /* main thread */

  /* Of the thread that pushes the element's buffers, and of whoever knows
   * that it has none. */
  guint64 n_wrong;
  gchar *first_wrong;

  GMutex lock;
  GCond changed;
  guint64 n_arrived, awaited; /* with the lock */
  gboolean ended;             /* with the lock */
};

static void
note_wrong(BenchStream *stream, guint64 number, const gchar *fault,
           guint64 found, guint64 expected)
{
  if (stream->n_wrong++ == 0)
    stream->first_wrong =
        g_strdup_printf("frame %" G_GUINT64_FORMAT ": %s %" G_GUINT64_FORMAT
                        " instead of %" G_GUINT64_FORMAT,
                        number, fault, found, expected);
}

static void
check_meta(BenchStream *stream, GstBuffer *buffer, guint64 number)
{
  GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);
  guint64 sum = stream->pixels * BENCH_FLAT_LEVEL(number);

  if (!meta)
    note_wrong(stream, number, "metas", 0, 1);
  else if (meta->frame != number)
    note_wrong(stream, number, "number", meta->frame, number);
  else if (meta->pixels != stream->pixels)
    note_wrong(stream, number, "pixels", meta->pixels, stream->pixels);
  else if (meta->sum != sum)
    note_wrong(stream, number, "sum", meta->sum, sum);
  else if (meta->bins[BENCH_FLAT_LEVEL(number)] != stream->pixels)
    note_wrong(stream, number, "samples in its bin",
               meta->bins[BENCH_FLAT_LEVEL(number)], stream->pixels);
}

static GstFlowReturn
take_buffer(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  BenchStream *stream = gst_pad_get_element_private(pad);

  /* Only this thread changes the number. */
  if (stream->verify)
    check_meta(stream, buffer, stream->n_arrived);
  gst_buffer_unref(buffer);
  g_mutex_lock(&stream->lock);
  if (++stream->n_arrived == stream->awaited)
    g_cond_signal(&stream->changed);
  g_mutex_unlock(&stream->lock);
  return GST_FLOW_OK;
}

static gboolean
take_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  BenchStream *stream = gst_pad_get_element_private(pad);

  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    g_mutex_lock(&stream->lock);
    stream->ended = TRUE;
    g_cond_signal(&stream->changed);
    g_mutex_unlock(&stream->lock);
  }
  gst_event_unref(event);
  return TRUE;
}

/* Like a sink that can do whatever the element wants to propose. */
static gboolean
answer_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default(pad, parent, query);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* Messages are made and go no further. */
static GstBusSyncReply
take_message(GstBus *bus, GstMessage *message, gpointer data)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &error, NULL);
  if (error)
    g_printerr("%s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
  g_clear_error(&error);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

static gboolean
has_property(GstElement *element, const gchar *name)
{
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) !=
         NULL;
}

static const gchar *
set_up_histogram(GstElement *element, const BenchCase *what)
{
  gboolean off = what->way == BENCH_WAY_UNREGISTERED;

  gst_util_set_object_arg(G_OBJECT(element), "engine", what->engine);
  g_object_set(element, "post-messages", what->messages, NULL);
  if (what->async_depth > 0)
    g_object_set(element, "async-depth", what->async_depth, NULL);
  if (has_property(element, "register-memory")) {
    if (off || what->way == BENCH_WAY_RECYCLED)
      gst_util_set_object_arg(G_OBJECT(element), "register-memory",
                              off ? "false" : "true");
  } else if (off) {
    return "no property register-memory";
  }
  if (what->way == BENCH_WAY_CUDA)
    bench_cuda_share_context(element);
  return NULL;
}

static gboolean
takes_caps(GstElement *element, GstCaps *caps)
{
  GstPad *pad = gst_element_get_static_pad(element, "sink");
  GstCaps *known = gst_pad_get_pad_template_caps(pad);
  gboolean takes = gst_caps_can_intersect(known, caps);

  gst_caps_unref(known);
  gst_object_unref(pad);
  return takes;
}

static const gchar *
make_element(BenchStream *stream, const BenchCase *what, GstCaps *caps,
             BenchOutcome *outcome)
{
  gboolean histogram = g_str_equal(what->element, BENCH_HISTOGRAM);

  stream->element = gst_element_factory_make(what->element, NULL);
  if (!stream->element) {
    /* Its peers may well be absent. */
    if (histogram)
      *outcome = BENCH_FAILED;
    return "no such element";
  }
  gst_object_ref_sink(stream->element);
  if (!takes_caps(stream->element, caps))
    return what->way == BENCH_WAY_CUDA ? "takes no CUDAMemory"
                                       : "does not take the format";
  return histogram ? set_up_histogram(stream->element, what) : NULL;
}

static void
make_pads(BenchStream *stream)
{
  GstPad *sink = gst_element_get_static_pad(stream->element, "sink");
  GstPad *src = gst_element_get_static_pad(stream->element, "src");

  stream->before = gst_object_ref_sink(gst_pad_new("before", GST_PAD_SRC));
  stream->after = gst_object_ref_sink(gst_pad_new("after", GST_PAD_SINK));
  gst_pad_set_element_private(stream->after, stream);
  gst_pad_set_chain_function(stream->after, take_buffer);
  gst_pad_set_event_function(stream->after, take_event);
  gst_pad_set_query_function(stream->after, answer_query);
  gst_pad_link(stream->before, sink);
  gst_pad_link(src, stream->after);
  gst_object_unref(src);
  gst_object_unref(sink);
}

static gboolean
start(BenchStream *stream, GstCaps *caps)
{
  GstSegment segment;

  stream->bus = gst_bus_new();
  gst_bus_set_sync_handler(stream->bus, take_message, NULL, NULL);
  gst_element_set_bus(stream->element, stream->bus);
  make_pads(stream);
  gst_pad_set_active(stream->after, TRUE);
  if (gst_element_set_state(stream->element, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    return FALSE;
  gst_pad_set_active(stream->before, TRUE);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return gst_pad_push_event(stream->before,
                            gst_event_new_stream_start("bench")) &&
         gst_pad_push_event(stream->before, gst_event_new_caps(caps)) &&
         gst_pad_push_event(stream->before, gst_event_new_segment(&segment));
}

BenchStream *
bench_stream_new(const BenchCase *what, GstCaps *caps, BenchOutcome *outcome,
                 gchar **why)
{
  BenchStream *stream = g_new0(BenchStream, 1);
  const gchar *reason;

  g_mutex_init(&stream->lock);
  g_cond_init(&stream->changed);
  stream->pixels = (guint64)what->width * what->height;
  stream->verify = what->verify && g_str_equal(what->element, BENCH_HISTOGRAM);
  *outcome = BENCH_SKIPPED;
  reason = make_element(stream, what, caps, outcome);
  if (!reason && !start(stream, caps)) {
    *outcome = BENCH_FAILED;
    reason = "does not start";
  }
  if (!reason)
    return stream;
  *why = g_strdup(reason);
  bench_stream_free(stream);
  return NULL;
}

static void
drop_pad(GstPad **pad)
{
  if (*pad)
    gst_pad_set_active(*pad, FALSE);
  gst_clear_object(pad);
}

void
bench_stream_free(BenchStream *stream)
{
  if (stream->element) {
    gst_element_set_state(stream->element, GST_STATE_NULL);
    gst_element_set_bus(stream->element, NULL);
  }
  drop_pad(&stream->before);
  drop_pad(&stream->after);
  gst_clear_object(&stream->element);
  gst_clear_object(&stream->bus);
  g_free(stream->first_wrong);
  g_cond_clear(&stream->changed);
  g_mutex_clear(&stream->lock);
  g_free(stream);
}

GstElement *
bench_stream_get_element(BenchStream *stream)
{
  return stream->element;
}

GstPad *
bench_stream_get_pad(BenchStream *stream)
{
  return stream->before;
}

guint64
bench_stream_get_n_pushed(BenchStream *stream)
{
  return stream->n_pushed;
}

gboolean
bench_stream_push(BenchStream *stream, BenchSource *source)
{
  GstBuffer *buffer = bench_source_next(source, stream->n_pushed);
  GstFlowReturn flow;

  if (!buffer) {
    g_printerr("no further buffer\n");
    return FALSE;
  }
  GST_BUFFER_PTS(buffer) = stream->n_pushed * FRAME_DURATION;
  GST_BUFFER_DURATION(buffer) = FRAME_DURATION;
  stream->n_pushed++;
  flow = gst_pad_push(stream->before, buffer);
  if (flow != GST_FLOW_OK)
    g_printerr("frame %" G_GUINT64_FORMAT ": %s\n", stream->n_pushed - 1,
               gst_flow_get_name(flow));
  return flow == GST_FLOW_OK;
}

gboolean
bench_stream_wait(BenchStream *stream)
{
  gint64 end = g_get_monotonic_time() + PATIENCE;
  gboolean in_time = TRUE;

  g_mutex_lock(&stream->lock);
  stream->awaited = stream->n_pushed;
  while (in_time && stream->n_arrived < stream->awaited)
    in_time = g_cond_wait_until(&stream->changed, &stream->lock, end);
  stream->awaited = 0;
  g_mutex_unlock(&stream->lock);
  return in_time;
}

static gboolean
end_stream(BenchStream *stream)
{
  gint64 end = g_get_monotonic_time() + PATIENCE;
  gboolean in_time = TRUE;

  gst_pad_push_event(stream->before, gst_event_new_eos());
  g_mutex_lock(&stream->lock);
  while (in_time && !stream->ended)
    in_time = g_cond_wait_until(&stream->changed, &stream->lock, end);
  g_mutex_unlock(&stream->lock);
  return in_time;
}

gchar *
bench_stream_finish(BenchStream *stream)
{
  if (!end_stream(stream))
    return g_strdup("EOS did not come out");
  if (stream->n_arrived != stream->n_pushed)
    return g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                           " frames came out",
                           stream->n_arrived, stream->n_pushed);
  if (stream->n_wrong > 0)
    return g_strdup_printf(
        "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames are wrong; %s",
        stream->n_wrong, stream->n_pushed, stream->first_wrong);
  return NULL;
}
