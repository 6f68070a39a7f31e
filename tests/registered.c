/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of upstream's that comes again and again: registered with the driver,
 * so that the GPU reads frames from there. */

#include "testing-fake.h"
#include "testing-pool.h"

#include <string.h>
#include <sys/mman.h>

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define PIXELS (640 * 480)
#define SMALL "video/x-raw,format=GRAY8,width=256,height=256,framerate=25/1"
#define SMALL_PIXELS (256 * 256)

GST_START_TEST(memory_that_comes_again_is_registered)
{
  gboolean fake = test_fake_find();
  TestFixture fixture;
  GstBufferPool *pool;
  guint objects;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_ordinary(&fixture.info, 2);
  test_pool_push(&fixture, pool, 20);
  /* Each buffer is copied twice, as nobody can know that it will be back. */
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"),
                            20 * PIXELS);
  fail_unless(test_stat(fixture.element, "bytes-copied") <= 4 * PIXELS);
  fail_unless(test_stat(fixture.element, "bytes-registered") >= PIXELS);
  objects = fake ? test_fake.objects() : 0;
  test_pool_free(pool);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-registered"), 0);
  /* Until now the driver had it registered, too. */
  fail_unless(!fake || test_fake.objects() < objects);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

GST_START_TEST(memory_is_not_registered_against_the_wish)
{
  TestFixture fixture;
  GstBufferPool *pool;

  test_fixture_setup(&fixture, CAPS, "register-memory", FALSE, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_ordinary(&fixture.info, 2);
  test_pool_push(&fixture, pool, 20);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"),
                            20 * PIXELS);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-registered"), 0);
  test_pool_free(pool);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Of more memory than may be registered the rest is copied, as before. */
GST_START_TEST(memories_to_register_have_a_limit)
{
  const guint n = 66, most = 64, rounds = 4;
  TestFixture fixture;
  GstBufferPool *pool;

  test_fixture_setup(&fixture, SMALL, NULL);
  test_tap_clear(fixture.tap);
  pool = test_pool_ordinary(&fixture.info, n);
  test_pool_push(&fixture, pool, n * rounds);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-uploaded"),
                            n * rounds * SMALL_PIXELS);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"),
                            (2 * most + rounds * (n - most)) * SMALL_PIXELS);
  test_pool_free(pool);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-registered"), 0);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Registering memory costs more than a copy, so it has to come again; that
 * somebody else saw it before does not count. */
GST_START_TEST(memory_is_not_registered_for_once)
{
  GstElement *pipeline = test_pipeline(
      "appsrc name=src format=time caps=" CAPS " ! gpuhistogram name=a ! "
      "gpuhistogram name=b ! gpuhistogram name=c ! appsink name=sink");
  const gchar *const names[] = {"a", "b", "c"};
  GstVideoInfo info;

  test_video_info(&info, CAPS);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 10; i++)
    test_app_push(pipeline, test_frame_flat(&info, (guint8)i, i));
  test_app_end(pipeline);
  for (guint i = 0; i < 10; i++)
    gst_buffer_unref(test_app_pull(pipeline));
  for (guint i = 0; i < 3; i++) {
    GstElement *element = test_child(pipeline, names[i]);

    fail_unless_equals_uint64(test_stat(element, "bytes-copied"), 10 * PIXELS);
    gst_object_unref(element);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}
GST_END_TEST

static void
unmap_pixels(gpointer pixels)
{
  fail_unless(munmap(pixels, PIXELS) == 0);
}

/* Memory that is gone with its last user: reading on would be a crash. */
static GstMemory *
mapped_memory(guint8 value)
{
  void *pixels = mmap(NULL, PIXELS, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  fail_unless(pixels != MAP_FAILED);
  memset(pixels, value, PIXELS);
  return gst_memory_new_wrapped(0, pixels, PIXELS, 0, PIXELS, pixels,
                                unmap_pixels);
}

static GstBuffer *
buffer_of(GstMemory *memory)
{
  GstBuffer *buffer = gst_buffer_new();

  gst_buffer_append_memory(buffer, gst_memory_ref(memory));
  test_stamp(buffer, 0);
  return buffer;
}

GST_START_TEST(memory_goes_while_it_is_read)
{
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  for (guint i = 0; i < test_repeats(200); i++) {
    GstMemory *memory = mapped_memory(77);

    for (guint seen = 0; seen < 3; seen++) {
      GstBuffer *out;

      test_fixture_push(&fixture, buffer_of(memory));
      out = test_tap_pop_buffer(fixture.tap);
      test_check_flat(out, 77, PIXELS);
      gst_buffer_unref(out);
    }
    fail_unless(test_stat(fixture.element, "bytes-registered") == PIXELS);
    test_fixture_push(&fixture, buffer_of(memory));
    gst_memory_unref(memory);
    gst_harness_push_event(fixture.harness, gst_event_new_flush_start());
    gst_harness_push_event(fixture.harness, gst_event_new_flush_stop(TRUE));
    test_fixture_start_segment(&fixture);
  }
  test_tap_clear(fixture.tap);
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-registered"), 0);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

static Suite *
registered_suite(void)
{
  Suite *suite = suite_create("registered");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, memory_that_comes_again_is_registered);
  tcase_add_test(tcase, memory_is_not_registered_against_the_wish);
  tcase_add_test(tcase, memories_to_register_have_a_limit);
  tcase_add_test(tcase, memory_is_not_registered_for_once);
  tcase_add_test(tcase, memory_goes_while_it_is_read);
  return suite;
}

TEST_MAIN(registered)
