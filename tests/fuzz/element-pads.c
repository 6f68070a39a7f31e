/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The pads around the element: what comes out is noted and checked here. */

#include "element.h"

/* ---- Frames ---- */

void
fixture_release(Fixture *self)
{
  g_mutex_lock(&self->lock);
  for (guint i = 0; i < self->n_frames; i++)
    self->frames[i].owed = FALSE;
  g_mutex_unlock(&self->lock);
}

void
fixture_forbid(Fixture *self)
{
  fixture_release(self);
  g_mutex_lock(&self->lock);
  for (guint i = 0; i < self->n_frames; i++)
    self->frames[i].forbidden = TRUE;
  g_mutex_unlock(&self->lock);
}

void
fixture_check_drained(Fixture *self, const gchar *when)
{
  g_mutex_lock(&self->lock);
  for (guint i = 0; i < self->n_frames; i++)
    CHECK(!self->frames[i].owed || self->frames[i].out, "frame %u, %s", i,
          when);
  g_mutex_unlock(&self->lock);
}

/* ---- Downstream ---- */

static void
note_frame(Fixture *self, GstBuffer *buffer)
{
  guint64 number = GST_BUFFER_OFFSET(buffer);
  Frame *frame;

  CHECK(number < MOST_FRAMES && self->frames[number].pushed,
        "%" G_GUINT64_FORMAT, number);
  frame = &self->frames[number];
  CHECK(number >= self->next, "frame %" G_GUINT64_FORMAT " after %u", number,
        self->next);
  CHECK(!frame->forbidden, "frame %" G_GUINT64_FORMAT, number);
  for (guint i = self->next; i < number; i++)
    CHECK(!self->frames[i].owed, "frame %u was left out", i);
  self->next = (guint)number + 1;
  frame->out = TRUE;
  check_buffer(buffer, &self->out_info, self->bins, frame->measured);
}

static GstFlowReturn
sink_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Fixture *self = gst_pad_get_element_private(pad);
  GstFlowReturn flow;
  guint delay_us;

  g_mutex_lock(&self->lock);
  delay_us = self->delay_us;
  note_frame(self, buffer);
  flow = self->flow;
  g_mutex_unlock(&self->lock);
  gst_buffer_unref(buffer);
  if (delay_us > 0)
    g_usleep(delay_us);
  return flow;
}

static gboolean
sink_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  Fixture *self = gst_pad_get_element_private(pad);
  GstCaps *caps;

  if (GST_EVENT_IS_SERIALIZED(event) &&
      GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
    fixture_check_drained(self, GST_EVENT_TYPE_NAME(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    gst_event_parse_caps(event, &caps);
    g_mutex_lock(&self->lock);
    CHECK(gst_video_info_from_caps(&self->out_info, caps), "caps");
    g_mutex_unlock(&self->lock);
  }
  gst_event_unref(event);
  return TRUE;
}

static gboolean
sink_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  Fixture *self = gst_pad_get_element_private(pad);

  if (GST_QUERY_IS_SERIALIZED(query))
    fixture_check_drained(self, GST_QUERY_TYPE_NAME(query));
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN ||
      GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    return TRUE;
  return gst_pad_query_default(pad, parent, query);
}

/* ---- Upstream ---- */

static gboolean
src_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_LATENCY:
    gst_query_set_latency(query, TRUE, GST_MSECOND, GST_CLOCK_TIME_NONE - 1);
    return TRUE;
  case GST_QUERY_POSITION:
    gst_query_set_position(query, GST_FORMAT_TIME, 0);
    return TRUE;
  default:
    return gst_pad_query_default(pad, parent, query);
  }
}

/* ---- The fixture ---- */

static GstPad *
add_pad(Fixture *self, GstPadDirection direction)
{
  GstPad *pad = gst_pad_new(NULL, direction);
  gboolean is_src = direction == GST_PAD_SRC;
  GstPad *peer =
      gst_element_get_static_pad(self->element, is_src ? "sink" : "src");

  gst_pad_set_element_private(pad, self);
  CHECK((is_src ? gst_pad_link(pad, peer) : gst_pad_link(peer, pad)) ==
            GST_PAD_LINK_OK,
        "%s", GST_PAD_NAME(peer));
  gst_object_unref(peer);
  return pad;
}

void
fixture_open(Fixture *self)
{
  *self = (Fixture){.attaches = TRUE, .bins = 256};
  g_mutex_init(&self->lock);
  gst_video_info_init(&self->info);
  gst_video_info_init(&self->out_info);
  self->element = gst_element_factory_make("gpuhistogram", NULL);
  CHECK(self->element, "no element");
  gst_object_ref_sink(self->element);
  gst_util_set_object_arg(G_OBJECT(self->element), "engine", "cpu");
  self->bus = gst_bus_new();
  gst_element_set_bus(self->element, self->bus);
  self->src = add_pad(self, GST_PAD_SRC);
  self->sink = add_pad(self, GST_PAD_SINK);
  gst_pad_set_query_function(self->src, src_query);
  gst_pad_set_query_function(self->sink, sink_query);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_chain_function(self->sink, sink_chain);
}

void
fixture_activate(Fixture *self)
{
  gst_pad_set_active(self->src, FALSE);
  gst_pad_set_active(self->sink, FALSE);
  gst_pad_set_active(self->src, TRUE);
  gst_pad_set_active(self->sink, TRUE);
}

void
fixture_close(Fixture *self)
{
  gst_element_set_state(self->element, GST_STATE_NULL);
  gst_pad_set_active(self->src, FALSE);
  gst_pad_set_active(self->sink, FALSE);
  gst_element_set_bus(self->element, NULL);
  gst_bus_set_flushing(self->bus, TRUE);
  gst_object_unref(self->bus);
  gst_clear_buffer(&self->held);
  CHECK(GST_OBJECT_REFCOUNT_VALUE(self->element) == 1, "%d",
        GST_OBJECT_REFCOUNT_VALUE(self->element));
  gst_object_unref(self->element);
  gst_object_unref(self->src);
  gst_object_unref(self->sink);
  g_mutex_clear(&self->lock);
}
