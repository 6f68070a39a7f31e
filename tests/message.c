/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The element message: what is in it, how often it comes, and how many of
 * them there can be. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

static void
check_times(GstMessage *message, guint64 timestamp, guint64 stream_time,
            guint64 running_time, guint64 duration)
{
  fail_unless_equals_uint64(test_message_uint64(message, "timestamp"),
                            timestamp);
  fail_unless_equals_uint64(test_message_uint64(message, "stream-time"),
                            stream_time);
  fail_unless_equals_uint64(test_message_uint64(message, "running-time"),
                            running_time);
  fail_unless_equals_uint64(test_message_uint64(message, "duration"), duration);
}

GST_START_TEST(message_says_what_was_measured)
{
  TestFixture f;
  TestExpected expected;
  GRand *random = test_random();

  test_fixture_setup(&f, CAPS, NULL);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = test_frame_new(&f.info, NULL, test_noise, random);
    GstMessage *message;

    test_stamp(buffer, i);
    test_expect(&expected, buffer, &f.info);
    test_fixture_push(&f, buffer);
    message = test_bus_pop_histogram(f.bus);
    fail_unless(GST_MESSAGE_SRC(message) == GST_OBJECT(f.element));
    test_check_message(&expected, message);
    check_times(message, expected.pts, expected.pts, expected.pts,
                TEST_FRAME_DURATION);
    fail_unless_equals_uint64(test_message_uint64(message, "frame"), i);
    gst_message_unref(message);
    test_expected_clear(&expected);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* A segment from 10 s on, shown from 3 s on as running time, at 100 s. */
GST_START_TEST(message_has_the_three_times)
{
  TestFixture f;
  GstMessage *message;
  GstBuffer *buffer;
  GstSegment segment;

  test_fixture_setup(&f, CAPS, NULL);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 100 * GST_SECOND;
  segment.base = 3 * GST_SECOND;
  segment.rate = 2.0;
  gst_harness_push_event(f.harness, gst_event_new_segment(&segment));
  buffer = test_frame_flat(&f.info, 1, 0);
  GST_BUFFER_PTS(buffer) = 14 * GST_SECOND;
  test_fixture_push(&f, buffer);
  message = test_bus_pop_histogram(f.bus);
  check_times(message, 14 * GST_SECOND, 104 * GST_SECOND, 5 * GST_SECOND,
              TEST_FRAME_DURATION);
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* What is not known is said to be so, and not made up. */
GST_START_TEST(message_invents_no_times)
{
  TestFixture f;
  GstMessage *message;
  GstBuffer *buffer;

  test_fixture_setup(&f, CAPS, NULL);
  buffer = test_frame_flat(&f.info, 1, 0);
  GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
  test_fixture_push(&f, buffer);
  message = test_bus_pop_histogram(f.bus);
  check_times(message, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
              GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* As from an application that does not say that it counts in time. */
GST_START_TEST(message_in_a_segment_of_bytes)
{
  TestFixture f;
  GstMessage *message;
  GstSegment segment;

  test_fixture_setup(&f, CAPS, NULL);
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_harness_push_event(f.harness, gst_event_new_segment(&segment));
  test_fixture_push(&f, test_frame_flat(&f.info, 1, 3));
  message = test_bus_pop_histogram(f.bus);
  check_times(message, 3 * TEST_FRAME_DURATION, GST_CLOCK_TIME_NONE,
              GST_CLOCK_TIME_NONE, TEST_FRAME_DURATION);
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- How often ---- */

GST_START_TEST(interval_is_the_least_time_between_two)
{
  const struct {
    GstClockTime interval;
    guint every;
  } cases[] = {{0, 1},
               {1, 1},
               {TEST_FRAME_DURATION, 1},
               {TEST_FRAME_DURATION + 1, 2},
               {2 * TEST_FRAME_DURATION, 2},
               {5 * TEST_FRAME_DURATION - 1, 5}};
  TestFixture f;

  test_fixture_setup(&f, CAPS, "interval", cases[__i__].interval, NULL);
  for (guint i = 0; i < 20; i++)
    test_fixture_push(&f, test_frame_flat(&f.info, (guint8)i, i));
  gst_harness_push_event(f.harness, gst_event_new_eos());
  for (guint i = 0; i < 20; i += cases[__i__].every) {
    GstMessage *message = test_bus_pop_histogram(f.bus);

    fail_unless_equals_uint64(test_message_uint64(message, "frame"), i);
    gst_message_unref(message);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Backwards, as in reverse playback. */
GST_START_TEST(interval_counts_in_both_directions)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "interval", 5 * TEST_FRAME_DURATION, NULL);
  for (guint i = 20; i > 0; i--)
    test_fixture_push(&f, test_frame_flat(&f.info, (guint8)i, i));
  gst_harness_push_event(f.harness, gst_event_new_eos());
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 4);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* A message for which there was no room does not make the next one wait. */
GST_START_TEST(interval_starts_with_a_message_that_was_posted)
{
  TestFixture f;
  GstMessage *kept;

  test_fixture_setup(&f, CAPS, "interval", 5 * TEST_FRAME_DURATION,
                     "max-pending-messages", 1, NULL);
  test_fixture_push(&f, test_frame_flat(&f.info, 0, 0));
  kept = test_bus_pop_histogram(f.bus);
  for (guint i = 1; i <= 6; i++)
    test_fixture_push(&f, test_frame_flat(&f.info, (guint8)i, i));
  /* Until frame 6, which is due, has found no room. */
  gst_harness_push_event(f.harness, gst_event_new_gap(GST_SECOND, 0));
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"), 2);
  gst_message_unref(kept);
  test_fixture_push(&f, test_frame_flat(&f.info, 7, 7));
  kept = test_bus_pop_histogram(f.bus);
  fail_unless_equals_uint64(test_message_uint64(kept, "frame"), 7);
  gst_message_unref(kept);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- How many ---- */

static void
push_small_frames(TestFixture *f, guint n)
{
  GstBuffer *frame = test_frame_flat(&f->info, 1, 0);

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_buffer_copy(frame);

    GST_BUFFER_PTS(buffer) = i * GST_MSECOND;
    test_fixture_push(f, buffer);
  }
  gst_buffer_unref(frame);
}

static GstPadProbeReturn
count_metas(GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  if (test_count_metas(GST_PAD_PROBE_INFO_BUFFER(info)) == 1)
    g_atomic_int_inc((gint *)count);
  return GST_PAD_PROBE_OK;
}

static void
end_and_wait(TestFixture *f)
{
  gst_harness_push_event(f->harness, gst_event_new_eos());
  test_tap_wait_for(f->tap, GST_EVENT_EOS);
}

GST_START_TEST(B11_unread_bus_does_not_grow)
{
  const guint frames = test_repeats(100000);
  guint64 before;
  gint metas = 0;
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_keep_buffers(f.tap, FALSE);
  gst_pad_add_probe(f.harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, count_metas,
                    &metas, NULL);
  before = test_resident_bytes();
  push_small_frames(&f, frames);
  end_and_wait(&f);
  fail_unless(test_has_not_grown(before, 5 * 1024 * 1024));
  fail_unless_equals_int(g_atomic_int_get(&metas), (gint)frames);
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"),
                            frames - 256);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 256);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Messages that the application keeps count, too; as soon as it lets go of
 * them there are new ones. */
GST_START_TEST(full_bus_loses_messages_and_no_frame)
{
  GstMessage *kept[3];
  TestFixture f;

  test_fixture_setup(&f, CAPS, "max-pending-messages", 3, NULL);
  for (guint round = 0; round < 3; round++) {
    test_tap_clear(f.tap);
    push_small_frames(&f, 10);
    test_fixture_drain(&f);
    fail_unless_equals_int(test_tap_count(f.tap), 10);
    for (guint i = 0; i < 3; i++)
      kept[i] = test_bus_pop_histogram(f.bus);
    fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
    push_small_frames(&f, 5);
    test_fixture_drain(&f);
    fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
    fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"),
                              (round + 1) * 12);
    for (guint i = 0; i < 3; i++)
      gst_message_unref(kept[i]);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(no_message_where_none_is_allowed)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "max-pending-messages", 0, NULL);
  push_small_frames(&f, 10);
  test_fixture_drain(&f);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ELEMENT), 0);
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"), 10);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(messages_outlive_the_stream)
{
  GstMessage *message;
  TestExpected expected;
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, CAPS, NULL);
  buffer = test_frame_flat(&f.info, 9, 0);
  test_expect(&expected, buffer, &f.info);
  test_fixture_push(&f, buffer);
  message = test_bus_pop_histogram(f.bus);
  test_fixture_teardown(&f);
  test_check_message(&expected, message);
  gst_message_unref(message);
  test_expected_clear(&expected);
}
GST_END_TEST;

/* ---- For bindings and tools ---- */

GST_START_TEST(B46_message_survives_as_text)
{
  const struct {
    const gchar *name;
    GType type;
  } fields[] = {{"timestamp", G_TYPE_UINT64},
                {"stream-time", G_TYPE_UINT64},
                {"running-time", G_TYPE_UINT64},
                {"duration", G_TYPE_UINT64},
                {"frame", G_TYPE_UINT64},
                {"pixels", G_TYPE_UINT64},
                {"sum", G_TYPE_UINT64},
                {"width", G_TYPE_UINT64},
                {"height", G_TYPE_UINT64},
                {"min", G_TYPE_UINT},
                {"max", G_TYPE_UINT},
                {"mean", G_TYPE_DOUBLE},
                {"region", G_TYPE_INT},
                {"region-x", G_TYPE_UINT64},
                {"region-y", G_TYPE_UINT64},
                {"region-width", G_TYPE_UINT64},
                {"region-height", G_TYPE_UINT64},
                {"histogram", GST_TYPE_ARRAY}};
  const GstStructure *structure;
  GstStructure *parsed;
  GstMessage *message;
  GRand *random = test_random();
  TestFixture f;
  GstBuffer *buffer;
  gchar *text;

  test_fixture_setup(&f, CAPS, NULL);
  buffer = test_frame_new(&f.info, NULL, test_noise, random);
  test_stamp(buffer, 1);
  test_fixture_push(&f, buffer);
  message = test_bus_pop_histogram(f.bus);
  structure = gst_message_get_structure(message);
  fail_unless_equals_int(gst_structure_n_fields(structure),
                         G_N_ELEMENTS(fields));
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    fail_unless(gst_structure_has_field_typed(structure, fields[i].name,
                                              fields[i].type),
                "%s is not %s", fields[i].name, g_type_name(fields[i].type));

  text = gst_structure_to_string(structure);
  parsed = gst_structure_from_string(text, NULL);
  fail_unless(parsed != NULL);
  fail_unless(gst_structure_is_equal(parsed, structure), "%s", text);
  gst_structure_free(parsed);
  g_free(text);
  gst_message_unref(message);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
message_suite(void)
{
  Suite *suite = suite_create("message");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, message_says_what_was_measured);
  tcase_add_test(chain, message_has_the_three_times);
  tcase_add_test(chain, message_invents_no_times);
  tcase_add_test(chain, message_in_a_segment_of_bytes);
  tcase_add_loop_test(chain, interval_is_the_least_time_between_two, 0, 6);
  tcase_add_test(chain, interval_counts_in_both_directions);
  tcase_add_test(chain, interval_starts_with_a_message_that_was_posted);
  tcase_add_test(chain, B11_unread_bus_does_not_grow);
  tcase_add_test(chain, full_bus_loses_messages_and_no_frame);
  tcase_add_test(chain, no_message_where_none_is_allowed);
  tcase_add_test(chain, messages_outlive_the_stream);
  tcase_add_test(chain, B46_message_survives_as_text);
  return suite;
}

TEST_MAIN(message)
