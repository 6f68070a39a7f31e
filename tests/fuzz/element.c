/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The element, on the CPU, through any sequence of caps, buffers, events,
 * queries, properties and states. What it takes has to come out, in order, once
 * and exactly counted; what it has to refuse must not; and nothing may stop. */

#include "element.h"

#include "gstgpuhistogram.h"

#define MOST_STEPS 60

/* ---- Starting and stopping ---- */

static void
push_segment(Input *input, Fixture *self)
{
  GstSegment segment;
  guint how = take(input);

  gst_segment_init(&segment, how == 255 ? GST_FORMAT_BYTES : GST_FORMAT_TIME);
  segment.start = (how & 15) * GST_MSECOND;
  if (how & 16)
    segment.rate = how & 32 ? -1.0 : 2.0;
  /* Backwards there has to be one. */
  if (how & 64 || segment.rate < 0.0)
    segment.stop = segment.start + GST_SECOND;
  gst_pad_push_event(self->src, gst_event_new_segment(&segment));
  if (self->flow == GST_FLOW_OK)
    self->tainted = FALSE;
}

/* Pushing says nothing: caps that are refused stay, and fail with a buffer. */
static gboolean
were_taken(Fixture *self, const GstCaps *caps)
{
  GstPad *pad = gst_pad_get_peer(self->src);
  GstCaps *current = gst_pad_get_current_caps(pad);
  gboolean taken = current && gst_caps_is_equal(current, caps);

  gst_clear_caps(&current);
  gst_object_unref(pad);
  return taken;
}

static void
push_caps(Input *input, Fixture *self)
{
  gboolean refused;
  GstCaps *caps = take_caps(input, &refused);

  gst_pad_push_event(self->src, gst_event_new_caps(caps));
  self->negotiated = were_taken(self, caps);
  CHECK(!self->negotiated || !refused, "caps were taken");
  if (self->negotiated)
    CHECK(gst_video_info_from_caps(&self->info, caps), "caps");
  gst_caps_unref(caps);
}

static void
push_stream_start(Fixture *self)
{
  gst_pad_push_event(self->src, gst_event_new_stream_start("fuzz"));
  self->ended = FALSE;
}

static void
begin_stream(Input *input, Fixture *self)
{
  self->ended = self->flushing = self->tainted = FALSE;
  fixture_activate(self);
  push_stream_start(self);
  push_caps(input, self);
  push_segment(input, self);
}

static void
go_up(Input *input, Fixture *self, GstState state)
{
  gboolean was_running = self->running;

  self->flow = GST_FLOW_OK;
  if (!was_running)
    g_object_get(self->element, "bins", &self->bins, NULL);
  self->running =
      gst_element_set_state(self->element, state) != GST_STATE_CHANGE_FAILURE;
  if (!self->running)
    gst_element_set_state(self->element, GST_STATE_NULL);
  else if (!was_running)
    begin_stream(input, self);
}

static void
go_down(Fixture *self, GstState state)
{
  fixture_release(self);
  CHECK(gst_element_set_state(self->element, state) == GST_STATE_CHANGE_SUCCESS,
        "%s", gst_element_state_get_name(state));
  fixture_forbid(self);
  self->running = FALSE;
}

static void
change_state(Input *input, Fixture *self)
{
  guint which = take(input) % 8;

  if (which == 0)
    go_down(self, GST_STATE_NULL);
  else if (which == 1)
    go_down(self, GST_STATE_READY);
  else
    go_up(input, self, which & 1 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
}

/* ---- Buffers ---- */

/* What is to become of the frame; returns whether it has to be taken. */
static gboolean
announce(Fixture *self, Frame *frame, GstBuffer *buffer)
{
  gboolean open =
      self->running && self->negotiated && !self->flushing && !self->ended;

  g_mutex_lock(&self->lock);
  *frame = (Frame){.pushed = TRUE, .forbidden = !open};
  frame->measured = open && self->attaches && is_whole(buffer, &self->info);
  g_mutex_unlock(&self->lock);
  return open;
}

static void
push_buffer(Input *input, Fixture *self)
{
  GstBuffer *buffer;
  GstFlowReturn flow;
  gboolean open;
  guint number = self->n_frames;

  if (number == MOST_FRAMES || !self->info.finfo ||
      GST_VIDEO_INFO_FORMAT(&self->info) == GST_VIDEO_FORMAT_UNKNOWN)
    return;
  buffer = take_buffer(input, &self->info);
  GST_BUFFER_OFFSET(buffer) = number;
  if (take(input) != 255)
    GST_BUFFER_PTS(buffer) = number * 40 * GST_MSECOND;
  open = announce(self, &self->frames[number], buffer);
  self->n_frames++;
  if (take(input) & 1)
    gst_buffer_replace(&self->held, buffer);
  flow = gst_pad_push(self->src, buffer);
  CHECK(open || flow != GST_FLOW_OK, "frame %u was taken", number);
  CHECK(!open || self->tainted || flow == GST_FLOW_OK, "frame %u: %s", number,
        gst_flow_get_name(flow));
  /* Not before, as events that are due go ahead of it. */
  g_mutex_lock(&self->lock);
  self->frames[number].owed = open && !self->tainted && !self->qos;
  g_mutex_unlock(&self->lock);
}

static void
push_buffers(Input *input, Fixture *self)
{
  const uint8_t *at = input->at;
  size_t left = input->left;
  guint n = 1 + take(input) % 6;

  for (guint i = 0; i < n; i++) {
    push_buffer(input, self);
    /* The same again, of which several can be in flight. */
    if (i + 1 < n) {
      input->at = at + (left > 0);
      input->left = left - (left > 0);
    }
  }
}

/* Whatever has failed downstream may cost frames that are in flight. */
static void
change_downstream(Input *input, Fixture *self)
{
  static const GstFlowReturn flows[] = {
      GST_FLOW_OK,         GST_FLOW_OK,    GST_FLOW_OK,       GST_FLOW_OK,
      GST_FLOW_NOT_LINKED, GST_FLOW_ERROR, GST_FLOW_FLUSHING, GST_FLOW_EOS};
  guint which = take(input), delay = take(input);
  GstFlowReturn flow = flows[which % G_N_ELEMENTS(flows)];

  if (flow != GST_FLOW_OK) {
    fixture_release(self);
    self->tainted = TRUE;
  }
  g_mutex_lock(&self->lock);
  self->flow = flow;
  self->delay_us = delay * 4;
  g_mutex_unlock(&self->lock);
}

/* ---- Events ---- */

static void
start_flush(Fixture *self)
{
  fixture_release(self);
  gst_pad_push_event(self->src, gst_event_new_flush_start());
  self->flushing = TRUE;
}

static void
stop_flush(Input *input, Fixture *self)
{
  fixture_release(self);
  gst_pad_push_event(self->src, gst_event_new_flush_stop(take(input) & 1));
  fixture_forbid(self);
  self->flushing = self->ended = FALSE;
  push_segment(input, self);
}

static void
push_custom(Input *input, Fixture *self)
{
  static const GstEventType types[] = {
      GST_EVENT_CUSTOM_DOWNSTREAM, GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
      GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, GST_EVENT_CUSTOM_BOTH,
      GST_EVENT_CUSTOM_BOTH_OOB};
  GstEventType type = types[take(input) % G_N_ELEMENTS(types)];

  gst_pad_push_event(self->src,
                     gst_event_new_custom(type, gst_structure_new_empty("x")));
}

static void
end(Fixture *self)
{
  gst_pad_push_event(self->src, gst_event_new_eos());
  fixture_check_drained(self, "the end");
  self->ended = TRUE;
}

static void
push_event(Input *input, Fixture *self)
{
  switch (take(input) % 8) {
  case 0:
    push_caps(input, self);
    break;
  case 1:
    push_segment(input, self);
    break;
  case 2:
    gst_pad_push_event(self->src, gst_event_new_gap(0, GST_SECOND));
    break;
  case 3:
    gst_pad_push_event(self->src, gst_event_new_tag(gst_tag_list_new_empty()));
    break;
  case 4:
    end(self);
    break;
  default:
    push_custom(input, self);
    break;
  }
}

static void
push_any_event(Input *input, Fixture *self)
{
  guint which = take(input) % 8;

  if (!self->running)
    return;
  if (self->flushing || which == 0) {
    if (!self->flushing)
      start_flush(self);
    if (which < 5)
      stop_flush(input, self);
  } else if (self->ended) {
    push_stream_start(self);
    push_caps(input, self);
    push_segment(input, self);
  } else {
    push_event(input, self);
  }
}

static void
send_upstream(Input *input, Fixture *self)
{
  guint which = take(input) % 4;
  GstEvent *event;

  if (which == 0)
    event = gst_event_new_reconfigure();
  else if (which == 1)
    event = gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND,
                              take(input) * 40 * GST_MSECOND);
  else if (which == 2)
    event = gst_event_new_latency(take(input) * GST_MSECOND);
  else
    event = gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                               GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
  gst_pad_push_event(self->sink, event);
}

/* ---- Queries ---- */

static void
check_allocation(GstQuery *query)
{
  guint size, min, max;
  GstBufferPool *pool;

  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); i++) {
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    CHECK(max == 0 || min <= max, "%u, %u", min, max);
    gst_clear_object(&pool);
  }
}

static GstQuery *
take_query(Input *input, Fixture *self)
{
  guint which = take(input) % 8;
  gboolean refused;
  GstCaps *caps;
  GstQuery *query;

  switch (which) {
  case 0:
    return gst_query_new_drain();
  case 1:
    return gst_query_new_latency();
  case 2:
    return gst_query_new_position(GST_FORMAT_TIME);
  case 3:
    return gst_query_new_scheduling();
  case 4:
    return gst_query_new_context("any");
  case 5:
    return gst_query_new_caps(NULL);
  default:
    caps = take_caps(input, &refused);
    query = which == 6 ? gst_query_new_accept_caps(caps)
                       : gst_query_new_allocation(caps, take(input) & 1);
    gst_caps_unref(caps);
    return query;
  }
}

static void
ask(Input *input, Fixture *self)
{
  GstQuery *query = take_query(input, self);
  GstClockTime min, max;
  gboolean live;

  if (GST_QUERY_IS_DOWNSTREAM(query) &&
      (!GST_QUERY_IS_UPSTREAM(query) || take(input) & 1))
    gst_pad_peer_query(self->src, query);
  else if (gst_pad_peer_query(self->sink, query) &&
           GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) {
    gst_query_parse_latency(query, &live, &min, &max);
    CHECK(min <= max, "latency");
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    check_allocation(query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN && self->running &&
      !self->flushing)
    fixture_check_drained(self, "drained");
  gst_query_unref(query);
}

/* ---- The fuzzer ---- */

static void
read_bus(Fixture *self)
{
  GstMessage *message;

  while ((message = gst_bus_pop(self->bus)))
    gst_message_unref(message);
}

static void
do_step(Input *input, Fixture *self)
{
  switch (take(input) % 16) {
  case 0:
    change_state(input, self);
    break;
  case 1:
  case 2:
    push_any_event(input, self);
    break;
  case 3:
    ask(input, self);
    break;
  case 4:
  case 5:
  case 6:
    take_property(input, self);
    break;
  case 7:
    change_downstream(input, self);
    break;
  case 8:
    send_upstream(input, self);
    break;
  case 9:
    read_bus(self);
    break;
  default:
    push_buffers(input, self);
    break;
  }
}

/* GLib would end the program in a way that libFuzzer does not see. */
static void
log_or_abort(const gchar *domain, GLogLevelFlags level, const gchar *text,
             gpointer unused)
{
  fprintf(stderr, "%s: %s\n", domain ? domain : "", text);
  if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR))
    abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  /* Nothing but this one element, which is part of the program. */
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init(NULL, NULL);
  g_log_set_default_handler(log_or_abort, NULL);
  /* What a thread holds while it ends looks like a leak. */
  g_thread_pool_set_max_unused_threads(-1);
  g_thread_pool_set_max_idle_time(0);
  CHECK(GST_ELEMENT_REGISTER(gpuhistogram, NULL), "no element");
  check_properties_are_known();
  return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Input input = {data, size};
  Fixture fixture;

  fixture_open(&fixture);
  for (guint i = take(&input) % 8; i > 0; i--)
    take_property(&input, &fixture);
  go_up(&input, &fixture, GST_STATE_PLAYING);
  for (guint i = 0; i < MOST_STEPS && input.left > 0; i++)
    do_step(&input, &fixture);
  if (fixture.running && !fixture.flushing && !fixture.ended)
    end(&fixture);
  go_down(&fixture, GST_STATE_NULL);
  fixture_close(&fixture);
  return 0;
}
