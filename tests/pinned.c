/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames that the GPU reads from where they are, in buffers of the pool that
 * the element proposes. */

#include "testing-pool.h"

#include <string.h>
#include <sys/resource.h>

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define LARGE "video/x-raw,format=GRAY8,width=1920,height=1080,framerate=25/1"
#define PIXELS (640 * 480)

GST_START_TEST(frames_of_the_proposed_pool_are_not_copied)
{
  TestFixture fixture;
  GstBufferPool *pool;
  guint min;

  test_fixture_setup(&fixture, CAPS, "async-depth", 3, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  fail_unless(pool != NULL);
  fail_unless_equals_int(min, 4);
  test_pool_push(&fixture, pool, 20);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"), 0);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"),
                            20 * PIXELS);
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Rows with a gap between them go as one piece; where they are mostly gap, they
 * are copied. */
GST_START_TEST(padded_frames_of_the_proposed_pool)
{
  const gint strides[] = {672, 1280, 4096};
  TestLayout layout = {.stride = strides[__i__]};
  TestExpected expected;
  GstBufferPool *pool;
  GstBuffer *pinned, *frame;
  GstAllocator *allocator;
  TestFixture fixture;
  guint min;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  pinned = test_pool_frame(pool, 0, 0);
  allocator = gst_object_ref(gst_buffer_peek_memory(pinned, 0)->allocator);
  gst_buffer_unref(pinned);
  test_pool_free(pool);

  frame = test_frame_new(&fixture.info, &layout, test_ramp, NULL);
  pinned = gst_buffer_new_allocate(allocator, gst_buffer_get_size(frame), NULL);
  gst_buffer_copy_into(frame, pinned, 0, 0, 0);
  {
    GstMapInfo map;

    fail_unless(gst_buffer_map(pinned, &map, GST_MAP_WRITE));
    gst_buffer_extract(frame, 0, map.data, map.size);
    gst_buffer_unmap(pinned, &map);
  }
  gst_buffer_add_video_meta_full(pinned, 0, GST_VIDEO_FORMAT_GRAY8, 640, 480, 1,
                                 gst_buffer_get_video_meta(frame)->offset,
                                 gst_buffer_get_video_meta(frame)->stride);
  gst_buffer_unref(frame);
  test_stamp(pinned, 0);
  test_expect(&expected, pinned, &fixture.info);
  test_fixture_push(&fixture, pinned);
  pinned = test_tap_pop_buffer(fixture.tap);
  test_check_frame(&expected, pinned, 256);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"),
                            layout.stride > 1280 ? PIXELS : 0);
  gst_buffer_unref(pinned);
  gst_object_unref(allocator);
  test_expected_clear(&expected);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* In the memory itself: making the buffer writable would copy it, as the tap
 * has it too. */
static GstPadProbeReturn
overwrite(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstMemory *memory =
      gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 0xEE, map.size);
  gst_memory_unmap(memory, &map);
  return GST_PAD_PROBE_OK;
}

/* Another one each time that a pool of two hands out the same buffer. */
static guint8
value_of(guint number)
{
  return number / 2 % 2 ? 200 : 10;
}

/* The next frame that came out is wholly of its own value. */
static void
check_next(TestFixture *fixture, guint number)
{
  GstBuffer *buffer = test_tap_pop_buffer(fixture->tap);

  test_check_flat(buffer, value_of(number), 1920 * 1080);
  gst_buffer_unref(buffer);
}

/* Downstream writes into each frame as soon as it has it, and upstream fills
 * it again as soon as it is back: in the element's own pool, and in memory that
 * may be registered or not. */
GST_START_TEST(B03_buffers_are_left_alone_while_they_are_read)
{
  guint n = test_pool_many_frames();
  TestFixture fixture;
  GstBufferPool *pool;
  GstPad *src;
  guint min;

  test_fixture_setup(&fixture, LARGE, "register-memory", __i__ < 2, NULL);
  test_tap_clear(fixture.tap);
  src = gst_element_get_static_pad(fixture.element, "src");
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, overwrite, NULL, NULL);
  pool = __i__ == 0 ? test_pool_proposed(&fixture, &min)
                    : test_pool_ordinary(&fixture.info, 2);
  for (guint i = 0; i < n + 2; i++) {
    if (i >= 2)
      check_next(&fixture, i - 2);
    if (i < n)
      test_fixture_push(&fixture, test_pool_frame(pool, value_of(i), i));
  }
  gst_object_unref(src);
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Memory that is registered is freed long after the element. */
GST_START_TEST(memory_outlives_the_element)
{
  GstBufferPool *pool, *ordinary;
  GstBuffer *kept, *also_kept;
  TestFixture fixture;
  guint8 sample = 0;
  guint min;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  ordinary = test_pool_ordinary(&fixture.info, 1);
  test_pool_push(&fixture, pool, 3);
  test_pool_push(&fixture, ordinary, 3);
  kept = test_pool_frame(pool, 99, 0);
  also_kept = test_pool_frame(ordinary, 98, 0);
  test_fixture_teardown(&fixture);
  gst_buffer_extract(kept, 1000, &sample, 1);
  fail_unless_equals_int(sample, 99);
  gst_buffer_unref(kept);
  gst_buffer_extract(also_kept, 1000, &sample, 1);
  fail_unless_equals_int(sample, 98);
  gst_buffer_unref(also_kept);
  test_pool_free(ordinary);
  test_pool_free(pool);
}
GST_END_TEST

/* The frames in flight are dropped while the GPU reads them. */
GST_START_TEST(flush_while_frames_are_read)
{
  TestFixture fixture;
  GstBufferPool *pool;
  guint min;

  test_fixture_setup(&fixture, LARGE, "async-depth", 4, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  for (guint i = 0; i < test_repeats(100); i++) {
    for (guint f = 0; f < 3; f++)
      test_fixture_push(&fixture, test_pool_frame(pool, 10, f));
    gst_harness_push_event(fixture.harness, gst_event_new_flush_start());
    gst_harness_push_event(fixture.harness, gst_event_new_flush_stop(TRUE));
    test_fixture_start_segment(&fixture);
    /* What was dropped is back in the pool, and can be written at once. */
    test_pool_push(&fixture, pool, min);
    test_tap_clear(fixture.tap);
  }
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Two elements read the same memory, while a third branch writes in place. */
GST_START_TEST(tee_into_two_and_a_writer)
{
  guint n = test_pool_many_frames();
  gchar *description = g_strdup_printf(
      "videotestsrc num-buffers=%u pattern=ball ! video/x-raw,format=I420,"
      "width=640,height=480 ! tee name=t "
      "t. ! queue ! gpuhistogram name=a verify=true ! appsink name=sink "
      "sync=false max-buffers=4 "
      "t. ! queue ! gpuhistogram name=b verify=true post-messages=false ! "
      "videobalance brightness=0.3 ! fakesink sync=false "
      "t. ! queue ! videobalance brightness=-0.3 ! fakesink sync=false",
      n);
  GstElement *pipeline;
  GstVideoInfo info;
  GstBuffer *buffer;
  guint came = 0;

  pipeline = test_pipeline(description);
  test_video_info(&info, "video/x-raw,format=I420,width=640,height=480,"
                         "framerate=30/1");
  test_set_state(pipeline, GST_STATE_PLAYING);
  while ((buffer = test_app_pull(pipeline))) {
    test_check_own_frame(buffer, &info);
    gst_buffer_unref(buffer);
    came++;
  }
  fail_unless_equals_int(came, n);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(description);
}
GST_END_TEST

/* A pool of a GiB. There may be as much pinned memory or not: buffers come, of
 * one kind or the other, and frames in them are exact. */
GST_START_TEST(B17_pool_of_sixty_four_large_buffers)
{
  GstBufferPool *pool;
  GstStructure *config;
  TestFixture fixture;
  GstCaps *caps;
  guint min;

  /* A sanitizer would have several GiB of it. */
  if (test_repeats(5) < 5)
    return;
  test_fixture_setup(&fixture,
                     "video/x-raw,format=GRAY8,width=4096,"
                     "height=4096,framerate=25/1",
                     NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  fail_unless(pool != NULL);
  fail_unless(gst_buffer_pool_set_active(pool, FALSE));
  config = gst_buffer_pool_get_config(pool);
  caps = gst_video_info_to_caps(&fixture.info);
  gst_buffer_pool_config_set_params(config, caps, 4096 * 4096, 64, 64);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  /* Of 2 GiB; what is freed makes room again. */
  for (guint i = 0; i < 3; i++) {
    fail_unless(gst_buffer_pool_set_active(pool, FALSE));
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  }
  test_pool_push(&fixture, pool, 2);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"), 0);
  fail_unless_equals_int(
      test_bus_take(fixture.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  gst_caps_unref(caps);
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* What a container leaves to be locked. */
GST_START_TEST(B17_little_memory_to_lock)
{
  const struct rlimit little = {64 << 10, 64 << 10};
  GstBufferPool *pool, *ordinary;
  TestFixture fixture;
  guint min;

  fail_unless_equals_int(setrlimit(RLIMIT_MEMLOCK, &little), 0);
  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_proposed(&fixture, &min);
  ordinary = test_pool_ordinary(&fixture.info, 2);
  test_pool_push(&fixture, pool, 8);
  test_pool_push(&fixture, ordinary, 8);
  fail_unless_equals_int(test_bus_take(fixture.bus, GST_MESSAGE_ERROR), 0);
  fail_unless(test_bus_take(fixture.bus, GST_MESSAGE_WARNING) <= 1);
  test_pool_free(ordinary);
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

static Suite *
pinned_suite(void)
{
  Suite *suite = suite_create("pinned");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, frames_of_the_proposed_pool_are_not_copied);
  tcase_add_loop_test(tcase, padded_frames_of_the_proposed_pool, 0, 3);
  tcase_add_loop_test(tcase, B03_buffers_are_left_alone_while_they_are_read, 0,
                      3);
  tcase_add_test(tcase, memory_outlives_the_element);
  tcase_add_test(tcase, flush_while_frames_are_read);
  tcase_add_test(tcase, tee_into_two_and_a_writer);
  tcase_add_test(tcase, B17_pool_of_sixty_four_large_buffers);
  tcase_add_test(tcase, B17_little_memory_to_lock);
  return suite;
}

TEST_MAIN(pinned)
