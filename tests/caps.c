/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps that change in mid-stream, and caps that cannot be measured. */

#include "testing.h"

#include <string.h>

#define CAPS(format, width, height)                            \
  "video/x-raw,framerate=25/1,format=" format ",width=" #width \
  ",height=" #height

static const struct {
  const gchar *caps;
  guint value;
  guint64 pixels;
} streams[] = {
    {CAPS("GRAY8", 640, 480), 10, 307200},
    {CAPS("GRAY8", 641, 361), 200, 231401},
    {CAPS("NV12", 64, 64), 77, 4096},
    {CAPS("GRAY8", 3840, 2160), 5, 8294400},
};

static void
push_streams(TestFixture *f, guint frames)
{
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    fail_unless(test_fixture_renegotiate(f, streams[s].caps));
    for (guint i = 0; i < frames; i++)
      test_fixture_push(f,
                        test_frame_flat(&f->info, (guint8)streams[s].value, i));
  }
  gst_harness_push_event(f->harness, gst_event_new_eos());
}

static void
check_frame(GstBuffer *buffer, guint stream)
{
  GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);
  GstVideoInfo info;

  test_video_info(&info, streams[stream].caps);
  test_check_flat(buffer, streams[stream].value, streams[stream].pixels);
  fail_unless_equals_int(meta->width, info.width);
  fail_unless_equals_int(meta->height, info.height);
  fail_unless_equals_int(meta->format, GST_VIDEO_INFO_FORMAT(&info));
}

GST_START_TEST(B04_caps_change_between_frames)
{
  guint frames = __i__ == 0 ? 3 : 1;
  TestFixture f;

  test_fixture_setup(&f, NULL, NULL);
  gst_harness_set_src_caps_str(f.harness, CAPS("I420", 16, 16));
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  push_streams(&f, frames);
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    GstMiniObject *event = test_tap_pop(f.tap);

    fail_unless(GST_IS_EVENT(event) && GST_EVENT_TYPE(event) == GST_EVENT_CAPS);
    gst_mini_object_unref(event);
    for (guint i = 0; i < frames; i++) {
      GstBuffer *buffer = test_tap_pop_buffer(f.tap);

      check_frame(buffer, s);
      gst_buffer_unref(buffer);
    }
  }
  test_tap_skip_until(f.tap, GST_EVENT_EOS);
  test_fixture_teardown(&f);
}
GST_END_TEST;

#define ROUNDS 200

/* Caps of random sizes, with frames held whenever they change. */
GST_START_TEST(B04_caps_change_at_random)
{
  guint rounds = test_repeats(ROUNDS);
  TestExpected expected[ROUNDS];
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, CAPS("I420", 16, 16), NULL);
  for (guint i = 0; i < rounds; i++) {
    gchar *caps = g_strdup_printf(
        "video/x-raw,format=%s,width=%d,height=%d,framerate=25/1",
        g_rand_boolean(random) ? "GRAY8" : "NV12",
        g_rand_int_range(random, 1, 400), g_rand_int_range(random, 1, 400));
    GstBuffer *buffer;

    fail_unless(test_fixture_renegotiate(&f, caps));
    buffer = test_frame_new(&f.info, NULL, test_noise, random);
    test_stamp(buffer, i);
    test_expect(&expected[i], buffer, &f.info);
    test_fixture_push(&f, buffer);
    g_free(caps);
  }
  gst_harness_push_event(f.harness, gst_event_new_eos());
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < rounds; i++) {
    GstBuffer *buffer;

    test_tap_skip_until(f.tap, GST_EVENT_CAPS);
    buffer = test_tap_pop_buffer(f.tap);
    test_check_frame(&expected[i], buffer, 256);
    gst_buffer_unref(buffer);
    test_expected_clear(&expected[i]);
  }
  test_tap_skip_until(f.tap, GST_EVENT_EOS);
  g_rand_free(random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(caps_go_out_as_they_came_in)
{
  const gchar *text =
      "video/x-raw,format=NV12,width=64,height=48,framerate=30000/1001,"
      "pixel-aspect-ratio=4/3,interlace-mode=interleaved,"
      "field-order=top-field-first,colorimetry=bt709,chroma-site=mpeg2,"
      "multiview-mode=mono,something-else=\"kept\"";
  GstCaps *in = gst_caps_from_string(text), *out;
  TestFixture f;

  test_fixture_setup(&f, text, NULL);
  out = gst_pad_get_current_caps(f.harness->sinkpad);
  fail_unless(out != NULL && gst_caps_is_equal(in, out));
  gst_caps_unref(out);
  gst_caps_unref(in);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* What downstream cannot take is not offered to upstream. */
GST_START_TEST(caps_query_asks_downstream)
{
  TestFixture f;
  GstCaps *caps, *want = gst_caps_from_string(CAPS("NV12", 64, 48));

  test_fixture_setup(&f, NULL, NULL);
  gst_harness_set_sink_caps_str(f.harness, CAPS("NV12", 64, 48));
  caps = gst_pad_peer_query_caps(f.harness->srcpad, NULL);
  fail_unless(gst_caps_is_equal(caps, want));
  gst_caps_unref(caps);
  gst_caps_unref(want);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B49_dmabuf_caps_are_not_linked)
{
  GstElement *filter = gst_element_factory_make("capsfilter", NULL);
  GstElement *bin = gst_bin_new(NULL), *element = test_element(NULL);

  gst_bin_add_many(GST_BIN(bin), filter, element, NULL);
  gst_util_set_object_arg(G_OBJECT(filter), "caps",
                          "video/x-raw(memory:DMABuf),format=NV12");
  fail_if(gst_element_link(filter, element));
  gst_util_set_object_arg(G_OBJECT(filter), "caps", "video/x-raw,format=NV12");
  fail_unless(gst_element_link(filter, element));
  gst_object_unref(element);
  gst_object_unref(bin);
}
GST_END_TEST;

/* The sink goes away and another one comes, in mid-stream. */
GST_START_TEST(pad_is_linked_anew_in_mid_stream)
{
  TestFixture f;
  GstPad *src;

  test_fixture_setup(&f, CAPS("GRAY8", 64, 48), NULL);
  src = gst_element_get_static_pad(f.element, "src");
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint round = 0; round < 20; round++) {
    test_fixture_measure(&f, test_frame_flat(&f.info, (guint8)round, 2 * round),
                         256);
    fail_unless(gst_pad_unlink(src, f.harness->sinkpad));
    fail_unless_equals_int(gst_pad_link(src, f.harness->sinkpad),
                           GST_PAD_LINK_OK);
    test_fixture_measure(
        &f, test_frame_flat(&f.info, (guint8)round, 2 * round + 1), 256);
  }
  gst_object_unref(src);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* (transfer full): the source pad, which has lost its peer. */
static GstPad *
set_up_unlinked(TestFixture *f)
{
  GstPad *src;

  test_fixture_setup(f, CAPS("GRAY8", 64, 48), NULL);
  src = gst_element_get_static_pad(f->element, "src");
  fail_unless(gst_pad_unlink(src, f->harness->sinkpad));
  return src;
}

/* Without a peer the flow stops with the usual reason, and with a new peer it
 * goes on. */
GST_START_TEST(unlinked_pad_reports_not_linked)
{
  const gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  GstFlowReturn flow = GST_FLOW_OK;
  TestFixture f;
  GstPad *src;

  src = set_up_unlinked(&f);
  /* The push that meets it is a later one, as frames leave by themselves. */
  for (guint i = 0; flow == GST_FLOW_OK; i++) {
    fail_unless(g_get_monotonic_time() < end, "the flow never stopped");
    flow = gst_harness_push(f.harness, test_frame_flat(&f.info, 1, i));
  }
  fail_unless_equals_int(flow, GST_FLOW_NOT_LINKED);

  fail_unless_equals_int(gst_pad_link(src, f.harness->sinkpad),
                         GST_PAD_LINK_OK);
  for (guint i = 0; i < 10; i++)
    test_fixture_push(&f, test_frame_flat(&f.info, 2, i));
  for (guint left = 10; left > 0;) {
    GstMiniObject *object = test_tap_pop(f.tap);

    left -= GST_IS_BUFFER(object) && test_first_sample(GST_BUFFER(object)) == 2;
    gst_mini_object_unref(object);
  }
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  gst_object_unref(src);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Events between the frames do not hide from upstream that nobody takes
 * them. */
GST_START_TEST(flow_is_reported_past_events)
{
  const gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  GstFlowReturn flow = GST_FLOW_OK;
  TestFixture f;
  GstPad *src;

  src = set_up_unlinked(&f);
  for (guint i = 0; flow == GST_FLOW_OK; i++) {
    fail_unless(g_get_monotonic_time() < end, "the flow never stopped");
    flow = gst_harness_push(f.harness, test_frame_flat(&f.info, 1, i));
    gst_harness_push_event(
        f.harness, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                        gst_structure_new_empty("mark")));
  }
  fail_unless_equals_int(flow, GST_FLOW_NOT_LINKED);
  gst_harness_push_event(f.harness, gst_event_new_eos());
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  gst_object_unref(src);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* The last frames: no push follows that could tell upstream. */
GST_START_TEST(last_flow_is_reported_at_the_end)
{
  TestFixture f;
  GstPad *src;

  src = set_up_unlinked(&f);
  fail_unless_equals_int(
      gst_harness_push(f.harness, test_frame_flat(&f.info, 1, 0)), GST_FLOW_OK);
  gst_harness_push_event(f.harness, gst_event_new_eos());
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 1);
  gst_object_unref(src);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* That the template lets through. */
GST_START_TEST(caps_that_cannot_be_counted)
{
  const gchar *const refused[] = {CAPS("GRAY8", 70000, 70000),
                                  "video/x-raw,format=GRAY8,height=48"};
  GstCaps *caps = gst_caps_from_string(refused[__i__]);
  GstMessage *message;
  GError *error;
  TestFixture f;

  test_fixture_setup(&f, CAPS("GRAY8", 64, 48), NULL);
  /* Upstream may try again; that is said once. */
  for (guint i = 0; i < 2; i++)
    gst_harness_push_event(f.harness, gst_event_new_caps(caps));
  message = test_bus_pop(f.bus, GST_MESSAGE_ERROR);
  gst_message_parse_error(message, &error, NULL);
  fail_unless(
      g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  fail_unless(strstr(error->message, "no frame") != NULL, "\"%s\"",
              error->message);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  g_error_free(error);
  gst_message_unref(message);
  gst_caps_unref(caps);

  fail_unless(test_fixture_renegotiate(&f, CAPS("GRAY8", 32, 48)));
  test_tap_clear(f.tap);
  test_fixture_measure(&f, test_frame_flat(&f.info, 5, 0), 256);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
caps_suite(void)
{
  Suite *suite = suite_create("caps");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B04_caps_change_between_frames, 0, 2);
  tcase_add_test(chain, B04_caps_change_at_random);
  tcase_add_test(chain, caps_go_out_as_they_came_in);
  tcase_add_test(chain, caps_query_asks_downstream);
  tcase_add_test(chain, B49_dmabuf_caps_are_not_linked);
  tcase_add_loop_test(chain, caps_that_cannot_be_counted, 0, 2);
  tcase_add_test(chain, flow_is_reported_past_events);
  tcase_add_test(chain, last_flow_is_reported_at_the_end);
  tcase_add_test(chain, pad_is_linked_anew_in_mid_stream);
  tcase_add_test(chain, unlinked_pad_reports_not_linked);
  return suite;
}

TEST_MAIN(caps)
