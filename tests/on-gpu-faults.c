/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in the GPU's memory, and contexts, that cannot be used. */

#include "testing-cuda.h"
#include "testing-fake.h"

#include <gst/cuda/gstcudautils.h>
#include <string.h>

#define FORMAT(features, format, width)                      \
  "video/x-raw(" features "),format=" format ",width=" width \
  ",height=480,framerate=25/1"
#define CUDA "memory:CUDAMemory"
#define CAPS FORMAT(CUDA, "NV12", "640")
#define PIXELS (640 * 480)

/* The cure is one for such frames. */
GST_START_TEST(caps_that_cannot_be_counted)
{
  const struct {
    const gchar *caps, *words[3];
  } refused[] = {
      {FORMAT(CUDA, "RGBA", "640"), {"RGBA cannot be counted", "cudaconvert"}},
      {FORMAT(CUDA ",meta:GstVideoOverlayComposition", "NV12", "640"),
       {"meta:GstVideoOverlayComposition"}},
  };
  GstCaps *caps = gst_caps_from_string(refused[__i__].caps);
  TestFixture f;

  test_fixture_setup(&f, NULL, NULL);
  gst_harness_push_event(f.harness, gst_event_new_caps(caps));
  test_bus_check_text(f.bus, GST_MESSAGE_ERROR, refused[__i__].words);
  gst_caps_unref(caps);
  test_fixture_teardown(&f);
}
GST_END_TEST

/* Nothing but its memory says how large such a frame is. */
GST_START_TEST(memory_that_is_smaller_than_its_caps)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 2);
  TestFixture f;

  test_fixture_setup(&f, FORMAT(CUDA, "NV12", "642"), NULL);
  test_tap_clear(f.tap);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *small = test_cuda_take(pool, i), *buffer = gst_buffer_new();

    gst_buffer_append_memory(buffer, gst_buffer_get_memory(small, 0));
    test_stamp(buffer, i);
    test_fixture_push(&f, buffer);
    buffer = test_tap_pop_buffer(f.tap);
    fail_unless_equals_int(test_count_metas(buffer), 0);
    gst_buffer_unref(buffer);
    gst_buffer_unref(small);
  }
  test_fixture_drain(&f);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_WARNING), 1);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  test_fixture_teardown(&f);
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* It would work on another GPU than the one that was asked for. */
GST_START_TEST(a_context_of_another_device_is_not_taken)
{
  GstElement *element = test_element("cuda-device-id", 7, NULL);
  GstContext *shared = gst_context_new_cuda_context(test_cuda_context);
  gint before = GST_OBJECT_REFCOUNT_VALUE(test_cuda_context);

  gst_element_set_context(element, shared);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context), before);
  g_object_set(element, "cuda-device-id", 0, NULL);
  gst_element_set_context(element, shared);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context),
                         before + 1);
  gst_object_unref(element);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context), before);
  gst_context_unref(shared);
}
GST_END_TEST

/* (transfer full): a frame whose bytes are all @value. */
static GstBuffer *
flat_frame(GstBufferPool *pool, guint8 value)
{
  GstBuffer *buffer = test_cuda_take(pool, value);

  gst_buffer_memset(buffer, 0, value, gst_buffer_get_size(buffer));
  return buffer;
}

/* Frames in flight, and one more, while a call of the driver fails; returns
 * whether that call was reached. The CPU counts what it can download. */
static gboolean
check_failure(GstBufferPool *pool, guint call)
{
  GstBuffer *frames[4];
  gboolean reached;
  guint uncounted = 0;
  TestFixture f;

  for (guint i = 0; i < G_N_ELEMENTS(frames); i++)
    frames[i] = flat_frame(pool, (guint8)(10 + i));
  test_fixture_setup(&f, CAPS, "engine", TEST_AUTO, NULL);
  test_tap_clear(f.tap);
  test_fake.fail_at(call, 700, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(frames); i++)
    test_fixture_push(&f, frames[i]);
  for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);

    if (test_count_metas(buffer) > 0)
      test_check_flat(buffer, 10 + i, PIXELS);
    else
      uncounted++;
    gst_buffer_unref(buffer);
  }
  reached = test_fake.calls() >= call;
  test_fake.fail_at(0, 0, FALSE);
  fail_unless(uncounted <= 1, "%u frames are uncounted", uncounted);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);
  test_fixture_teardown(&f);
  return reached;
}

GST_START_TEST(frames_are_downloaded_when_the_gpu_fails)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 5);
  guint call = 1;

  while (check_failure(pool, call))
    call++;
  fail_unless(call > 10);
  test_cuda_pool_free(pool);
}
GST_END_TEST

static Suite *
on_gpu_faults_suite(void)
{
  Suite *suite = suite_create("on-gpu-faults");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  test_cuda_add_fixture(tcase);
  tcase_add_loop_test(tcase, caps_that_cannot_be_counted, 0, 2);
  tcase_add_test(tcase, memory_that_is_smaller_than_its_caps);
  if (test_fake_find())
    tcase_add_test(tcase, frames_are_downloaded_when_the_gpu_fails);
  tcase_add_test(tcase, a_context_of_another_device_is_not_taken);
  return suite;
}

TEST_MAIN(on_gpu_faults)
