/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames whose memory cannot be read: passed on uncounted, with a warning. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define PIXELS (64 * 48)

/* Memory that nobody can map. */
typedef struct {
  GstAllocator parent;
} Locked;
typedef struct {
  GstAllocatorClass parent_class;
} LockedClass;

GType locked_get_type(void);
G_DEFINE_TYPE(Locked, locked, GST_TYPE_ALLOCATOR)

static gpointer
locked_map(GstMemory *memory, gsize size, GstMapFlags flags)
{
  return NULL;
}

static void
locked_unmap(GstMemory *memory)
{
}

static void
locked_free(GstAllocator *allocator, GstMemory *memory)
{
  g_free(memory);
}

static void
locked_class_init(LockedClass *klass)
{
  GST_ALLOCATOR_CLASS(klass)->free = locked_free;
}

static void
locked_init(Locked *self)
{
  GstAllocator *allocator = GST_ALLOCATOR(self);

  allocator->mem_type = "locked";
  allocator->mem_map = locked_map;
  allocator->mem_unmap = locked_unmap;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

/* A frame in @n such memories. */
static GstBuffer *
locked_frame(GstAllocator *allocator, guint n)
{
  GstBuffer *buffer = gst_buffer_new();

  for (guint i = 0; i < n; i++) {
    GstMemory *memory = g_new0(GstMemory, 1);

    gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, allocator, NULL,
                    PIXELS / n, 0, 0, PIXELS / n);
    gst_buffer_append_memory(buffer, memory);
  }
  return buffer;
}

GST_START_TEST(frames_that_cannot_be_mapped)
{
  GstAllocator *allocator =
      gst_object_ref_sink(g_object_new(locked_get_type(), NULL));
  guint n = 1 + (guint)__i__;
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = locked_frame(allocator, n), *out;

    test_fixture_push(&f, buffer);
    out = test_tap_pop_buffer(f.tap);
    fail_unless(out == buffer);
    fail_unless_equals_int(gst_buffer_n_memory(out), n);
    fail_unless_equals_int(test_count_metas(out), 0);
    gst_buffer_unref(out);
  }
  test_fixture_drain(&f);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_WARNING), 1);
  fail_unless_equals_int(
      test_bus_take(f.bus, GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT), 0);
  test_fixture_measure(&f, test_frame_flat(&f.info, 7, 3), 256);
  test_fixture_teardown(&f);
  gst_object_unref(allocator);
}
GST_END_TEST;

static Suite *
unreadable_suite(void)
{
  Suite *suite = suite_create("unreadable");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, frames_that_cannot_be_mapped, 0, 2);
  return suite;
}

TEST_MAIN(unreadable)
