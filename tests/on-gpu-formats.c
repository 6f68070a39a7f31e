/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every format that GStreamer's CUDA library has, counted on the GPU, where it
 * is, and in a download, against the plain count of a download. */

#include "testing-cuda.h"

/* Those with luma of GStreamer 1.22. */
static const gchar *const formats[] = {
    "NV12",      "NV21", "P010_10LE", "P016_LE", "I420",      "YV12",
    "I420_10LE", "Y444", "Y444_16LE", "Y42B",    "I422_10LE", "I422_12LE"};

static gchar *
make_caps(const gchar *format, guint width, guint height)
{
  return g_strdup_printf("video/x-raw(memory:CUDAMemory),format=%s,"
                         "framerate=25/1,width=%u,height=%u",
                         format, width, height);
}

/* Frames that are a part of wider ones, from any byte on, so that words are not
 * always where words usually are. */
static void
try_size(TestFixture *f, const gchar *format, guint width, guint height)
{
  gchar *caps = make_caps(format, width, height);
  gchar *wider = make_caps(format, width + 16, height);
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, wider, 3);

  fail_unless(test_fixture_renegotiate(f, caps), "%s refused", caps);
  test_tap_clear(f->tap);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = test_cuda_noise(pool);
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

    meta->width = width;
    meta->height = height;
    meta->offset[0] += i;
    test_fixture_measure(f, buffer, 256);
  }
  test_cuda_pool_free(pool);
  g_free(wider);
  g_free(caps);
}

static void
try_format(const gchar *format, const gchar *engine)
{
  TestFixture f;

  test_fixture_setup(&f, NULL, NULL);
  test_set_state(f.element, GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(f.element), "engine", engine);
  test_set_state(f.element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str(f.harness,
                               "video/x-raw(memory:CUDAMemory),format=NV12,"
                               "framerate=25/1,width=64,height=64");
  try_size(&f, format, 642, 482);
  try_size(&f, format, 64, 16);
  try_size(&f, format, 2, 2);
  fail_unless_equals_uint64(test_stat(f.element, "bytes-uploaded"), 0);
  test_fixture_teardown(&f);
}

GST_START_TEST(counted_where_they_are)
{
  try_format(formats[__i__], "cuda");
}
GST_END_TEST

GST_START_TEST(counted_by_the_cpu)
{
  try_format(formats[__i__], "cpu");
}
GST_END_TEST

static Suite *
on_gpu_formats_suite(void)
{
  Suite *suite = suite_create("on-gpu-formats");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  test_cuda_add_fixture(tcase);
  tcase_add_loop_test(tcase, counted_where_they_are, 0, G_N_ELEMENTS(formats));
  tcase_add_loop_test(tcase, counted_by_the_cpu, 0, G_N_ELEMENTS(formats));
  return suite;
}

TEST_MAIN(on_gpu_formats)
