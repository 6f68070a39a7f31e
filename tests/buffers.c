/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Buffers made in unusual ways: many memories, shared ones, short ones,
 * empty ones. */

#include "testing.h"

#define GRAY "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define I420 "video/x-raw,format=I420,width=320,height=240,framerate=25/1"
#define NV12 "video/x-raw,format=NV12,width=320,height=240,framerate=25/1"

/* The same bytes in several memories: @size bytes each but for the last. */
static GstBuffer *
split(GstBuffer *whole, gsize size)
{
  gsize left = gst_buffer_get_size(whole), at = 0;
  GstBuffer *buffer = gst_buffer_new();

  gst_buffer_copy_into(buffer, whole, GST_BUFFER_COPY_METADATA, 0, (gsize)-1);
  while (left > 0) {
    gsize part = MIN(size, left);
    guint8 *bytes = g_malloc(part);

    gst_buffer_extract(whole, at, bytes, part);
    gst_buffer_append_memory(
        buffer, gst_memory_new_wrapped(0, bytes, part, 0, part, bytes, g_free));
    at += part;
    left -= part;
  }
  gst_buffer_unref(whole);
  return buffer;
}

static GstBuffer *
ramp(const GstVideoInfo *info)
{
  GstBuffer *buffer = test_frame_new(info, NULL, test_ramp, NULL);

  test_stamp(buffer, 3);
  return buffer;
}

/* @keep: somebody else has the buffer, too, so that it is not writable. */
static void
measure(const gchar *caps, gsize part, guint n_memories, gboolean keep)
{
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, caps, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = split(ramp(&f.info), part);
  fail_unless_equals_int(gst_buffer_n_memory(buffer), n_memories);
  if (keep)
    gst_buffer_ref(buffer);
  test_fixture_measure(&f, buffer, 256);
  if (keep) {
    fail_unless_equals_int(gst_buffer_n_memory(buffer), n_memories);
    fail_unless_equals_int(test_count_metas(buffer), 0);
    gst_buffer_unref(buffer);
  }
  test_fixture_teardown(&f);
}

GST_START_TEST(B26_a_memory_for_each_plane)
{
  TestFixture f;
  GstBuffer *whole, *buffer;

  test_fixture_setup(&f, I420, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  whole = ramp(&f.info);
  buffer = gst_buffer_new();
  for (guint plane = 0; plane < 3; plane++) {
    gsize size = plane == 0 ? 320 * 240 : 160 * 120;

    gst_buffer_append(buffer,
                      gst_buffer_copy_region(
                          whole, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_DEEP,
                          f.info.offset[plane], size));
  }
  gst_buffer_unref(whole);
  fail_unless_equals_int(gst_buffer_n_memory(buffer), 3);
  test_fixture_measure(&f, buffer, 256);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(B26_fifteen_memories)
{
  measure(GRAY, 5333, 15, __i__ == 1);
}
GST_END_TEST;

GST_START_TEST(B26_split_within_a_row)
{
  measure(GRAY, 320 * 100 + 77, 3, __i__ == 1);
  measure(GRAY, 320 * 200 + 1, 2, __i__ == 1);
}
GST_END_TEST;

GST_START_TEST(B26_luma_in_the_second_memory)
{
  const TestLayout layout = {.before = 128};
  TestFixture f;
  GstBuffer *whole, *buffer;

  test_fixture_setup(&f, NV12, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  whole = test_frame_new(&f.info, &layout, test_ramp, NULL);
  buffer = gst_buffer_copy_region(
      whole, GST_BUFFER_COPY_ALL | GST_BUFFER_COPY_DEEP, 0, 128);
  gst_buffer_append(buffer, gst_buffer_copy_region(whole,
                                                   GST_BUFFER_COPY_MEMORY |
                                                       GST_BUFFER_COPY_DEEP,
                                                   128, (gsize)-1));
  /* A copy of a region does not take the video meta along. */
  if (gst_buffer_get_video_meta(buffer) == NULL)
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 320, 240, 2,
        (gsize[]){128, 128 + 320 * 240, 0, 0}, (gint[]){320, 320, 0, 0});
  gst_buffer_unref(whole);
  fail_unless_equals_int(gst_buffer_n_memory(buffer), 2);
  test_fixture_measure(&f, buffer, 256);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Somebody else holds the frame: it may not be written, nor copied. */
GST_START_TEST(shared_frames_are_not_copied)
{
  measure(GRAY, 320 * 240, 1, TRUE);
}
GST_END_TEST;

GST_START_TEST(read_only_memory)
{
  TestFixture f;
  GstBuffer *buffer;
  guint8 *bytes = g_malloc(320 * 240);

  for (guint i = 0; i < 320 * 240; i++)
    bytes[i] = (guint8)(i * 7);
  test_fixture_setup(&f, GRAY, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, bytes,
                                       320 * 240, 0, 320 * 240, bytes, g_free);
  test_fixture_measure(&f, buffer, 256);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Everything on the bus, by kind; taking one kind would lose the others. */
static void
check_messages(TestFixture *f, guint want_histograms, guint want_warnings)
{
  guint histograms = 0, warnings = 0, errors = 0;
  GstMessage *message;

  test_fixture_drain(f);
  while ((message = gst_bus_pop(f->bus)) != NULL) {
    histograms += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT;
    warnings += GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    errors += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    gst_message_unref(message);
  }
  fail_unless_equals_int(histograms, want_histograms);
  fail_unless_equals_int(warnings, want_warnings);
  fail_unless_equals_int(errors, 0);
}

/* ---- Gaps and damaged frames ---- */

static GstBuffer *
flagged(TestFixture *f, guint8 value, guint number, GstBufferFlags flag)
{
  GstBuffer *buffer = test_frame_flat(&f->info, value, number);

  GST_BUFFER_FLAG_SET(buffer, flag);
  return buffer;
}

static void
push_gaps(TestFixture *f)
{
  GstBuffer *empty = gst_buffer_new();

  test_stamp(empty, 4);
  GST_BUFFER_FLAG_SET(empty, GST_BUFFER_FLAG_CORRUPTED);
  test_fixture_push(f, test_frame_flat(&f->info, 10, 0));
  gst_harness_push_event(
      f->harness, gst_event_new_gap(TEST_FRAME_DURATION, TEST_FRAME_DURATION));
  test_fixture_push(f, flagged(f, 20, 2, GST_BUFFER_FLAG_GAP));
  test_fixture_push(f, flagged(f, 25, 3, GST_BUFFER_FLAG_CORRUPTED));
  test_fixture_push(f, empty);
  test_fixture_push(f, test_frame_flat(&f->info, 30, 5));
  gst_harness_push_event(f->harness, gst_event_new_eos());
}

static void
check_flagged(TestFixture *f, guint value, guint flag)
{
  GstBuffer *buffer = test_tap_pop_buffer(f->tap);

  test_check_flat(buffer, value, 320 * 240);
  fail_unless_equals_int(GST_BUFFER_FLAGS(buffer) &
                             (GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_CORRUPTED),
                         flag);
  gst_buffer_unref(buffer);
}

/* Frames of full size are measured whatever their flags. */
GST_START_TEST(B31_gaps_and_damaged_frames)
{
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, GRAY, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  push_gaps(&f);
  check_flagged(&f, 10, 0);
  test_tap_skip_until(f.tap, GST_EVENT_GAP);
  check_flagged(&f, 20, GST_BUFFER_FLAG_GAP);
  check_flagged(&f, 25, GST_BUFFER_FLAG_CORRUPTED);
  buffer = test_tap_pop_buffer(f.tap);
  fail_unless_equals_int(gst_buffer_get_size(buffer), 0);
  fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED));
  fail_unless_equals_int(test_count_metas(buffer), 0);
  gst_buffer_unref(buffer);
  check_flagged(&f, 30, 0);
  test_tap_skip_until(f.tap, GST_EVENT_EOS);
  check_messages(&f, 4, 1);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Buffers too short for their caps ---- */

static GstBuffer *
short_buffer(const GstVideoInfo *info, guint kind)
{
  const TestLayout wide = {.before = 64, .stride = 704};
  GstBuffer *buffer;

  switch (kind) {
  case 0:
    buffer = gst_buffer_new();
    break;
  case 1:
    buffer = test_frame_new(info, NULL, test_flat, GUINT_TO_POINTER(9));
    gst_buffer_resize(buffer, 0, 1);
    break;
  case 2: /* one sample is missing */
    buffer = test_frame_new(info, NULL, test_flat, GUINT_TO_POINTER(9));
    gst_buffer_resize(buffer, 0, 320 * 240 - 1);
    break;
  case 3: /* shorter than its video meta says */
    buffer = test_frame_new(info, &wide, test_flat, GUINT_TO_POINTER(9));
    gst_buffer_resize(buffer, 0, 320 * 240);
    break;
  default: /* two memories, short together */
    buffer = test_frame_new(info, NULL, test_flat, GUINT_TO_POINTER(9));
    gst_buffer_resize(buffer, 0, 320 * 239);
    buffer = split(buffer, 320 * 120);
    break;
  }
  test_stamp(buffer, 1);
  return buffer;
}

/* The luma is all there, but not the frame. */
GST_START_TEST(short_chroma_passes_unmeasured)
{
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, NV12, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  buffer = test_frame_flat(&f.info, 9, 0);
  gst_buffer_resize(buffer, 0, (gssize)f.info.size - 1);
  test_fixture_push(&f, buffer);
  buffer = test_tap_pop_buffer(f.tap);
  fail_unless_equals_int(test_count_metas(buffer), 0);
  gst_buffer_unref(buffer);
  check_messages(&f, 0, 1);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(short_buffers_pass_unmeasured)
{
  TestFixture f;
  TestExpected expected;
  GstBuffer *buffer;

  test_fixture_setup(&f, GRAY, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_fixture_push(&f, test_frame_flat(&f.info, 10, 0));
  buffer = short_buffer(&f.info, (guint)__i__);
  test_expect(&expected, buffer, &f.info);
  test_fixture_push(&f, buffer);
  test_fixture_push(&f, test_frame_flat(&f.info, 30, 2));

  check_flagged(&f, 10, 0);
  buffer = test_tap_pop_buffer(f.tap);
  test_check_unmeasured(&expected, buffer);
  gst_buffer_unref(buffer);
  check_flagged(&f, 30, 0);
  check_messages(&f, 2, 1);
  test_expected_clear(&expected);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Memory that is neither shared between buffers nor copied. */
typedef struct {
  GstAllocator parent;
} Stubborn;
typedef struct {
  GstAllocatorClass parent_class;
} StubbornClass;
typedef struct {
  GstMemory memory;
  guint8 bytes[64 * 48];
} StubbornMemory;

GType stubborn_get_type(void);
G_DEFINE_TYPE(Stubborn, stubborn, GST_TYPE_ALLOCATOR)

static gpointer
stubborn_map(GstMemory *memory, gsize size, GstMapFlags flags)
{
  return ((StubbornMemory *)memory)->bytes;
}

static void
stubborn_unmap(GstMemory *memory)
{
}

static GstMemory *
stubborn_copy(GstMemory *memory, gssize offset, gssize size)
{
  return NULL;
}

static void
stubborn_free(GstAllocator *allocator, GstMemory *memory)
{
  g_free(memory);
}

static void
stubborn_class_init(StubbornClass *klass)
{
  GST_ALLOCATOR_CLASS(klass)->free = stubborn_free;
}

static void
stubborn_init(Stubborn *self)
{
  GstAllocator *allocator = GST_ALLOCATOR(self);

  allocator->mem_type = "stubborn";
  allocator->mem_map = stubborn_map;
  allocator->mem_unmap = stubborn_unmap;
  allocator->mem_copy = stubborn_copy;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

/* A shared buffer that cannot be copied passes as it is; it is counted, but
 * has no place for the meta. */
GST_START_TEST(shared_buffer_that_cannot_be_copied)
{
  GstAllocator *allocator =
      gst_object_ref_sink(g_object_new(stubborn_get_type(), NULL));
  StubbornMemory *memory = g_new0(StubbornMemory, 1);
  GstBuffer *buffer = gst_buffer_new(), *out;
  GstMessage *message;
  TestFixture f;

  test_fixture_setup(
      &f, "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1", NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  gst_memory_init(GST_MEMORY_CAST(memory), GST_MEMORY_FLAG_NO_SHARE, allocator,
                  NULL, sizeof(memory->bytes), 0, 0, sizeof(memory->bytes));
  gst_buffer_append_memory(buffer, GST_MEMORY_CAST(memory));
  test_fixture_push(&f, gst_buffer_ref(buffer));
  out = test_tap_pop_buffer(f.tap);
  fail_unless(out == buffer);
  fail_unless_equals_int(test_count_metas(out), 0);
  message = test_bus_pop_histogram(f.bus);
  fail_unless_equals_uint64(test_message_uint64(message, "pixels"), 64 * 48);
  gst_message_unref(message);
  gst_buffer_unref(out);
  gst_buffer_unref(buffer);
  gst_object_unref(allocator);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
buffers_suite(void)
{
  Suite *suite = suite_create("buffers");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B26_a_memory_for_each_plane);
  tcase_add_loop_test(chain, B26_fifteen_memories, 0, 2);
  tcase_add_loop_test(chain, B26_split_within_a_row, 0, 2);
  tcase_add_test(chain, B26_luma_in_the_second_memory);
  tcase_add_test(chain, shared_frames_are_not_copied);
  tcase_add_test(chain, read_only_memory);
  tcase_add_test(chain, B31_gaps_and_damaged_frames);
  tcase_add_test(chain, short_chroma_passes_unmeasured);
  tcase_add_loop_test(chain, short_buffers_pass_unmeasured, 0, 5);
  tcase_add_test(chain, shared_buffer_that_cannot_be_copied);
  return suite;
}

TEST_MAIN(buffers)
