/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames that are on the GPU already: counted there, in the context that they
 * come with, and handed on as they came. */

#include "driver.h"
#include "testing-cuda.h"

#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#define FORMAT(width, height)                                                 \
  "video/x-raw(memory:CUDAMemory),format=NV12,width=" width ",height=" height \
  ",framerate=25/1"
#define CAPS FORMAT("642", "480")
#define LARGE FORMAT("1920", "1080")
#define PIXELS (642 * 480)

static GstCudaContext *context;

static void
setup(void)
{
  context = test_cuda_context_new();
}

static void
teardown(void)
{
  gst_object_unref(context);
}

/* Written on the host, with 0xEE between the rows and in the other plane. */
static GstBuffer *
flat_frame(GstBufferPool *pool, const GstVideoInfo *info, guint8 value,
           guint number)
{
  GstBuffer *buffer = test_cuda_take(pool, number);
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  gint pitch =
      GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info, 0);
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 0xEE, map.size);
  for (gint y = 0; y < info->height; y++)
    memset(map.data + (gsize)y * pitch, value, info->width);
  gst_memory_unmap(memory, &map);
  return buffer;
}

static void
push_flat(TestFixture *fixture, GstBufferPool *pool, guint first, guint n)
{
  for (guint i = first; i < first + n; i++) {
    GstBuffer *in = flat_frame(pool, &fixture->info, (guint8)(11 * i + 1), i);
    GstMemory *memory = gst_buffer_peek_memory(in, 0);
    GstBuffer *out;

    test_fixture_push(fixture, in);
    out = test_tap_pop_buffer(fixture->tap);
    fail_unless(gst_buffer_peek_memory(out, 0) == memory);
    test_check_flat(out, (guint8)(11 * i + 1), PIXELS);
    gst_buffer_unref(out);
  }
}

GST_START_TEST(frames_are_counted_where_they_are)
{
  GstBufferPool *pool = test_cuda_pool_new(context, CAPS, 3);
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  push_flat(&fixture, pool, 0, 20);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"), 0);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"), 0);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* Noise, of which the frame is a part of that size, somewhere. */
static GstBuffer *
noisy_frame(GstBufferPool *pool, GRand *random, guint width, guint height)
{
  GstBuffer *buffer = test_cuda_noise(pool);
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  meta->width = width;
  meta->height = height;
  meta->offset[0] = (gsize)g_rand_int_range(random, 0, 32) +
                    (gsize)g_rand_int_range(random, 0, 9) * meta->stride[0];
  return buffer;
}

/* A plain count of a download is what is expected. */
GST_START_TEST(B15_any_offset_and_width)
{
  GstBufferPool *pool = test_cuda_pool_new(context, LARGE, 2);
  GRand *random = test_random();
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  for (guint i = 0; i < test_repeats(200); i++) {
    guint width = 2 * (guint)g_rand_int_range(random, 1, 600);
    guint height = 2 * (guint)g_rand_int_range(random, 1, 300);
    gchar *caps = g_strdup_printf("video/x-raw(memory:CUDAMemory),format=NV12,"
                                  "framerate=25/1,width=%u,height=%u",
                                  width, height);
    GstBuffer *buffer = noisy_frame(pool, random, width, height);
    TestExpected expected;

    fail_unless(test_fixture_renegotiate(&fixture, caps));
    test_tap_clear(fixture.tap);
    test_expect(&expected, buffer, &fixture.info);
    test_fixture_push(&fixture, buffer);
    buffer = test_tap_pop_buffer(fixture.tap);
    test_check_frame(&expected, buffer, 256);
    gst_buffer_unref(buffer);
    test_expected_clear(&expected);
    g_free(caps);
  }
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"), 0);
  g_rand_free(random);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* ---- Producers ---- */

/* Writes the frame on a stream of its own, behind much other work, and does not
 * wait. */
static void
write_late(const GhDriver *driver, CUstream stream, GstBuffer *buffer,
           const guint8 *pinned, CUdeviceptr scratch)
{
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map,
                             (GstMapFlags)(GST_MAP_WRITE | GST_MAP_CUDA)));
  for (guint i = 0; i < 20; i++)
    driver->cuMemcpyHtoDAsync_v2(scratch, pinned, map.size, stream);
  fail_unless_equals_int(
      driver->cuMemcpyHtoDAsync_v2((CUdeviceptr)(guintptr)map.data, pinned,
                                   map.size, stream),
      CUDA_SUCCESS);
  gst_memory_unmap(memory, &map);
}

GST_START_TEST(B10_producer_is_not_done)
{
  const GhDriver *driver;
  GstBufferPool *pool = test_cuda_pool_new(context, LARGE, 2);
  gsize size = 3 * 1024 * 2048;
  TestFixture fixture;
  CUdeviceptr scratch;
  CUstream stream;
  CUcontext ours;
  guint8 *pinned[2];
  GhError error;

  fail_unless(gh_driver_get(&driver, &error) == GH_OK);
  test_fixture_setup(&fixture, LARGE, NULL);
  test_tap_clear(fixture.tap);
  gst_cuda_context_push(context);
  fail_unless_equals_int(
      driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  driver->cuMemAlloc_v2(&scratch, size);
  for (guint i = 0; i < 2; i++) {
    driver->cuMemHostAlloc((void **)&pinned[i], size, 0);
    memset(pinned[i], i ? 200 : 10, size);
  }
  for (guint i = 0; i < test_repeats(g_getenv("FAKE_DRIVER_DELAY") ? 40 : 200);
       i++) {
    GstBuffer *buffer = test_cuda_take(pool, i);

    write_late(driver, stream, buffer, pinned[i % 2], scratch);
    test_fixture_push(&fixture, buffer);
    buffer = test_tap_pop_buffer(fixture.tap);
    test_check_flat(buffer, i % 2 ? 200 : 10, 1920 * 1080);
    gst_buffer_unref(buffer);
  }
  test_fixture_teardown(&fixture);
  driver->cuStreamSynchronize(stream);
  driver->cuStreamDestroy_v2(stream);
  driver->cuMemFreeHost(pinned[0]);
  driver->cuMemFreeHost(pinned[1]);
  driver->cuMemFree_v2(scratch);
  gst_cuda_context_pop(&ours);
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* ---- Contexts ---- */

GST_START_TEST(frames_of_another_context_are_followed)
{
  GstCudaContext *other = gst_cuda_context_new(0);
  GstBufferPool *pools[] = {test_cuda_pool_new(context, CAPS, 3),
                            test_cuda_pool_new(other, CAPS, 3)};
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  for (guint i = 0; i < 6; i++)
    push_flat(&fixture, pools[i % 2], 5 * i, 5);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pools[0]);
  test_cuda_pool_free(pools[1]);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(other), 1);
  gst_object_unref(other);
}
GST_END_TEST

/* Of an element that was made without caps. */
static void
start_stream(TestFixture *fixture)
{
  test_set_state(fixture->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str(fixture->harness, CAPS);
  test_video_info(&fixture->info, CAPS);
  test_fixture_drain(fixture);
  test_tap_clear(fixture->tap);
}

static void
give_context(GstElement *element)
{
  GstContext *shared = gst_context_new_cuda_context(context);

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

GST_START_TEST(B19_a_given_context_is_shared_and_given_back)
{
  gint before = GST_OBJECT_REFCOUNT_VALUE(context);

  for (guint session = 0; session < 5; session++) {
    GstCudaContext *answer;
    TestFixture fixture;
    GstBufferPool *pool = test_cuda_pool_new(context, CAPS, 3);

    test_fixture_setup(&fixture, NULL, NULL);
    test_set_state(fixture.element, GST_STATE_NULL);
    give_context(fixture.element);
    start_stream(&fixture);
    push_flat(&fixture, pool, 0, 30);
    answer = query_context(fixture.element);
    fail_unless(answer == context);
    gst_object_unref(answer);
    test_fixture_teardown(&fixture);
    test_cuda_pool_free(pool);
    fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(context), before);
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
  answer = gst_context_new_cuda_context(context);
  gst_query_set_context(query, answer);
  gst_context_unref(answer);
  return GST_PAD_PROBE_HANDLED;
}

/* And no other one is made for the rest of the pipeline. */
GST_START_TEST(a_neighbours_context_is_taken)
{
  TestFixture fixture;
  GstCudaContext *taken;

  test_fixture_setup(&fixture, NULL, NULL);
  gst_pad_add_probe(fixture.harness->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
                    answer_with_context, NULL, NULL);
  gst_harness_set_src_caps_str(fixture.harness, CAPS);
  test_fixture_drain(&fixture);
  taken = query_context(fixture.element);
  fail_unless(taken == context);
  gst_object_unref(taken);
  fail_unless_equals_int(test_bus_take(fixture.bus, GST_MESSAGE_HAVE_CONTEXT),
                         0);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* What came up in one session is forgotten in the next. */
GST_START_TEST(a_context_is_let_go_at_the_stop)
{
  GstBufferPool *pool = test_cuda_pool_new(context, CAPS, 3);
  gint before = GST_OBJECT_REFCOUNT_VALUE(context);
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  push_flat(&fixture, pool, 0, 5);
  test_set_state(fixture.element, GST_STATE_NULL);
  fail_unless(query_context(fixture.element) != context);
  test_fixture_teardown(&fixture);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(context), before);
  test_cuda_pool_free(pool);
}
GST_END_TEST

GST_START_TEST(the_callers_context_stays_current)
{
  GstBufferPool *pool = test_cuda_pool_new(context, CAPS, 3);
  CUcontext current = NULL;
  TestFixture fixture;

  gst_cuda_context_push(context);
  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  push_flat(&fixture, pool, 0, 5);
  test_fixture_teardown(&fixture);
  gst_cuda_context_pop(&current);
  fail_unless(current == gst_cuda_context_get_handle(context));
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* ---- Without the GPU ---- */

GST_START_TEST(the_cpu_counts_a_download)
{
  GstBufferPool *pool = test_cuda_pool_new(context, CAPS, 3);
  TestFixture fixture;
  gchar *engine;

  test_fixture_setup(&fixture, NULL, NULL);
  test_set_state(fixture.element, GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(fixture.element), "engine", "cpu");
  start_stream(&fixture);
  push_flat(&fixture, pool, 0, 5);
  engine = test_stat_string(fixture.element, "engine");
  fail_unless_equals_string(engine, "cpu");
  g_free(engine);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pool);
}
GST_END_TEST

static void
check_session(const gchar *text, guint frames)
{
  GstElement *pipeline = test_pipeline(text);
  GstBuffer *buffer;
  guint n = 0;

  give_context(pipeline);
  test_set_state(pipeline, GST_STATE_PLAYING);
  while ((buffer = test_app_pull(pipeline))) {
    fail_unless_equals_int(test_count_metas(buffer), 1);
    gst_buffer_unref(buffer);
    n++;
  }
  fail_unless_equals_int(n, frames);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

GST_START_TEST(B19_pipelines_one_after_the_other)
{
  if (!test_have("B19_pipelines_one_after_the_other", "cudaupload",
                 "cudadownload", NULL))
    return;
  for (guint i = 0; i < 5; i++)
    check_session("videotestsrc num-buffers=30 ! video/x-raw,format=NV12,"
                  "width=640,height=480 ! cudaupload ! gpuhistogram "
                  "verify=true ! cudadownload ! appsink name=sink sync=false",
                  30);
  fail_unless_equals_int(GST_OBJECT_REFCOUNT_VALUE(context), 1);
  /* Both kinds of memory fit; nobody says which. */
  check_session("videotestsrc num-buffers=5 ! cudaupload ! gpuhistogram ! "
                "gpuhistogram ! cudadownload ! appsink name=sink sync=false",
                5);
}
GST_END_TEST

static Suite *
on_gpu_suite(void)
{
  Suite *suite = suite_create("on-gpu");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, frames_are_counted_where_they_are);
  tcase_add_test(tcase, B15_any_offset_and_width);
  tcase_add_test(tcase, B10_producer_is_not_done);
  tcase_add_test(tcase, frames_of_another_context_are_followed);
  tcase_add_test(tcase, B19_a_given_context_is_shared_and_given_back);
  tcase_add_test(tcase, a_neighbours_context_is_taken);
  tcase_add_test(tcase, a_context_is_let_go_at_the_stop);
  tcase_add_test(tcase, the_callers_context_stays_current);
  tcase_add_test(tcase, the_cpu_counts_a_download);
  tcase_add_test(tcase, B19_pipelines_one_after_the_other);
  return suite;
}

TEST_MAIN(on_gpu)
