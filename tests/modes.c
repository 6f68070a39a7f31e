/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is measured, attached and posted can be changed while frames run. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define OTHER "video/x-raw,format=NV12,width=160,height=121,framerate=25/1"

static void
set_measuring(TestFixture *f, gboolean on)
{
  g_object_set(f->element, "attach-meta", on, "post-messages", on, NULL);
}

/* On for seven frames, off for the next seven. */
static gboolean
is_on(guint frame)
{
  return frame / 7 % 2 == 0;
}

static void
push_toggling(TestFixture *f, TestExpected *expected, guint frames)
{
  for (guint i = 0; i < frames; i++) {
    GstBuffer *buffer;

    if (i % 7 == 0)
      set_measuring(f, is_on(i));
    if (i == frames / 2)
      fail_unless(test_fixture_renegotiate(f, OTHER));
    buffer = test_frame_flat(&f->info, (guint8)i, i);
    test_expect(&expected[i], buffer, &f->info);
    test_fixture_push(f, buffer);
  }
  gst_harness_push_event(f->harness, gst_event_new_eos());
}

GST_START_TEST(B40_measuring_on_and_off)
{
  TestExpected expected[200];
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  push_toggling(&f, expected, 200);
  for (guint i = 0; i < 200; i++) {
    GstBuffer *buffer;

    if (i == 100)
      test_tap_skip_until(f.tap, GST_EVENT_CAPS);
    buffer = test_tap_pop_buffer(f.tap);
    if (is_on(i)) {
      GstMessage *message = test_bus_pop_histogram(f.bus);

      test_check_frame(&expected[i], buffer, 256);
      test_check_message(&expected[i], message);
      gst_message_unref(message);
    } else {
      test_check_unmeasured(&expected[i], buffer);
    }
    gst_buffer_unref(buffer);
    test_expected_clear(&expected[i]);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* A frame keeps its place even if those around it need no work. */
GST_START_TEST(B40_unmeasured_frames_do_not_overtake)
{
  TestFixture f;
  TestPusher *pusher;
  gchar *text;

  test_fixture_setup(&f, CAPS, "async-depth", 4, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  pusher = test_pusher_new(&f, test_frame_flat(&f.info, 10, 0),
                           test_frame_flat(&f.info, 11, 1), NULL);
  test_tap_wait_for_buffer_at_gate(f.tap);
  test_pusher_join(pusher);
  set_measuring(&f, FALSE);
  pusher = test_pusher_new(&f, test_frame_flat(&f.info, 12, 2),
                           test_frame_flat(&f.info, 13, 3), NULL);
  test_pusher_join(pusher);
  test_tap_stays_at(f.tap, 0);
  test_tap_open(f.tap);
  gst_harness_push_event(f.harness, gst_event_new_eos());
  text = test_tap_take_text(f.tap);
  fail_unless_equals_string(text, "10 11 12 13 eos");
  g_free(text);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* What is in force when a frame arrives decides over it, even if it is still
 * held when the property changes. */
GST_START_TEST(B40_held_frames_keep_their_setting)
{
  TestFixture f;
  TestPusher *pusher;

  test_fixture_setup(&f, CAPS, "async-depth", 4, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  pusher = test_pusher_new(&f, test_frame_flat(&f.info, 10, 0),
                           test_frame_flat(&f.info, 11, 1),
                           test_frame_flat(&f.info, 12, 2), NULL);
  test_tap_wait_for_buffer_at_gate(f.tap);
  test_pusher_join(pusher);
  set_measuring(&f, FALSE);
  test_tap_open(f.tap);
  for (guint i = 10; i <= 12; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);

    test_check_flat(buffer, i, 64 * 48);
    gst_buffer_unref(buffer);
  }
  test_fixture_drain(&f);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 3);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* The element never stops measuring on its own. */
GST_START_TEST(B40_every_frame_is_measured_by_default)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < 200; i++) {
    test_fixture_measure(&f, test_frame_flat(&f.info, (guint8)i, i), 256);
    if (i == 99)
      fail_unless(test_fixture_renegotiate(&f, OTHER));
  }
  fail_unless_equals_uint64(test_stat(f.element, "frames"), 200);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 200);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* All four ways of reporting. */
GST_START_TEST(meta_and_message_are_independent)
{
  gboolean attach = __i__ / 2, post = __i__ % 2;
  TestExpected expected;
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, CAPS, "attach-meta", attach, "post-messages", post,
                     NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = test_frame_new(&f.info, NULL, test_ramp, NULL);
  test_stamp(buffer, 0);
  test_expect(&expected, buffer, &f.info);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  if (attach)
    test_check_frame(&expected, buffer, 256);
  else
    test_check_unmeasured(&expected, buffer);
  if (post) {
    GstMessage *message = test_bus_pop_histogram(f.bus);

    test_check_message(&expected, message);
    gst_message_unref(message);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
  fail_unless_equals_uint64(test_stat(f.element, "frames"), attach || post);
  gst_buffer_unref(buffer);
  test_expected_clear(&expected);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(fewer_bins_hold_equally_many_levels)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, OTHER, "bins", 1u << __i__, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_fixture_measure(&f, test_frame_new(&f.info, NULL, test_noise, random),
                       1u << __i__);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(threads_change_no_number)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, "video/x-raw,format=GRAY8,width=1283,height=723",
                     "n-threads", (guint)__i__, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < 5; i++)
    test_fixture_measure(&f, test_frame_new(&f.info, NULL, test_noise, random),
                         256);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(algorithms_change_no_number)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, "video/x-raw,format=GRAY8,width=301,height=97",
                     "algorithm", __i__, NULL);
  test_tap_clear(f.tap);
  test_fixture_measure(&f, test_frame_new(&f.info, NULL, test_noise, random),
                       256);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

GST_START_TEST(verify_agrees)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, OTHER, "verify", TRUE, "bins", __i__ == 0 ? 256 : 16,
                     NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < 20; i++)
    test_fixture_measure(&f, test_frame_new(&f.info, NULL, test_noise, random),
                         __i__ == 0 ? 256 : 16);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
modes_suite(void)
{
  Suite *suite = suite_create("modes");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B40_measuring_on_and_off);
  tcase_add_test(chain, B40_unmeasured_frames_do_not_overtake);
  tcase_add_test(chain, B40_held_frames_keep_their_setting);
  tcase_add_test(chain, B40_every_frame_is_measured_by_default);
  tcase_add_loop_test(chain, meta_and_message_are_independent, 0, 4);
  tcase_add_loop_test(chain, fewer_bins_hold_equally_many_levels, 1, 9);
  tcase_add_loop_test(chain, threads_change_no_number, 0, 5);
  tcase_add_loop_test(chain, algorithms_change_no_number, 0, 6);
  tcase_add_loop_test(chain, verify_agrees, 0, 2);
  return suite;
}

TEST_MAIN(modes)
