/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory of the pool that the element proposes, as others use memory: in
 * parts, with room around it, and too much of it. */

#include "testing-pool.h"

#include <string.h>

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define PIXELS (640 * 480)

static struct {
  TestFixture fixture;
  GstAllocator *allocator;
} f;

static void
setup(void)
{
  GstBufferPool *pool;
  GstBuffer *buffer;
  guint min;

  test_fixture_setup(&f.fixture, CAPS, NULL);
  test_tap_clear(f.fixture.tap);
  pool = test_pool_proposed(&f.fixture, &min);
  buffer = test_pool_frame(pool, 0, 0);
  f.allocator = gst_object_ref(gst_buffer_peek_memory(buffer, 0)->allocator);
  gst_buffer_unref(buffer);
  test_pool_free(pool);
}

static void
teardown(void)
{
  test_fixture_teardown(&f.fixture);
  gst_object_unref(f.allocator);
}

/* Takes the memory. It is read from where it is. */
static void
push_flat(GstMemory *memory, guint8 value)
{
  guint64 copied = test_stat(f.fixture.element, "bytes-copied");
  GstBuffer *buffer = gst_buffer_new();

  gst_buffer_append_memory(buffer, memory);
  test_fixture_push(&f.fixture, buffer);
  buffer = test_tap_pop_buffer(f.fixture.tap);
  test_check_flat(buffer, value, PIXELS);
  gst_buffer_unref(buffer);
  fail_unless_equals_uint64(test_stat(f.fixture.element, "bytes-copied"),
                            copied);
}

GST_START_TEST(parts_of_a_memory_are_pinned_too)
{
  GstMemory *whole, *rest, *middle;
  GstMapInfo map;

  setup();
  whole = gst_allocator_alloc(f.allocator, 3 * PIXELS, NULL);
  fail_unless(gst_memory_map(whole, &map, GST_MAP_WRITE));
  for (guint i = 0; i < 3; i++)
    memset(map.data + i * PIXELS, (gint)i + 1, PIXELS);
  gst_memory_unmap(whole, &map);
  rest = gst_memory_share(whole, PIXELS, -1);
  fail_unless_equals_uint64(rest->size, 2 * PIXELS);
  middle = gst_memory_share(rest, 0, PIXELS);
  /* Each holds the whole. */
  gst_memory_unref(whole);
  push_flat(gst_memory_share(rest, PIXELS, -1), 3);
  gst_memory_unref(rest);
  push_flat(middle, 2);
  teardown();
}
GST_END_TEST

GST_START_TEST(room_around_a_memory)
{
  GstAllocationParams params = {GST_MEMORY_FLAG_ZERO_PREFIXED |
                                    GST_MEMORY_FLAG_ZERO_PADDED,
                                4095, 100, 50};
  GstMemory *memory;
  GstMapInfo map;

  setup();
  memory = gst_allocator_alloc(f.allocator, 1000, &params);
  fail_unless_equals_uint64(memory->size, 1000);
  fail_unless_equals_uint64(memory->offset, 100);
  fail_unless(memory->maxsize >= 1150);
  fail_unless(gst_memory_map(memory, &map, GST_MAP_READWRITE));
  fail_unless_equals_uint64(((guintptr)map.data - 100) % 4096, 0);
  for (guint i = 0; i < 100; i++)
    fail_unless_equals_int(map.data[(gint)i - 100], 0);
  for (guint i = 0; i < 50; i++)
    fail_unless_equals_int(map.data[1000 + i], 0);
  gst_memory_unmap(memory, &map);
  gst_memory_unref(memory);
  teardown();
}
GST_END_TEST

/* A sanitizer ends the program instead. */
#ifndef TEST_SANITIZED
GST_START_TEST(B17_more_memory_than_there_is)
{
  GstMemory *memory;
  GstMapInfo map;

  setup();
  fail_unless(gst_allocator_alloc(f.allocator, (gsize)1 << 50, NULL) == NULL);
  /* That takes no room from others. */
  memory = gst_allocator_alloc(f.allocator, PIXELS, NULL);
  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 9, PIXELS);
  gst_memory_unmap(memory, &map);
  push_flat(memory, 9);
  teardown();
}
GST_END_TEST
#endif

static Suite *
pinned_memory_suite(void)
{
  Suite *suite = suite_create("pinned-memory");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, parts_of_a_memory_are_pinned_too);
  tcase_add_test(tcase, room_around_a_memory);
#ifndef TEST_SANITIZED
  tcase_add_test(tcase, B17_more_memory_than_there_is);
#endif
  return suite;
}

TEST_MAIN(pinned_memory)
