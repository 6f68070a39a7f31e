/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A flush drops what is held, returns at once, and keeps the caps. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define OTHER "video/x-raw,format=NV12,width=320,height=482,framerate=50/1"
#define PIXELS (640 * 480)

static void
flush_start(TestFixture *f)
{
  gint64 start = g_get_monotonic_time();

  gst_harness_push_event(f->harness, gst_event_new_flush_start());
  fail_unless(g_get_monotonic_time() - start < 200 * G_TIME_SPAN_MILLISECOND,
              "FLUSH_START took too long");
}

/* Ends the flush; what follows is new. Returns how many histograms were still
 * posted of what was before. */
static guint
flush_stop(TestFixture *f)
{
  gst_harness_push_event(f->harness, gst_event_new_flush_stop(TRUE));
  test_tap_skip_until(f->tap, GST_EVENT_FLUSH_STOP);
  fail_unless_equals_int(test_tap_count(f->tap), 0);
  return test_bus_take(f->bus, GST_MESSAGE_ELEMENT);
}

/* Three frames of the new segment and the end, and nothing else. */
static void
check_new_segment(TestFixture *f)
{
  gchar *text;

  test_fixture_start_segment(f);
  for (guint i = 0; i < 3; i++)
    test_fixture_push(f, test_frame_flat(&f->info, 200, i));
  gst_harness_push_event(f->harness, gst_event_new_eos());
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f->tap);
    GstMessage *message = test_bus_pop_histogram(f->bus);

    test_check_flat(buffer, 200, PIXELS);
    fail_unless_equals_uint64(test_message_uint64(message, "sum"),
                              200 * PIXELS);
    gst_message_unref(message);
    gst_buffer_unref(buffer);
  }
  text = test_tap_take_text(f->tap);
  fail_unless_equals_string(text, "eos");
  g_free(text);
  fail_unless_equals_int(test_bus_take(f->bus, GST_MESSAGE_ELEMENT), 0);
}

static TestPusher *
push_old_frames(TestFixture *f)
{
  return test_pusher_new(f, test_frame_flat(&f->info, 10, 0),
                         test_frame_flat(&f->info, 10, 1),
                         test_frame_flat(&f->info, 10, 2), NULL);
}

GST_START_TEST(B05_nothing_old_comes_after_a_flush)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  for (guint round = 0; round < test_repeats(200); round++) {
    TestPusher *pusher = push_old_frames(&f);

    /* So that the flush falls into any phase of the frames' way. */
    g_usleep((gulong)g_rand_int_range(random, 0, 1000));
    flush_start(&f);
    test_pusher_join(pusher);
    flush_stop(&f);
    check_new_segment(&f);
    gst_harness_push_event(f.harness, gst_event_new_flush_start());
    flush_stop(&f);
    test_fixture_start_segment(&f);
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

static GstEvent *
caps_event(const gchar *text)
{
  GstCaps *caps = gst_caps_from_string(text);
  GstEvent *event = gst_event_new_caps(caps);

  gst_caps_unref(caps);
  return event;
}

/* Caps that wait for frames before them are let go by the flush, while the
 * frames may still be on their way. */
GST_START_TEST(B05_flush_while_caps_wait)
{
  GRand *random = test_random();
  GstVideoInfo other;
  TestFixture f;

  test_video_info(&other, OTHER);
  test_fixture_setup(&f, CAPS, NULL);
  for (guint round = 0; round < test_repeats(200); round++) {
    TestPusher *pusher = test_pusher_new(
        &f, test_frame_flat(&f.info, 10, 0), test_frame_flat(&f.info, 10, 1),
        caps_event(OTHER), test_frame_flat(&other, 10, 2),
        test_frame_flat(&other, 10, 3), caps_event(CAPS),
        test_frame_flat(&f.info, 10, 4), NULL);

    g_usleep((gulong)g_rand_int_range(random, 0, 1000));
    flush_start(&f);
    test_pusher_join(pusher);
    flush_stop(&f);
    gst_harness_push_event(f.harness, caps_event(CAPS));
    check_new_segment(&f);
    gst_harness_push_event(f.harness, gst_event_new_flush_start());
    flush_stop(&f);
    test_fixture_start_segment(&f);
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

static TestPusher *
push_too_many_frames(TestFixture *f)
{
  return test_pusher_new(
      f, test_frame_flat(&f->info, 10, 0), test_frame_flat(&f->info, 10, 1),
      test_frame_flat(&f->info, 10, 2), test_frame_flat(&f->info, 10, 3),
      test_frame_flat(&f->info, 10, 4), NULL);
}

static TestPusher *
push_frames_and_end(TestFixture *f)
{
  return test_pusher_new(f, test_frame_flat(&f->info, 10, 0),
                         test_frame_flat(&f->info, 10, 1), gst_event_new_eos(),
                         NULL);
}

static TestPusher *
push_frames_and_caps(TestFixture *f)
{
  return test_pusher_new(f, test_frame_flat(&f->info, 10, 0),
                         test_frame_flat(&f->info, 10, 1), caps_event(CAPS),
                         NULL);
}

static TestPusher *
push_frames_and_query(TestFixture *f)
{
  return test_pusher_new(f, test_frame_flat(&f->info, 10, 0),
                         test_frame_flat(&f->info, 10, 1),
                         gst_query_new_drain(), NULL);
}

static TestPusher *(*const pushes[])(TestFixture *) = {
    push_too_many_frames, push_frames_and_end, push_frames_and_caps,
    push_frames_and_query};

static GstPadProbeReturn
stay_blocked(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  return GST_PAD_PROBE_OK;
}

/* Downstream takes nothing, and the streaming thread waits for it. */
GST_START_TEST(B05_flush_while_downstream_blocks)
{
  TestFixture f;
  gulong block;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_clear(f.tap);
  block = gst_pad_add_probe(
      f.harness->sinkpad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
      stay_blocked, NULL, NULL);
  for (guint round = 0; round < test_repeats(50); round++) {
    TestPusher *pusher = pushes[__i__](&f);

    gst_buffer_unref(test_tap_pop_buffer(f.tap));
    flush_start(&f);
    test_pusher_join(pusher);
    /* Of the frame at the pad; those behind it were dropped. */
    fail_unless_equals_int(flush_stop(&f), 1);
    test_fixture_start_segment(&f);
  }
  gst_pad_remove_probe(f.harness->sinkpad, block);
  check_new_segment(&f);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Caps that came before the flush still hold after it, and messages do not
 * wait for times that the flush has taken back. */
GST_START_TEST(flush_restarts_the_message_interval)
{
  TestFixture f;
  GstMessage *message;

  test_fixture_setup(&f, CAPS, "interval", 10 * GST_SECOND, NULL);
  test_fixture_push(&f, test_frame_flat(&f.info, 10, 5));
  gst_message_unref(test_bus_pop_histogram(f.bus));
  flush_start(&f);
  flush_stop(&f);
  test_fixture_start_segment(&f);
  test_fixture_push(&f, test_frame_flat(&f.info, 20, 0));
  message = test_bus_pop_histogram(f.bus);
  fail_unless_equals_uint64(test_message_uint64(message, "timestamp"), 0);
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
flush_suite(void)
{
  Suite *suite = suite_create("flush");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B05_nothing_old_comes_after_a_flush);
  tcase_add_test(chain, B05_flush_while_caps_wait);
  tcase_add_loop_test(chain, B05_flush_while_downstream_blocks, 0,
                      G_N_ELEMENTS(pushes));
  tcase_add_test(chain, flush_restarts_the_message_interval);
  return suite;
}

TEST_MAIN(flush)
