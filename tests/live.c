/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Live streams against the clock: nothing comes too late. */

#include "testing.h"

static guint64
dropped(GstElement *pipeline)
{
  GstElement *sink = test_child(pipeline, "sink");
  GstStructure *stats = NULL;
  guint64 count = G_MAXUINT64;

  g_object_get(sink, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, "dropped", &count));
  gst_structure_free(stats);
  gst_object_unref(sink);
  return count;
}

static void
get_latency(GstElement *pipeline, GstClockTime *min, GstClockTime *max)
{
  GstQuery *query = gst_query_new_latency();

  fail_unless(gst_element_query(pipeline, query));
  gst_query_parse_latency(query, NULL, min, max);
  gst_query_unref(query);
}

static guint64
play_to_the_end(const gchar *description, GstClockTime *min, GstClockTime *max)
{
  GstElement *pipeline = test_pipeline(description);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message;
  guint64 count;

  test_set_state(pipeline, GST_STATE_PLAYING);
  gst_message_unref(test_bus_pop(bus, GST_MESSAGE_STREAM_START));
  get_latency(pipeline, min, max);
  message = gst_bus_timed_pop_filtered(bus, 30 * GST_SECOND,
                                       GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                           GST_MESSAGE_WARNING);
  fail_unless(message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_message_unref(message);
  count = dropped(pipeline);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return count;
}

/* A frame that waited for the next one would always be late; a machine that
 * is busy elsewhere delays a frame now and then, so this may be tried thrice.
 */
GST_START_TEST(B14_live_frames_are_not_late)
{
  const gchar *without = "videotestsrc is-live=true num-buffers=3 ! "
                         "video/x-raw,format=GRAY8,framerate=30/1 ! "
                         "fakesink name=sink sync=true";
  gchar *with = g_strdup_printf(
      "videotestsrc is-live=true num-buffers=%u ! video/x-raw,format=GRAY8,"
      "width=320,height=240,framerate=30/1 ! gpuhistogram ! fakesink "
      "name=sink sync=true max-lateness=5000000 qos=true",
      test_repeats(300));
  GstClockTime min, max, min_without, max_without;
  guint64 late = G_MAXUINT64;

  play_to_the_end(without, &min_without, &max_without);
  for (guint try = 0; try < 3 && late != 0; try++)
    late = play_to_the_end(with, &min, &max);
  fail_unless_equals_uint64(late, 0);
  fail_unless_equals_uint64(min, min_without);
  fail_unless(max >= min);
  g_free(with);
}
GST_END_TEST;

GST_START_TEST(B14_live_sources_are_mixed)
{
  GstClockTime min, max;

  play_to_the_end("videotestsrc is-live=true num-buffers=60 ! video/x-raw,"
                  "format=I420,width=64,height=48,framerate=30/1 ! "
                  "gpuhistogram ! compositor name=mix ! fakesink name=sink "
                  "sync=true videotestsrc is-live=true num-buffers=60 ! "
                  "video/x-raw,format=I420,width=64,height=48,"
                  "framerate=30/1 ! mix.",
                  &min, &max);
  fail_unless(max >= min);
}
GST_END_TEST;

static void
be_slow(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer unused)
{
  g_usleep(100 * G_TIME_SPAN_MILLISECOND);
}

/* With QoS on, frames are dropped ahead of a slow sink; whatever comes out
 * is measured, and only that is on the bus. */
GST_START_TEST(B14_slow_sink)
{
  gboolean qos = __i__ == 1;
  guint messages, frames = 0, sent = 30;
  gchar *description = g_strdup_printf(
      "videotestsrc is-live=true num-buffers=%u ! video/x-raw,format=GRAY8,"
      "width=64,height=48,framerate=30/1 ! gpuhistogram name=h qos=%d ! "
      "fakesink name=sink sync=true qos=true signal-handoffs=true",
      sent, qos);
  GstElement *pipeline = test_pipeline(description);
  GstElement *sink = test_child(pipeline, "sink");
  TestTap *tap = test_tap_on(pipeline, "h", "src");
  GstMiniObject *object;

  g_signal_connect(sink, "handoff", G_CALLBACK(be_slow), NULL);
  test_set_state(pipeline, GST_STATE_PLAYING);
  messages = test_wait_for_eos(pipeline);
  test_tap_skip_until(tap, GST_EVENT_SEGMENT);
  while (object = test_tap_pop(tap), GST_IS_BUFFER(object)) {
    fail_unless_equals_int(test_count_metas(GST_BUFFER(object)), 1);
    gst_mini_object_unref(object);
    frames++;
  }
  gst_mini_object_unref(object);
  if (qos)
    fail_unless(frames < sent, "no frame was dropped");
  else
    fail_unless_equals_int(frames, sent);
  fail_unless_equals_int(messages, frames);
  test_set_state(pipeline, GST_STATE_NULL);
  test_tap_free(tap);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  g_free(description);
}
GST_END_TEST;

static Suite *
live_suite(void)
{
  Suite *suite = suite_create("live");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, B14_live_frames_are_not_late);
  if (test_have("B14_live_sources_are_mixed", "compositor", NULL))
    tcase_add_test(chain, B14_live_sources_are_mixed);
  tcase_add_loop_test(chain, B14_slow_sink, 0, 2);
  return suite;
}

TEST_MAIN(live)
