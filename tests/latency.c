/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The latency query, live streams, unknown frame rates, and QoS. */

#include "testing.h"

#define CAPS(rate) "video/x-raw,format=GRAY8,width=64,height=48" rate

static const GstClockTime one_second = GST_SECOND;

static const gchar *const unknown_rates[] = {
    CAPS(",framerate=0/1"), CAPS(",framerate=0/1,max-framerate=60/1"),
    CAPS("")};

/* Upstream that can wait for so long at most. */
static GstPadProbeReturn
answer_latency(GstPad *pad, GstPadProbeInfo *info, gpointer max)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);

  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return GST_PAD_PROBE_OK;
  gst_query_set_latency(query, TRUE, 7 * GST_MSECOND,
                        *(const GstClockTime *)max);
  return GST_PAD_PROBE_HANDLED;
}

static void
answer_upstream(TestFixture *f, const GstClockTime *max)
{
  gst_pad_add_probe(f->harness->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
                    answer_latency, (gpointer)max, NULL);
}

static void
check_latency(TestFixture *f, GstClockTime want_min, GstClockTime want_max)
{
  GstQuery *query = gst_query_new_latency();
  GstClockTime min, max;
  gboolean live;

  fail_unless(gst_pad_peer_query(f->harness->sinkpad, query));
  gst_query_parse_latency(query, &live, &min, &max);
  fail_unless(live);
  fail_unless_equals_uint64(min, want_min);
  fail_unless_equals_uint64(max, want_max);
  gst_query_unref(query);
}

GST_START_TEST(B14_latency_is_of_the_frames_held_at_most)
{
  const guint depth = (guint)__i__;
  TestFixture f;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), "async-depth", depth, NULL);
  answer_upstream(&f, &one_second);
  check_latency(&f, 7 * GST_MSECOND, GST_SECOND + depth * TEST_FRAME_DURATION);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* It is a sum, which must not wrap around. */
GST_START_TEST(longest_latency_has_an_end)
{
  const guint depth = 2;
  const GstClockTime held = depth * TEST_FRAME_DURATION;
  const GstClockTime cases[][2] = {
      {GST_SECOND, GST_SECOND + held},
      {GST_CLOCK_TIME_NONE - held - 1, GST_CLOCK_TIME_NONE - 1},
      {GST_CLOCK_TIME_NONE - held, GST_CLOCK_TIME_NONE},
      {GST_CLOCK_TIME_NONE - 1, GST_CLOCK_TIME_NONE},
      {GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE},
  };
  TestFixture f;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), "async-depth", depth, NULL);
  answer_upstream(&f, &cases[__i__][0]);
  check_latency(&f, 7 * GST_MSECOND, cases[__i__][1]);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B14_unlimited_stays_unlimited)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), NULL);
  gst_harness_set_live(f.harness, TRUE);
  gst_harness_set_upstream_latency(f.harness, 3 * GST_MSECOND);
  check_latency(&f, 3 * GST_MSECOND, GST_CLOCK_TIME_NONE);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B35_unknown_frame_rates)
{
  const guint64 times[] = {0, 5, 900, 901, 902, 903, 5000, 5001, 9000, 9999};
  TestFixture f;

  test_fixture_setup(&f, unknown_rates[__i__], "async-depth", 3, NULL);
  answer_upstream(&f, &one_second);
  check_latency(&f, 7 * GST_MSECOND, GST_SECOND);
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    GstBuffer *buffer = test_frame_flat(&f.info, (guint8)i, 0);

    GST_BUFFER_PTS(buffer) = times[i] * GST_MSECOND;
    GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
    test_fixture_measure(&f, buffer, 256);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_LATENCY), 0);

  fail_unless(test_fixture_renegotiate(&f, CAPS(",framerate=25/1")));
  gst_message_unref(test_bus_pop(f.bus, GST_MESSAGE_LATENCY));
  check_latency(&f, 7 * GST_MSECOND, GST_SECOND + 3 * TEST_FRAME_DURATION);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B35_latency_is_announced_when_it_changes)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), NULL);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_LATENCY), 1);
  fail_unless(test_fixture_renegotiate(
      &f, "video/x-raw,format=NV12,width=32,height=32,framerate=25/1"));
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_LATENCY), 0);
  fail_unless(test_fixture_renegotiate(&f, CAPS(",framerate=50/1")));
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_LATENCY), 1);
  fail_unless(test_fixture_renegotiate(&f, CAPS(",framerate=0/1")));
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_LATENCY), 1);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- QoS ---- */

/* Downstream says that it got a frame a second too late. */
static void
complain(TestFixture *f)
{
  gst_harness_push_upstream_event(
      f->harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND,
                                    TEST_FRAME_DURATION));
}

/* Returns how many of ten frames, which last four seconds, came out, each of
 * them measured, and marked as a discontinuity where the one before did not. */
static guint
push_late_frames(TestFixture *f)
{
  guint frames = 0, next = 0;

  test_tap_skip_until(f->tap, GST_EVENT_SEGMENT);
  complain(f);
  for (guint i = 0; i < 10; i++)
    test_fixture_push(f, test_frame_flat(&f->info, (guint8)i, 10 * i));
  gst_harness_push_event(f->harness, gst_event_new_eos());
  for (;; frames++) {
    GstMiniObject *object = test_tap_pop(f->tap);
    guint8 value;

    if (GST_IS_EVENT(object)) {
      gst_mini_object_unref(object);
      break;
    }
    value = test_first_sample(GST_BUFFER(object));
    test_check_flat(GST_BUFFER(object), value, 64 * 48);
    fail_unless(GST_BUFFER_IS_DISCONT(object) == (value != next));
    next = value + 1;
    gst_mini_object_unref(object);
  }
  fail_unless_equals_int(test_bus_take(f->bus, GST_MESSAGE_ELEMENT), frames);
  return frames;
}

GST_START_TEST(B14_no_frame_is_dropped_by_default)
{
  TestFixture f;
  gboolean qos = TRUE;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), NULL);
  g_object_get(f.element, "qos", &qos, NULL);
  fail_if(qos);
  fail_unless_equals_int(push_late_frames(&f), 10);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B14_dropped_frames_leave_nothing_behind)
{
  TestFixture f;
  guint frames;

  test_fixture_setup(&f, CAPS(",framerate=25/1"), "qos", TRUE, NULL);
  frames = push_late_frames(&f);
  fail_unless(frames > 0 && frames < 10, "%u", frames);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
latency_suite(void)
{
  Suite *suite = suite_create("latency");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B14_latency_is_of_the_frames_held_at_most, 1, 5);
  tcase_add_loop_test(chain, longest_latency_has_an_end, 0, 5);
  tcase_add_test(chain, B14_unlimited_stays_unlimited);
  tcase_add_loop_test(chain, B35_unknown_frame_rates, 0,
                      G_N_ELEMENTS(unknown_rates));
  tcase_add_test(chain, B35_latency_is_announced_when_it_changes);
  tcase_add_test(chain, B14_no_frame_is_dropped_by_default);
  tcase_add_test(chain, B14_dropped_frames_leave_nothing_behind);
  return suite;
}

TEST_MAIN(latency)
