/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A clip, encoded here: every message of a decoding pipeline against a count
 * of the luma that another pipeline decodes from the same file. */

#include "testing.h"

#include <glib/gstdio.h>

#define FRAMES 60

/* Odd in width, so that strides matter, where the codec can do that. The one of
 * 10 bits loses nothing, and a matrix makes use of all of them. */
static const struct {
  const gchar *encoder, *parser, *muxer, *text;
  guint depth;
} codecs[] = {
    {"vp8enc", "identity", "webmmux",
     "video/x-raw,format=I420,width=321,height=241,framerate=25/1 ! "
     "vp8enc deadline=1 ! webmmux",
     8},
    {"openh264enc", "h264parse", "mp4mux",
     "video/x-raw,format=I420,width=322,height=242,framerate=25/1 ! "
     "openh264enc ! h264parse ! mp4mux",
     8},
    {"avenc_ffv1", "avdec_ffv1", "matroskamux",
     "video/x-raw,format=ARGB64,width=321,height=241,framerate=25/1 ! "
     "videoconvert ! video/x-raw,format=I420_10LE ! avenc_ffv1 ! matroskamux",
     10},
};

static gchar *
encode_clip(const gchar *encoder)
{
  gchar *path = NULL, *text;
  GstElement *pipeline;
  gint file = g_file_open_tmp("gpuhistogram-XXXXXX", &path, NULL);

  fail_unless(file >= 0);
  g_close(file, NULL);
  text = g_strdup_printf("videotestsrc num-buffers=%d pattern=ball ! %s ! "
                         "filesink location=%s",
                         FRAMES, encoder, path);
  pipeline = test_pipeline(text);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  test_wait_for_eos(pipeline);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(text);
  return path;
}

/* Decodes without the element, and counts. */
static guint
count_clip(const gchar *path, TestExpected *expected)
{
  gchar *text = g_strdup_printf("filesrc location=%s ! decodebin ! appsink "
                                "name=sink sync=false",
                                path);
  GstElement *pipeline = test_pipeline(text);
  GstElement *sink = test_child(pipeline, "sink");
  GstPad *pad = gst_element_get_static_pad(sink, "sink");
  guint count = 0;
  GstBuffer *buffer;

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (; (buffer = test_app_pull(pipeline)) != NULL; count++) {
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstVideoInfo info;

    fail_unless(count < FRAMES);
    fail_unless(gst_video_info_from_caps(&info, caps));
    test_expect(&expected[count], buffer, &info);
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  g_free(text);
  return count;
}

/* Decodes with the element, and compares each message. */
static void
compare_clip(const gchar *path, const TestExpected *expected, guint frames)
{
  gchar *text = g_strdup_printf("filesrc location=%s ! decodebin ! "
                                "gpuhistogram ! fakesink sync=false",
                                path);
  GstElement *pipeline = test_pipeline(text);
  GstBus *bus = gst_element_get_bus(pipeline);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < frames; i++) {
    GstMessage *message = test_bus_pop_histogram(bus);

    test_check_message(&expected[i], message);
    fail_unless_equals_uint64(test_message_uint64(message, "timestamp"),
                              expected[i].pts);
    fail_unless_equals_uint64(test_message_uint64(message, "frame"), i);
    gst_message_unref(message);
  }
  fail_unless_equals_int(test_wait_for_eos(pipeline), 0);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  g_free(text);
}

/* That the lowest two bits of 10 are in use. */
static void
check_depth(const TestExpected *expected, guint depth)
{
  guint64 between = 0;

  fail_unless_equals_int(expected->depth, depth);
  for (guint level = 0; level < 1u << depth; level++)
    between += level % 4 != 0 ? expected->levels[level] : 0;
  fail_unless(between > 0);
}

GST_START_TEST(every_frame_of_a_clip)
{
  gchar *path = encode_clip(codecs[__i__].text);
  TestExpected *expected = g_new0(TestExpected, FRAMES);
  guint frames = count_clip(path, expected);

  fail_unless_equals_int(frames, FRAMES);
  check_depth(&expected[0], codecs[__i__].depth);
  compare_clip(path, expected, frames);
  for (guint i = 0; i < frames; i++)
    test_expected_clear(&expected[i]);
  g_free(expected);
  g_unlink(path);
  g_free(path);
}
GST_END_TEST;

static Suite *
clip_suite(void)
{
  Suite *suite = suite_create("clip");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  for (guint i = 0; i < G_N_ELEMENTS(codecs); i++) {
    if (test_have("every_frame_of_a_clip", codecs[i].encoder, codecs[i].parser,
                  codecs[i].muxer, NULL))
      tcase_add_loop_test(chain, every_frame_of_a_clip, (int)i, (int)i + 1);
  }
  return suite;
}

TEST_MAIN(clip)
