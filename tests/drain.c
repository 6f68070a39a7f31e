/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every drain is complete: no frame is lost at the end of a stream. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define OTHER "video/x-raw,format=GRAY8,width=161,height=97,framerate=25/1"

static void
push_frames(TestFixture *f, guint n)
{
  for (guint i = 0; i < n; i++)
    test_fixture_push(f, test_frame_flat(&f->info, (guint8)i, i));
}

/* Exactly these frames left, measured, and then an event of this type. */
static void
check_frames(TestFixture *f, guint n, GstEventType end)
{
  guint64 pixels = (guint64)f->info.width * (guint64)f->info.height;
  GstMiniObject *object;

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f->tap);
    GstMessage *message = test_bus_pop_histogram(f->bus);

    test_check_flat(buffer, i, pixels);
    fail_unless_equals_uint64(test_message_uint64(message, "sum"), i * pixels);
    fail_unless_equals_uint64(test_message_uint64(message, "timestamp"),
                              i * TEST_FRAME_DURATION);
    gst_message_unref(message);
    gst_buffer_unref(buffer);
  }
  object = test_tap_pop(f->tap);
  fail_unless(GST_IS_EVENT(object) && GST_EVENT_TYPE(object) == end);
  gst_mini_object_unref(object);
  fail_unless_equals_int(test_bus_take(f->bus, GST_MESSAGE_ELEMENT), 0);
}

GST_START_TEST(B06_every_drain_is_complete)
{
  const guint depths[] = {1, 2, 5, 16};
  guint depth = depths[__i__];
  const guint counts[] = {0, 1, depth - 1, depth, depth + 1, 17};

  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    TestFixture f;

    test_fixture_setup(&f, CAPS, "async-depth", depth, NULL);
    test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
    push_frames(&f, counts[i]);
    gst_harness_push_event(f.harness, gst_event_new_eos());
    check_frames(&f, counts[i], GST_EVENT_EOS);
    fail_unless_equals_uint64(test_stat(f.element, "frames"), counts[i]);
    test_fixture_teardown(&f);
  }
}
GST_END_TEST;

static void
restart(TestFixture *f)
{
  gst_harness_push_event(f->harness, gst_event_new_flush_start());
  gst_harness_push_event(f->harness, gst_event_new_flush_stop(TRUE));
  test_fixture_start_segment(f);
}

/* Right after five frames, some of which may be held. */
static void
change_caps(TestFixture *f, const gchar *caps)
{
  GstVideoInfo before = f->info;
  GstVideoInfo after;

  fail_unless(test_fixture_renegotiate(f, caps));
  after = f->info;
  f->info = before;
  check_frames(f, 5, GST_EVENT_CAPS);
  f->info = after;
}

GST_START_TEST(B06_later_drains_are_complete_too)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint round = 0; round < 3; round++) {
    push_frames(&f, 5);
    change_caps(&f, round % 2 == 0 ? OTHER : CAPS);
    push_frames(&f, 5);
    gst_harness_push_event(f.harness, gst_event_new_eos());
    check_frames(&f, 5, GST_EVENT_EOS);
    restart(&f);
    push_frames(&f, 5);
    gst_harness_push_event(f.harness, gst_event_new_eos());
    check_frames(&f, 5, GST_EVENT_EOS);
    restart(&f);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* The drain query is answered only after the frames before it have left. */
GST_START_TEST(B06_drain_query_drains)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "async-depth", 4, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint round = 0; round < test_repeats(100); round++) {
    GstQuery *query = gst_query_new_drain();

    push_frames(&f, 4);
    gst_pad_peer_query(f.harness->srcpad, query);
    gst_query_unref(query);
    fail_unless_equals_int(test_tap_count(f.tap), 4);
    test_tap_clear(f.tap);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
drain_suite(void)
{
  Suite *suite = suite_create("drain");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B06_every_drain_is_complete, 0, 4);
  tcase_add_test(chain, B06_later_drains_are_complete_too);
  tcase_add_test(chain, B06_drain_query_drains);
  return suite;
}

TEST_MAIN(drain)
