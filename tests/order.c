/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Serialized events and queries keep their place among the frames. */

#include "testing.h"

#include <string.h>

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define OTHER "video/x-raw,format=GRAY8,width=33,height=17,framerate=25/1"

static void
check_text(TestTap *tap, const gchar *want)
{
  gchar *text = test_tap_take_text(tap);

  fail_unless_equals_string(text, want);
  g_free(text);
}

static gpointer
custom(GstEventType type)
{
  return gst_event_new_custom(type, gst_structure_new_empty("mark"));
}

static gpointer
make_mark(void)
{
  return custom(GST_EVENT_CUSTOM_DOWNSTREAM);
}

static gpointer
make_tag(void)
{
  return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a", NULL));
}

static gpointer
make_gap(void)
{
  return gst_event_new_gap(3 * TEST_FRAME_DURATION, TEST_FRAME_DURATION);
}

static gpointer
make_segment(void)
{
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  return gst_event_new_segment(&segment);
}

static gpointer
make_caps(void)
{
  GstCaps *caps = gst_caps_from_string(OTHER);
  GstEvent *event = gst_event_new_caps(caps);

  gst_caps_unref(caps);
  return event;
}

static gpointer
make_stream_start(void)
{
  return gst_event_new_stream_start("another");
}

static gpointer
make_eos(void)
{
  return gst_event_new_eos();
}

static gpointer
make_drain(void)
{
  return gst_query_new_drain();
}

static gpointer
make_allocation(void)
{
  GstCaps *caps = gst_caps_from_string(CAPS);
  GstQuery *query = gst_query_new_allocation(caps, TRUE);

  gst_caps_unref(caps);
  return query;
}

static const struct {
  gpointer (*make)(void);
  const gchar *want;
} serialized[] = {
    {make_mark, "10 11 12 mark"},
    {make_tag, "10 11 12 tag"},
    {make_gap, "10 11 12 gap"},
    {make_segment, "10 11 12 segment"},
    {make_caps, "10 11 12 caps"},
    {make_eos, "10 11 12 eos"},
    {make_drain, "10 11 12"},
    {make_allocation, "10 11 12"},
    {make_stream_start, "10 11 12 stream-start"},
};

GST_START_TEST(B01_events_keep_their_place)
{
  TestFixture f;
  GstQuery *query;

  test_fixture_setup(&f, CAPS, NULL);
  test_fixture_push(&f, test_frame_flat(&f.info, 10, 0));
  gst_harness_push_event(f.harness, make_mark());
  gst_harness_push_event(f.harness, make_tag());
  test_fixture_push(&f, test_frame_flat(&f.info, 20, 1));
  query = make_drain();
  gst_pad_peer_query(f.harness->srcpad, query);
  gst_query_unref(query);
  check_text(f.tap, "stream-start caps segment 10 mark tag 20");
  test_fixture_push(&f, test_frame_flat(&f.info, 30, 2));
  gst_harness_push_event(f.harness, make_eos());
  check_text(f.tap, "30 eos");
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Three frames are held: one on its way out and two measured behind it. */
GST_START_TEST(B01_nothing_serialized_overtakes_a_held_frame)
{
  TestFixture f;
  TestPusher *pusher;

  test_fixture_setup(&f, CAPS, "async-depth", 2, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  pusher = test_pusher_new(
      &f, test_frame_flat(&f.info, 10, 0), test_frame_flat(&f.info, 11, 1),
      test_frame_flat(&f.info, 12, 2), serialized[__i__].make(), NULL);
  test_tap_wait_for_buffer_at_gate(f.tap);
  test_pusher_wait_for(pusher, 3);
  test_pusher_stays_at(pusher, 3);
  fail_unless_equals_int(test_tap_count(f.tap), 0);

  test_tap_open(f.tap);
  test_pusher_join(pusher);
  check_text(f.tap, serialized[__i__].want);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* The only one that is left is on its way out already. */
GST_START_TEST(B01_nothing_serialized_overtakes_the_last_frame)
{
  TestFixture f;
  TestPusher *pusher;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  test_fixture_push(&f, test_frame_flat(&f.info, 12, 0));
  test_tap_wait_for_buffer_at_gate(f.tap);
  pusher = test_pusher_new(&f, serialized[__i__].make(), NULL);
  test_pusher_stays_at(pusher, 0);
  fail_unless_equals_int(test_tap_count(f.tap), 0);

  test_tap_open(f.tap);
  test_pusher_join(pusher);
  check_text(f.tap, strstr(serialized[__i__].want, "12"));
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B01_others_need_not_wait)
{
  TestFixture f;
  TestPusher *pusher;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  pusher = test_pusher_new(&f, test_frame_flat(&f.info, 10, 0),
                           custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB), NULL);
  test_pusher_join(pusher);
  test_tap_open(f.tap);
  test_tap_skip_until(f.tap, GST_EVENT_CUSTOM_DOWNSTREAM_OOB);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* The element holds no more frames than it says: its depth and one that it
 * is pushing. */
GST_START_TEST(frames_held_are_bounded)
{
  const guint depths[] = {1, 2, 4};
  guint depth = depths[__i__];
  TestFixture f;
  TestPusher *first, *pusher;
  GstBuffer *frames[6];

  test_fixture_setup(&f, CAPS, "async-depth", depth, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_tap_shut(f.tap);
  for (guint i = 0; i < 6; i++)
    frames[i] = test_frame_flat(&f.info, (guint8)i, i);
  first = test_pusher_new(&f, frames[0], NULL);
  test_tap_wait_for_buffer_at_gate(f.tap);
  test_pusher_join(first);
  pusher = test_pusher_new(&f, frames[1], frames[2], frames[3], frames[4],
                           frames[5], NULL);
  test_pusher_wait_for(pusher, depth);
  test_pusher_stays_at(pusher, depth);

  test_tap_open(f.tap);
  test_pusher_join(pusher);
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);

    test_check_flat(buffer, i, 64 * 48);
    gst_buffer_unref(buffer);
  }
  fail_unless(test_stat(f.element, "in-flight-max") <= depth);
  fail_unless(test_stat(f.element, "in-flight-max") >= 1);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Frames, their times and their flags come out as they went in. */
GST_START_TEST(frames_pass_untouched)
{
  TestFixture f;
  TestExpected expected[20];
  GRand *random = test_random();

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = test_frame_new(&f.info, NULL, test_noise, random);

    test_stamp(buffer, i);
    GST_BUFFER_DTS(buffer) = i % 3 == 0 ? GST_CLOCK_TIME_NONE : i;
    if (i % 4 == 0)
      GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_FLAG_SET(buffer, 1u << (4 + i % 16));
    test_expect(&expected[i], buffer, &f.info);
    test_fixture_push(&f, buffer);
  }
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);
    GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);

    test_check_frame(&expected[i], buffer, 256);
    fail_unless_equals_uint64(meta->frame, i);
    test_expected_clear(&expected[i]);
    gst_buffer_unref(buffer);
  }
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* As after any other element, it is where the last frame ends. */
GST_START_TEST(position_follows_the_frames)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  for (guint i = 0; i < 3; i++) {
    gint64 position = -1;

    test_fixture_push(&f, test_frame_flat(&f.info, 1, i));
    fail_unless(
        gst_element_query_position(f.element, GST_FORMAT_TIME, &position));
    fail_unless_equals_uint64(position, (i + 1) * TEST_FRAME_DURATION);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
order_suite(void)
{
  Suite *suite = suite_create("order");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B01_events_keep_their_place);
  tcase_add_loop_test(chain, B01_nothing_serialized_overtakes_a_held_frame, 0,
                      G_N_ELEMENTS(serialized));
  tcase_add_loop_test(chain, B01_nothing_serialized_overtakes_the_last_frame, 0,
                      G_N_ELEMENTS(serialized));
  tcase_add_test(chain, B01_others_need_not_wait);
  tcase_add_loop_test(chain, frames_held_are_bounded, 0, 3);
  tcase_add_test(chain, frames_pass_untouched);
  tcase_add_test(chain, position_follows_the_frames);
  return suite;
}

TEST_MAIN(order)
