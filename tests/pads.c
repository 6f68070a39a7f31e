/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the pads can do, and what they say about it. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

GST_START_TEST(frames_are_pushed_in_order_and_never_pulled)
{
  GstQuery *query = gst_query_new_scheduling();
  GstSchedulingFlags flags;
  GstElement *element = test_element(NULL);
  GstPad *src = gst_element_get_static_pad(element, "src");

  fail_unless(gst_pad_query(src, query));
  gst_query_parse_scheduling(query, &flags, NULL, NULL, NULL);
  fail_unless_equals_int(flags, GST_SCHEDULING_FLAG_SEQUENTIAL);
  fail_unless(gst_query_has_scheduling_mode(query, GST_PAD_MODE_PUSH));
  fail_if(gst_query_has_scheduling_mode(query, GST_PAD_MODE_PULL));
  fail_if(gst_pad_activate_mode(src, GST_PAD_MODE_PULL, TRUE));
  fail_unless_equals_int(gst_pad_get_task_state(src), GST_TASK_STOPPED);
  gst_query_unref(query);
  gst_object_unref(src);
  gst_object_unref(element);
}
GST_END_TEST;

/* Upstream's answer, which may be anything. */
static GstPadProbeReturn
answer_latency(GstPad *pad, GstPadProbeInfo *info, gpointer max)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);

  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return GST_PAD_PROBE_OK;
  gst_query_set_latency(query, TRUE, 5, *(const GstClockTime *)max);
  return GST_PAD_PROBE_HANDLED;
}

/* The longest latency is a sum, which must not wrap around. */
GST_START_TEST(longest_latency_has_an_end)
{
  const GstClockTime held = 2 * 40 * GST_MSECOND;
  const GstClockTime cases[][2] = {
      {100, 100 + held},
      {GST_CLOCK_TIME_NONE - held - 1, GST_CLOCK_TIME_NONE - 1},
      {GST_CLOCK_TIME_NONE - held, GST_CLOCK_TIME_NONE},
      {GST_CLOCK_TIME_NONE - 1, GST_CLOCK_TIME_NONE},
      {GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE},
  };
  GstClockTime upstream = cases[__i__][0], min, max;
  GstQuery *query = gst_query_new_latency();
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  gst_pad_add_probe(f.harness->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
                    answer_latency, &upstream, NULL);
  fail_unless(gst_pad_peer_query(f.harness->sinkpad, query));
  gst_query_parse_latency(query, NULL, &min, &max);
  fail_unless_equals_uint64(min, 5);
  fail_unless_equals_uint64(max, cases[__i__][1]);
  gst_query_unref(query);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
pads_suite(void)
{
  Suite *suite = suite_create("pads");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, frames_are_pushed_in_order_and_never_pulled);
  tcase_add_loop_test(tcase, longest_latency_has_an_end, 0, 5);
  return suite;
}

TEST_MAIN(pads)
