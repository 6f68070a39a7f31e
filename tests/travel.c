/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The meta on its way downstream: it has no tags, so that it survives every
 * element that keeps any meta at all, and says what it was measured on. */

#include "testing.h"

#define CAPS "video/x-raw,format=%s,width=160,height=120,framerate=30/1"

typedef struct {
  const gchar *name; /* the elements that it takes, apart */
  const gchar *format;
  const gchar *text;
} Way;

static const Way ways[] = {
    {"queue", "NV12", "queue"},
    {"tee queue", "NV12", "tee ! queue"},
    {"videoconvert", "NV12", "videoconvert ! video/x-raw,format=NV12"},
    {"videoconvert", "NV12", "videoconvert ! video/x-raw,format=I420"},
    {"videoconvert", "NV12", "videoconvert ! video/x-raw,format=RGB"},
    {"videoscale", "I420", "videoscale ! video/x-raw,width=80,height=60"},
    {"videocrop", "I420", "videocrop left=8"},
    {"videoflip", "I420", "videoflip method=horizontal-flip"},
    {"videorate", "I420", "videorate ! video/x-raw,framerate=60/1"},
    {"vp8enc", "I420", "vp8enc deadline=1"},
    {"openh264enc", "I420", "openh264enc"},
    {"jpegenc", "I420", "jpegenc"},
};

/* What the frame that the meta came with held: the meta's own number of the
 * frame finds it again behind elements that repeat or reorder frames. */
static void
check_meta(GstBuffer *buffer, const TestExpected *expected, guint frames)
{
  GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);

  fail_unless(meta != NULL, "the meta was lost");
  fail_unless_equals_int(test_count_metas(buffer), 1);
  fail_unless(meta->frame < frames);
  test_check_meta(&expected[meta->frame], meta, 256);
}

static void
push_frames(GstElement *pipeline, const GstVideoInfo *info,
            TestExpected *expected, guint frames)
{
  for (guint i = 0; i < frames; i++) {
    GstBuffer *buffer = test_frame_new(info, NULL, test_ramp, NULL);

    gst_buffer_memset(buffer, 0, (guint8)(i * 20), 160 * 50);
    test_stamp(buffer, 0);
    GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(i, GST_SECOND, 30);
    GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
    test_expect(&expected[i], buffer, info);
    test_app_push(pipeline, buffer);
  }
  test_app_end(pipeline);
}

GST_START_TEST(B24_meta_survives)
{
  enum { FRAMES = 8 };
  const Way *way = &ways[__i__];
  gchar *caps = g_strdup_printf(CAPS, way->format);
  gchar *text = g_strdup_printf("appsrc name=src format=time caps=%s ! "
                                "gpuhistogram ! %s ! appsink name=sink "
                                "sync=false",
                                caps, way->text);
  GstElement *pipeline = test_pipeline(text);
  TestExpected expected[FRAMES];
  GstVideoInfo info;
  GstBuffer *buffer;
  guint count = 0;

  test_video_info(&info, caps);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  push_frames(pipeline, &info, expected, FRAMES);
  for (; (buffer = test_app_pull(pipeline)) != NULL; count++) {
    check_meta(buffer, expected, FRAMES);
    gst_buffer_unref(buffer);
  }
  fail_unless(count >= FRAMES, "%u frames came through %s", count, way->text);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  for (guint i = 0; i < FRAMES; i++)
    test_expected_clear(&expected[i]);
  g_free(text);
  g_free(caps);
}
GST_END_TEST;

/* ---- One meta, of the last measurement ---- */

static void
check_last_element(const gchar *between, gboolean changes)
{
  gchar *caps = g_strdup_printf(CAPS, "I420");
  gchar *text = g_strdup_printf(
      "appsrc name=src format=time caps=%s ! gpuhistogram bins=16 ! %s "
      "gpuhistogram ! appsink name=sink sync=false",
      caps, between);
  GstElement *pipeline = test_pipeline(text);
  GstVideoInfo info;
  GstBuffer *buffer;
  guint count = 0;

  test_video_info(&info, caps);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 3; i++)
    test_app_push(pipeline, test_frame_flat(&info, 100, i));
  test_app_end(pipeline);
  for (; (buffer = test_app_pull(pipeline)) != NULL; count++) {
    fail_unless((test_first_sample(buffer) != 100) == changes);
    test_check_own_frame(buffer, &info);
    gst_buffer_unref(buffer);
  }
  fail_unless_equals_int(count, 3);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(text);
  g_free(caps);
}

GST_START_TEST(B36_second_element_replaces_the_meta)
{
  check_last_element("", FALSE);
  check_last_element("videobalance brightness=0.2 ! ", TRUE);
}
GST_END_TEST;

GST_START_TEST(B36_same_buffer_twice)
{
  gchar *caps = g_strdup_printf(CAPS, "I420");
  TestFixture f;
  GstBuffer *frame;

  test_fixture_setup(&f, caps, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  frame = test_frame_flat(&f.info, 50, 0);
  for (guint i = 0; i < 3; i++)
    test_fixture_measure(&f, gst_buffer_ref(frame), 256);
  fail_unless_equals_int(test_count_metas(frame), 0);

  /* And what came out goes in once more. */
  test_fixture_push(&f, frame);
  frame = test_tap_pop_buffer(f.tap);
  gst_buffer_ref(frame);
  test_fixture_measure(&f, frame, 256);
  fail_unless_equals_int(test_count_metas(frame), 1);
  gst_buffer_unref(frame);
  test_fixture_teardown(&f);
  g_free(caps);
}
GST_END_TEST;

/* ---- Copies ---- */

static void
check_copy(const TestExpected *expected, GstBuffer *copy)
{
  GstGpuHistogramMeta *meta;

  test_check_meta(expected, gst_buffer_get_gpu_histogram_meta(copy), 256);
  copy = gst_buffer_make_writable(copy);
  meta = gst_buffer_get_gpu_histogram_meta(copy);
  meta->sum = 1;
  for (guint bin = 0; bin < 256; bin++)
    meta->bins[bin] = bin;
  gst_buffer_unref(copy);
}

GST_START_TEST(B43_copies_are_equal_and_independent)
{
  gchar *caps = g_strdup_printf(CAPS, "I420");
  TestExpected expected;
  GstBuffer *buffer, *copy;
  TestFixture f;

  test_fixture_setup(&f, caps, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = test_frame_new(&f.info, NULL, test_ramp, NULL);
  test_expect(&expected, buffer, &f.info);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);

  check_copy(&expected, gst_buffer_copy(buffer));
  check_copy(&expected, gst_buffer_copy_deep(buffer));
  check_copy(&expected, gst_buffer_ref(buffer));
  check_copy(&expected,
             gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 0, 100));
  test_check_frame(&expected, buffer, 256);

  copy = gst_buffer_copy(buffer);
  gst_buffer_unref(buffer);
  test_fixture_teardown(&f);
  check_copy(&expected, copy);
  test_expected_clear(&expected);
  g_free(caps);
}
GST_END_TEST;

/* ---- A tee ---- */

/* The other branch writes into its frames; ours must not see that, nor may
 * ours keep it from having a frame of its own. */
GST_START_TEST(writer_on_the_other_branch_of_a_tee)
{
  gchar *caps = g_strdup_printf(CAPS, "I420");
  gchar *text = g_strdup_printf(
      "appsrc name=src format=time caps=%s ! tee name=t ! queue ! "
      "gpuhistogram ! appsink name=sink sync=false t. ! queue ! "
      "videobalance brightness=0.5 ! fakesink sync=false",
      caps);
  GstElement *pipeline = test_pipeline(text);
  GstVideoInfo info;
  GstBuffer *buffer;
  guint count = 0;

  test_video_info(&info, caps);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 100; i++)
    test_app_push(pipeline, test_frame_flat(&info, (guint8)(i + 20), i));
  test_app_end(pipeline);
  for (; (buffer = test_app_pull(pipeline)) != NULL; count++) {
    fail_unless_equals_int(test_first_sample(buffer), count + 20);
    test_check_flat(buffer, count + 20, 160 * 120);
    gst_buffer_unref(buffer);
  }
  fail_unless_equals_int(count, 100);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(text);
  g_free(caps);
}
GST_END_TEST;

/* Loop tests take ranges, and every way may lack an element. */
static void
add_ways(TCase *chain)
{
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    gchar **elements = g_strsplit(ways[i].name, " ", -1);

    if (test_have("B24_meta_survives", elements[0], elements[1], NULL))
      tcase_add_loop_test(chain, B24_meta_survives, (int)i, (int)i + 1);
    g_strfreev(elements);
  }
}

static Suite *
travel_suite(void)
{
  Suite *suite = suite_create("travel");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  add_ways(chain);
  tcase_add_test(chain, B36_second_element_replaces_the_meta);
  tcase_add_test(chain, B36_same_buffer_twice);
  tcase_add_test(chain, B43_copies_are_equal_and_independent);
  tcase_add_test(chain, writer_on_the_other_branch_of_a_tee);
  return suite;
}

TEST_MAIN(travel)
