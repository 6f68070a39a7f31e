/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames so large that counters and sizes of 32 bits come to their ends. */

#include "testing.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the frames take, copies for the device included. */
#define MEMORY ((guint64)1 << 30)
#define MEMORY_OF_LARGEST ((guint64)8 << 30)

typedef struct {
  gpointer start;
  gsize size;
} Mapping;

static void
unmap(gpointer data)
{
  Mapping *mapping = data;

  munmap(mapping->start, mapping->size);
  g_free(mapping);
}

/* The upper half of the frame is @above, the lower half @below. */
static GstBuffer *
large_frame(gsize size, guint8 above, guint8 below)
{
  Mapping *mapping = g_new(Mapping, 1);
  guint8 *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  GstBuffer *buffer;

  fail_unless(bytes != MAP_FAILED);
  memset(bytes, above, size / 2);
  memset(bytes + size / 2, below, size - size / 2);
  *mapping = (Mapping){bytes, size};
  buffer = gst_buffer_new_wrapped_full(0, bytes, size, 0, size, mapping, unmap);
  test_stamp(buffer, 0);
  return buffer;
}

GST_START_TEST(B48_large_frames)
{
  const struct {
    const gchar *size;
    guint8 above, below;
    guint64 pixels, sum;
  } cases[] = {
      {"width=16384,height=16384", 128, 128, 268435456, 34359738368},
      {"width=16384,height=16384", 0, 255, 268435456, 34225520640},
      {"width=65536,height=32769", 255, 255, 2147549184, 547625041920}};
  guint8 above = cases[__i__].above, below = cases[__i__].below;
  guint64 pixels = cases[__i__].pixels;
  gchar *caps = g_strdup_printf("video/x-raw,format=GRAY8,framerate=1/1,%s",
                                cases[__i__].size);
  GstGpuHistogramMeta *meta;
  GstBuffer *buffer;
  TestFixture f;

  test_fixture_setup(&f, caps, "verify", TRUE, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_fixture_push(&f, large_frame(pixels, above, below));
  /* A plain count of so many takes longer than a tap waits. */
  test_fixture_drain(&f);
  buffer = test_tap_pop_buffer(f.tap);
  meta = gst_buffer_get_gpu_histogram_meta(buffer);
  fail_unless(meta != NULL);
  fail_unless_equals_uint64(meta->pixels, pixels);
  fail_unless_equals_uint64(meta->sum, cases[__i__].sum);
  for (guint b = 0; b < 256; b++) {
    guint64 halves = (b == above) + (b == below);

    fail_unless_equals_uint64(meta->bins[b], halves * (pixels / 2));
  }
  gst_buffer_unref(buffer);
  test_fixture_teardown(&f);
  g_free(caps);
}
GST_END_TEST;

static guint64
free_memory(void)
{
  return (guint64)sysconf(_SC_AVPHYS_PAGES) * (guint64)sysconf(_SC_PAGESIZE);
}

static Suite *
large_suite(void)
{
  Suite *suite = suite_create("large");
  TCase *chain = tcase_create("general");
  gboolean all = free_memory() >= MEMORY_OF_LARGEST;

  if (!all)
    g_printerr("large: the largest frame is skipped, there are no 8 GiB of "
               "free memory\n");
  tcase_set_timeout(chain, 100);
  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, B48_large_frames, 0, all ? 3 : 2);
  return suite;
}

int
main(int argc, char **argv)
{
  if (free_memory() < MEMORY) {
    g_printerr("large: skipped, there is no GiB of free memory\n");
    return 77;
  }
  return test_main(argc, argv, large_suite, "large");
}
