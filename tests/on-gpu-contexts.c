/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CUDA context that a pipeline shares: the element works in the one that it
 * is given or that its frames come with, and lets go of it. */

#include "testing-cuda.h"

#include <gst/cuda/gstcudautils.h>

#define FORMAT "format=NV12,width=642,height=480,framerate=25/1"
#define CAPS "video/x-raw(memory:CUDAMemory)," FORMAT

GST_START_TEST(frames_of_another_context_are_followed)
{
  GstCudaContext *other = gst_cuda_context_new(0);
  GstBufferPool *pools[] = {test_cuda_pool_new(test_cuda_context, CAPS, 3),
                            test_cuda_pool_new(other, CAPS, 3)};
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  for (guint i = 0; i < 6; i++)
    test_cuda_push_flat(&fixture, pools[i % 2], 5 * i, 5);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pools[0]);
  test_cuda_pool_free(pools[1]);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(other), 1);
  gst_object_unref(other);
}
GST_END_TEST

static void
give_context(GstElement *element)
{
  GstContext *shared = gst_context_new_cuda_context(test_cuda_context);

  gst_element_set_context(element, shared);
  gst_context_unref(shared);
}

/* What a neighbour asks for. */
static GstCudaContext *
query_context(GstElement *element)
{
  GstQuery *query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  GstPad *pad = gst_element_get_static_pad(element, "src");
  GstContext *answer = NULL;
  GstCudaContext *found = NULL;

  if (gst_pad_query(pad, query)) {
    gst_query_parse_context(query, &answer);
    gst_structure_get(gst_context_get_structure(answer), GST_CUDA_CONTEXT_TYPE,
                      GST_TYPE_CUDA_CONTEXT, &found, NULL);
  }
  gst_object_unref(pad);
  gst_query_unref(query);
  return found;
}

/* That it works in the one that the test has. */
static void
check_context(GstElement *element)
{
  GstCudaContext *used = query_context(element);

  fail_unless(used == test_cuda_context);
  gst_object_unref(used);
}

GST_START_TEST(B19_a_given_context_is_shared_and_given_back)
{
  gint before = GST_OBJECT_REFCOUNT_VALUE(test_cuda_context);

  for (guint session = 0; session < 5; session++) {
    TestFixture fixture;
    GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);

    test_fixture_setup(&fixture, NULL, NULL);
    test_set_state(fixture.element, GST_STATE_NULL);
    give_context(fixture.element);
    test_cuda_start_stream(&fixture, CAPS);
    /* Before a frame shows where it is. */
    check_context(fixture.element);
    test_cuda_push_flat(&fixture, pool, 0, 30);
    check_context(fixture.element);
    test_fixture_teardown(&fixture);
    test_cuda_pool_free(pool);
    fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context),
                           before);
  }
}
GST_END_TEST

static GstPadProbeReturn
answer_with_context(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  GstContext *answer;

  if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT)
    return GST_PAD_PROBE_OK;
  answer = gst_context_new_cuda_context(test_cuda_context);
  gst_query_set_context(query, answer);
  gst_context_unref(answer);
  return GST_PAD_PROBE_HANDLED;
}

/* And no other one is made for the rest of the pipeline. */
GST_START_TEST(a_neighbours_context_is_taken)
{
  TestFixture fixture;

  test_fixture_setup(&fixture, NULL, NULL);
  gst_pad_add_probe(fixture.harness->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
                    answer_with_context, NULL, NULL);
  gst_harness_set_src_caps_str(fixture.harness, CAPS);
  test_fixture_drain(&fixture);
  check_context(fixture.element);
  fail_unless_equals_int(test_bus_take(fixture.bus, GST_MESSAGE_HAVE_CONTEXT),
                         0);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* What came up in one session is forgotten in the next. */
GST_START_TEST(a_context_is_let_go_at_the_stop)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);
  gint before = GST_OBJECT_REFCOUNT_VALUE(test_cuda_context);
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  test_cuda_push_flat(&fixture, pool, 0, 5);
  test_set_state(fixture.element, GST_STATE_NULL);
  fail_unless(query_context(fixture.element) != test_cuda_context);
  test_fixture_teardown(&fixture);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context), before);
  test_cuda_pool_free(pool);
}
GST_END_TEST

GST_START_TEST(the_callers_context_stays_current)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);
  CUcontext current = NULL;
  TestFixture fixture;

  gst_cuda_context_push(test_cuda_context);
  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  test_cuda_push_flat(&fixture, pool, 0, 5);
  test_fixture_teardown(&fixture);
  gst_cuda_context_pop(&current);
  fail_unless(current == gst_cuda_context_get_handle(test_cuda_context));
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* ---- Pipelines ---- */

#define SOURCE \
  "videotestsrc num-buffers=30 pattern=ball ! video/x-raw," FORMAT " ! "
#define ON_GPU                                                   \
  SOURCE "cudaupload ! gpuhistogram name=counter verify=true ! " \
         "cudadownload ! appsink name=sink sync=false"

static GstElement *
start_session(const gchar *text)
{
  GstElement *pipeline = test_pipeline(text);

  give_context(pipeline);
  test_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return pipeline;
}

/* At most so many; returns how many came. Each is exact. */
static guint
take_frames(GstElement *pipeline, guint most)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  guint n = 0;

  test_video_info(&info, "video/x-raw," FORMAT);
  for (; n < most && (buffer = test_app_pull(pipeline)) != NULL; n++) {
    test_check_own_frame(buffer, &info);
    gst_buffer_unref(buffer);
  }
  return n;
}

static void
end_session(GstElement *pipeline)
{
  GstElement *counter = test_child(pipeline, "counter");

  check_context(counter);
  gst_object_unref(counter);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

GST_START_TEST(B19_pipelines_one_after_the_other)
{
  /* Both kinds of memory fit; nobody says which. */
  const gchar *two = SOURCE "cudaupload ! gpuhistogram name=counter ! "
                            "gpuhistogram ! cudadownload ! appsink name=sink "
                            "sync=false";

  if (!test_have("B19_pipelines_one_after_the_other", "cudaupload",
                 "cudadownload", NULL))
    return;
  for (guint i = 0; i < 6; i++) {
    GstElement *pipeline = start_session(i < 5 ? ON_GPU : two);

    fail_unless_equals_int(take_frames(pipeline, G_MAXUINT), 30);
    end_session(pipeline);
    fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context), 1);
  }
}
GST_END_TEST

GST_START_TEST(B19_two_pipelines_at_once)
{
  GstElement *one, *other;

  if (!test_have("B19_two_pipelines_at_once", "cudaupload", "cudadownload",
                 NULL))
    return;
  one = start_session(ON_GPU);
  other = start_session(ON_GPU);
  fail_unless_equals_int(take_frames(one, 5), 5);
  fail_unless_equals_int(take_frames(other, 5), 5);
  end_session(one);
  fail_unless_equals_int(take_frames(other, G_MAXUINT), 25);
  end_session(other);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context), 1);
}
GST_END_TEST

/* The frames are on the GPU from the start to the end. */
static void
run_without_other_elements(GstBufferPool *pool)
{
  GstElement *pipeline = test_pipeline(
      "appsrc name=src format=time caps=\"" CAPS "\" ! gpuhistogram "
      "name=counter ! appsink name=sink sync=false");

  give_context(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 30; i++) {
    test_app_push(pipeline, test_cuda_noise(pool));
    fail_unless_equals_int(take_frames(pipeline, 1), 1);
  }
  end_session(pipeline);
}

GST_START_TEST(B19_no_other_element_needs_the_context)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);
  gint before = GST_OBJECT_REFCOUNT_VALUE(test_cuda_context);

  for (guint session = 0; session < 5; session++) {
    run_without_other_elements(pool);
    fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(test_cuda_context),
                           before);
  }
  test_cuda_pool_free(pool);
}
GST_END_TEST

static Suite *
on_gpu_contexts_suite(void)
{
  Suite *suite = suite_create("on-gpu-contexts");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  test_cuda_add_fixture(tcase);
  tcase_add_test(tcase, frames_of_another_context_are_followed);
  tcase_add_test(tcase, B19_a_given_context_is_shared_and_given_back);
  tcase_add_test(tcase, a_neighbours_context_is_taken);
  tcase_add_test(tcase, a_context_is_let_go_at_the_stop);
  tcase_add_test(tcase, the_callers_context_stays_current);
  tcase_add_test(tcase, B19_pipelines_one_after_the_other);
  tcase_add_test(tcase, B19_two_pipelines_at_once);
  tcase_add_test(tcase, B19_no_other_element_needs_the_context);
  return suite;
}

TEST_MAIN(on_gpu_contexts)
