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

static Suite *
pads_suite(void)
{
  Suite *suite = suite_create("pads");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, frames_are_pushed_in_order_and_never_pulled);
  return suite;
}

TEST_MAIN(pads)
