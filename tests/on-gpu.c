/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames that are on the GPU already: counted there, wherever they lie and
 * whoever writes them, and handed on as they came. */

#include "driver.h"
#include "testing-cuda.h"
#include "testing-fake.h"

#include <gst/cuda/gstcudamemory.h>
#include <string.h>

#define FORMAT(width, height)                                                 \
  "video/x-raw(memory:CUDAMemory),format=NV12,width=" width ",height=" height \
  ",framerate=25/1"
#define CAPS FORMAT("642", "480")
#define LARGE FORMAT("1920", "1080")
#define ODD(memory) \
  "video/x-raw" memory ",format=NV12,width=641,height=481,framerate=25/1"

GST_START_TEST(frames_are_counted_where_they_are)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  test_cuda_push_flat(&fixture, pool, 0, 20);
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
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, LARGE, 2);
  GRand *random = test_random();
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  for (guint i = 0; i < test_repeats(200); i++) {
    guint width = (guint)g_rand_int_range(random, 1, 1200);
    guint height = (guint)g_rand_int_range(random, 1, 600);
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
 * wait: a GPU is at it for some milliseconds. */
static void
write_late(const GhDriver *driver, CUstream stream, GstBuffer *buffer,
           const guint8 *pinned, CUdeviceptr scratch)
{
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  const guint copies = 100;
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map,
                             (GstMapFlags)(GST_MAP_WRITE | GST_MAP_CUDA)));
  for (guint i = 0; i < copies; i++)
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
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, LARGE, 2);
  const guint n = test_repeats(test_fake_find() ? 20 : 200);
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
  gst_cuda_context_push(test_cuda_context);
  fail_unless_equals_int(
      driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  driver->cuMemAlloc_v2(&scratch, size);
  for (guint i = 0; i < 2; i++) {
    driver->cuMemHostAlloc((void **)&pinned[i], size, 0);
    memset(pinned[i], i ? 200 : 10, size);
  }
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = test_cuda_take(pool, i);
    /* Another one each time that the pool hands out the same buffer. */
    guint which = i / 2 % 2;

    write_late(driver, stream, buffer, pinned[which], scratch);
    test_fixture_push(&fixture, buffer);
    buffer = test_tap_pop_buffer(fixture.tap);
    test_check_flat(buffer, which ? 200 : 10, 1920 * 1080);
    gst_buffer_unref(buffer);
  }
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"), 0);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"), 0);
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

/* ---- Layout ---- */

static guint8
video_ramp(guint x, guint y, gpointer unused)
{
  return (guint8)(16 + x % 220);
}

/* The same luma in system memory, measured there. */
static GstBuffer *
measured_in_system_memory(const gchar *caps)
{
  TestFixture fixture;
  GstBuffer *out;

  test_fixture_setup(&fixture, caps, NULL);
  test_tap_clear(fixture.tap);
  test_fixture_push(&fixture,
                    test_frame_new(&fixture.info, NULL, video_ramp, NULL));
  out = test_tap_pop_buffer(fixture.tap);
  test_fixture_teardown(&fixture);
  return out;
}

/* Chroma is 255, and what is between the rows 0xEE. */
static GstBuffer *
ramp_on_the_gpu(GstBufferPool *pool, const GstVideoInfo *info)
{
  GstBuffer *buffer = test_cuda_take(pool, 0);
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  const GstVideoInfo *places = &GST_CUDA_MEMORY_CAST(memory)->info;
  GstMapInfo map;

  fail_unless(GST_VIDEO_INFO_PLANE_STRIDE(places, 0) > info->width);
  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 0xEE, map.size);
  for (gint y = 0; y < info->height; y++)
    for (gint x = 0; x < info->width; x++)
      map.data[y * GST_VIDEO_INFO_PLANE_STRIDE(places, 0) + x] =
          video_ramp((guint)x, (guint)y, NULL);
  memset(map.data + GST_VIDEO_INFO_PLANE_OFFSET(places, 1), 255,
         map.size - GST_VIDEO_INFO_PLANE_OFFSET(places, 1));
  gst_memory_unmap(memory, &map);
  return buffer;
}

/* The memory alone, which says itself how it is laid out. */
static GstBuffer *
without_meta(GstBuffer *buffer)
{
  GstBuffer *bare = gst_buffer_new();

  gst_buffer_append_memory(bare, gst_buffer_get_memory(buffer, 0));
  gst_buffer_unref(buffer);
  return bare;
}

GST_START_TEST(B34_luma_with_the_devices_pitch)
{
  GstBufferPool *pool =
      test_cuda_pool_new(test_cuda_context, ODD("(memory:CUDAMemory)"), 2);
  GstBuffer *system = measured_in_system_memory(ODD(""));
  const guint64 *wanted = gst_buffer_get_gpu_histogram_meta(system)->bins;
  GstGpuHistogramMeta *meta;
  TestFixture fixture;
  GstBuffer *in, *out;

  test_fixture_setup(&fixture, ODD("(memory:CUDAMemory)"), NULL);
  test_tap_clear(fixture.tap);
  in = ramp_on_the_gpu(pool, &fixture.info);
  test_fixture_push(&fixture, __i__ == 0 ? in : without_meta(in));
  out = test_tap_pop_buffer(fixture.tap);
  meta = gst_buffer_get_gpu_histogram_meta(out);
  fail_unless_equals_uint64(meta->pixels, 308321);
  fail_unless_equals_uint64(meta->bins[0xEE], 0);
  fail_unless_equals_uint64(meta->bins[255], 0);
  fail_unless_equals_uint64(meta->bins[16], 3 * 481);
  fail_unless_equals_uint64(meta->bins[235], 2 * 481);
  fail_unless_equals_int(test_count_metas(out), 1);
  fail_unless(memcmp(meta->bins, wanted, 256 * sizeof(*wanted)) == 0);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"), 0);
  gst_buffer_unref(system);
  gst_buffer_unref(out);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pool);
}
GST_END_TEST

/* ---- Without the GPU ---- */

GST_START_TEST(the_cpu_counts_a_download)
{
  GstBufferPool *pool = test_cuda_pool_new(test_cuda_context, CAPS, 3);
  TestFixture fixture;
  gchar *engine;

  test_fixture_setup(&fixture, NULL, NULL);
  test_set_state(fixture.element, GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(fixture.element), "engine", "cpu");
  test_cuda_start_stream(&fixture, CAPS);
  test_cuda_push_flat(&fixture, pool, 0, 5);
  engine = test_stat_string(fixture.element, "engine");
  fail_unless_equals_string(engine, "cpu");
  g_free(engine);
  test_fixture_teardown(&fixture);
  test_cuda_pool_free(pool);
}
GST_END_TEST

static Suite *
on_gpu_suite(void)
{
  Suite *suite = suite_create("on-gpu");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  test_cuda_add_fixture(tcase);
  tcase_add_test(tcase, frames_are_counted_where_they_are);
  tcase_add_test(tcase, B15_any_offset_and_width);
  tcase_add_test(tcase, B10_producer_is_not_done);
  tcase_add_loop_test(tcase, B34_luma_with_the_devices_pitch, 0, 2);
  tcase_add_test(tcase, the_cpu_counts_a_download);
  return suite;
}

TEST_MAIN(on_gpu)
