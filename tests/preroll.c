/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A single frame goes all the way: none waits for the next one. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define PIPELINE(source, sink)                        \
  "appsrc name=src format=time caps=" CAPS " " source \
  " ! gpuhistogram name=h ! fakesink name=sink " sink

static GstVideoInfo info;

/* The message has to come within two seconds of now. */
static void
wait_for(GstElement *pipeline, GstMessageType type)
{
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 2 * GST_SECOND, type | GST_MESSAGE_ERROR);

  fail_unless(message != NULL && GST_MESSAGE_TYPE(message) == type,
              "no %s within two seconds", gst_message_type_get_name(type));
  gst_message_unref(message);
  gst_object_unref(bus);
}

static void
check_last_sample(GstElement *pipeline, guint value)
{
  GstElement *sink = test_child(pipeline, "sink");
  GstSample *sample = NULL;

  g_object_get(sink, "last-sample", &sample, NULL);
  fail_unless(sample != NULL);
  test_check_flat(gst_sample_get_buffer(sample), value, 64 * 48);
  gst_sample_unref(sample);
  gst_object_unref(sink);
}

static void
finish(GstElement *pipeline)
{
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static gboolean
seek_data(GstElement *source, guint64 position, gpointer unused)
{
  return TRUE;
}

static GstElement *
pause_with_one_frame(const gchar *description)
{
  GstElement *pipeline = test_pipeline(description);
  GstElement *source = test_child(pipeline, "src");

  g_signal_connect(source, "seek-data", G_CALLBACK(seek_data), NULL);
  gst_object_unref(source);
  test_video_info(&info, CAPS);
  fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_PAUSED),
                         GST_STATE_CHANGE_ASYNC);
  test_app_push(pipeline, test_frame_flat(&info, 10, 0));
  return pipeline;
}

GST_START_TEST(B02_one_frame_prerolls)
{
  GstElement *pipeline = pause_with_one_frame(PIPELINE("", "sync=false"));

  wait_for(pipeline, GST_MESSAGE_ASYNC_DONE);
  check_last_sample(pipeline, 10);
  finish(pipeline);
}
GST_END_TEST;

GST_START_TEST(B02_one_frame_after_a_seek_in_paused)
{
  GstElement *pipeline =
      pause_with_one_frame(PIPELINE("stream-type=seekable", "sync=false"));

  wait_for(pipeline, GST_MESSAGE_ASYNC_DONE);
  for (guint round = 0; round < 20; round++) {
    fail_unless(gst_element_seek_simple(pipeline, GST_FORMAT_TIME,
                                        GST_SEEK_FLAG_FLUSH, 0));
    test_app_push(pipeline, test_frame_flat(&info, (guint8)round, 0));
    wait_for(pipeline, GST_MESSAGE_ASYNC_DONE);
    check_last_sample(pipeline, round);
  }
  finish(pipeline);
}
GST_END_TEST;

GST_START_TEST(B02_rare_live_frames_leave_at_once)
{
  GstElement *pipeline = test_pipeline(PIPELINE("is-live=true", "sync=false"));
  TestTap *tap = test_tap_on(pipeline, "sink", "sink");

  test_video_info(&info, CAPS);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  /* Each frame is pushed only when the one before has arrived. */
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = test_frame_flat(&info, (guint8)i, 75 * i);
    gint64 start = g_get_monotonic_time();

    test_app_push(pipeline, buffer);
    if (i == 0)
      test_tap_skip_until(tap, GST_EVENT_SEGMENT);
    buffer = test_tap_pop_buffer(tap);
    fail_unless(g_get_monotonic_time() - start < test_two_seconds());
    test_check_flat(buffer, i, 64 * 48);
    gst_buffer_unref(buffer);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  test_tap_free(tap);
  gst_object_unref(pipeline);
}
GST_END_TEST;

GST_START_TEST(B02_one_frame_and_the_end)
{
  GstElement *pipeline = pause_with_one_frame(PIPELINE("", "sync=true"));

  test_app_end(pipeline);
  wait_for(pipeline, GST_MESSAGE_ASYNC_DONE);
  check_last_sample(pipeline, 10);
  test_set_state(pipeline, GST_STATE_PLAYING);
  wait_for(pipeline, GST_MESSAGE_EOS);
  finish(pipeline);
}
GST_END_TEST;

GST_START_TEST(no_frame_and_the_end)
{
  GstElement *pipeline = test_pipeline(PIPELINE("", "sync=false"));

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  test_app_end(pipeline);
  wait_for(pipeline, GST_MESSAGE_EOS);
  finish(pipeline);
}
GST_END_TEST;

static Suite *
preroll_suite(void)
{
  Suite *suite = suite_create("preroll");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B02_one_frame_prerolls);
  tcase_add_test(chain, B02_one_frame_after_a_seek_in_paused);
  tcase_add_test(chain, B02_rare_live_frames_leave_at_once);
  tcase_add_test(chain, B02_one_frame_and_the_end);
  tcase_add_test(chain, no_frame_and_the_end);
  return suite;
}

TEST_MAIN(preroll)
