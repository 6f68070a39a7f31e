/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pipelines that are made, run, and stopped at the end or in the middle. */

#include "soak.h"

#include <gst/app/app.h>

#include "testing-quiet.h"

/* ---- A tee ---- */

#define TEE                                                                   \
  "appsrc name=src format=time ! tee name=t ! queue ! gpuhistogram name=a ! " \
  "appsink name=sink sync=false t. ! queue ! gpuhistogram name=b bins=16 ! "  \
  "appsink name=other sync=false t. ! queue ! videobalance brightness=0.3 ! " \
  "fakesink sync=false"

/* What the other branch can write into. */
static const gchar *const formats[] = {"I420", "NV12", "YUY2", "Y444", "AYUV"};

typedef struct {
  GstVideoInfo info;
  gchar *digest;
} Pushed;

static void
pushed_clear(gpointer data)
{
  g_free(((Pushed *)data)->digest);
}

static void
push(Soak *soak, GstElement *pipeline, GArray *pushed, const GstVideoInfo *info)
{
  GstBuffer *buffer = test_frame_flat(info, 0, pushed->len);
  Pushed frame = {*info};
  TestExpected expected;

  soak_fill(soak, buffer);
  test_expect(&expected, buffer, info);
  frame.digest = g_steal_pointer(&expected.digest);
  test_expected_clear(&expected);
  g_array_append_val(pushed, frame);
  test_app_push(pipeline, buffer);
}

static void
push_all(Soak *soak, GstElement *pipeline, GArray *pushed)
{
  GstElement *src = test_child(pipeline, "src");
  guint n_caps = soak_number(soak, 1, 4);

  for (guint i = 0; i < n_caps; i++) {
    gchar *text = soak_caps(soak, formats, G_N_ELEMENTS(formats));
    GstCaps *caps = gst_caps_from_string(text);
    guint n = soak_number(soak, 1, 20);
    GstVideoInfo info;

    test_video_info(&info, text);
    gst_app_src_set_caps(GST_APP_SRC(src), caps);
    while (n-- > 0)
      push(soak, pipeline, pushed, &info);
    gst_caps_unref(caps);
    g_free(text);
  }
  gst_object_unref(src);
}

/* All of its frames, as they were before the other branch wrote. */
static void
check_branch(Soak *soak, GstElement *pipeline, const gchar *name, guint bins,
             GArray *pushed)
{
  GstAppSink *sink = GST_APP_SINK(test_child(pipeline, name));

  for (guint i = 0; i < pushed->len; i++) {
    const Pushed *frame = &g_array_index(pushed, Pushed, i);
    GstSample *sample =
        gst_app_sink_try_pull_sample(sink, TEST_PATIENCE * GST_USECOND);
    GstBuffer *buffer = sample ? gst_sample_get_buffer(sample) : NULL;
    TestExpected expected;

    fail_unless(buffer != NULL, "no frame came to %s", name);
    test_expect(&expected, buffer, &frame->info);
    fail_unless_equals_string(expected.digest, frame->digest);
    test_check_frame(&expected, buffer, bins);
    test_expected_clear(&expected);
    gst_sample_unref(sample);
    soak->checked++;
  }
  gst_object_unref(sink);
}

void
soak_tee(Soak *soak)
{
  GstElement *pipeline = test_pipeline(TEE);
  GArray *pushed = g_array_new(FALSE, FALSE, sizeof(Pushed));

  g_array_set_clear_func(pushed, pushed_clear);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  push_all(soak, pipeline, pushed);
  /* Otherwise it is stopped with frames anywhere. */
  if (!soak_once_in(soak, 3)) {
    check_branch(soak, pipeline, "sink", 256, pushed);
    check_branch(soak, pipeline, "other", 16, pushed);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_array_unref(pushed);
}

/* ---- Seeks ---- */

#define SEEKS                                                          \
  "videotestsrc pattern=snow ! %s ! gpuhistogram ! appsink name=sink " \
  "sync=false max-buffers=2"

/* Takes @buffer. */
static void
check_frame_at(Soak *soak, GstBuffer *buffer, const GstVideoInfo *info,
               GstClockTime want)
{
  fail_unless(buffer != NULL);
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), want);
  test_check_own_frame(buffer, info);
  gst_buffer_unref(buffer);
  soak->checked++;
}

static void
seek(Soak *soak, GstElement *pipeline, const GstVideoInfo *info,
     gboolean playing)
{
  GstClockTime position = soak_number(soak, 0, 100) * GST_SECOND;
  guint n = playing ? soak_number(soak, 0, 5) : 0;

  fail_unless(gst_element_seek_simple(
      pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      position));
  if (!playing)
    check_frame_at(soak, test_app_pull_preroll(pipeline), info, position);
  for (guint i = 0; i < n; i++)
    check_frame_at(soak, test_app_pull(pipeline), info,
                   position + i * TEST_FRAME_DURATION);
}

void
soak_seeks(Soak *soak)
{
  gchar *caps = soak_caps(soak, formats, G_N_ELEMENTS(formats));
  gchar *text = g_strdup_printf(SEEKS, caps);
  GstElement *pipeline = test_pipeline(text);
  gboolean playing = soak_once_in(soak, 2);
  GstVideoInfo info;

  test_video_info(&info, caps);
  test_set_state(pipeline, playing ? GST_STATE_PLAYING : GST_STATE_PAUSED);
  for (guint i = 0; i < 5; i++)
    seek(soak, pipeline, &info, playing);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(text);
  g_free(caps);
}
