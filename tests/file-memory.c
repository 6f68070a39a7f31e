/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in memory that others write through a file, and that is at another
 * place each time it is mapped: what counts is what is there now. */

#include "testing.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define PIXELS (640 * 480) /* whole pages */

static int
frame_file_new(void)
{
  int fd = memfd_create("frames", MFD_ALLOW_SEALING);

  fail_unless(fd >= 0);
  fail_unless(ftruncate(fd, PIXELS) == 0);
  return fd;
}

static void
fill(int fd, guint8 value)
{
  guint8 *pixels = g_malloc(PIXELS);

  memset(pixels, value, PIXELS);
  fail_unless(pwrite(fd, pixels, PIXELS, 0) == PIXELS);
  g_free(pixels);
}

/* Nobody has it mapped any more, so that it can be written, if at all. */
static void
check_let_go(GstMemory *memory)
{
  gboolean writable = !GST_MEMORY_IS_READONLY(memory);
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE) == writable);
  if (writable)
    gst_memory_unmap(memory, &map);
}

/* Frames in the same memory, which is written through @fd between them. */
static void
count_rewritten(GstMemory *memory, int fd)
{
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, NULL);
  test_tap_clear(fixture.tap);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = gst_buffer_new();

    fill(fd, (guint8)(i + 1));
    gst_buffer_append_memory(buffer, gst_memory_ref(memory));
    test_stamp(buffer, i);
    test_fixture_push(&fixture, buffer);
    buffer = test_tap_pop_buffer(fixture.tap);
    test_check_flat(buffer, i + 1, PIXELS);
    fail_unless(gst_buffer_peek_memory(buffer, 0) == memory);
    gst_buffer_unref(buffer);
    /* Who pushed it may still hold it. */
    test_fixture_drain(&fixture);
    check_let_go(memory);
  }
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-registered"), 0);
  test_fixture_teardown(&fixture);
}

/* A write would be a crash. */
GST_START_TEST(B49_memory_that_is_read_only)
{
  int fd = frame_file_new();
  void *map = mmap(NULL, PIXELS, PROT_READ, MAP_SHARED, fd, 0);
  GstMemory *memory;

  fail_unless(map != MAP_FAILED);
  memory = gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, map, PIXELS, 0,
                                  PIXELS, NULL, NULL);
  count_rewritten(memory, fd);
  gst_memory_unref(memory);
  munmap(map, PIXELS);
  close(fd);
}
GST_END_TEST;

GST_START_TEST(B49_memory_of_a_file_descriptor)
{
  GstAllocator *allocator = gst_fd_allocator_new();
  int fd = frame_file_new();
  GstMemory *memory = gst_fd_allocator_alloc(allocator, fd, PIXELS,
                                             GST_FD_MEMORY_FLAG_DONT_CLOSE);

  count_rewritten(memory, fd);
  gst_memory_unref(memory);
  gst_object_unref(allocator);
  close(fd);
}
GST_END_TEST;

/* A dmabuf of the file's pages; -1 where the system makes none. */
static int
dmabuf_new(int fd)
{
  const struct udmabuf_create pages = {
      .memfd = (guint32)fd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = PIXELS};
  int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
  int dmabuf = -1;

  if (device >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
    dmabuf = ioctl(device, UDMABUF_CREATE, &pages);
  if (device >= 0)
    close(device);
  return dmabuf;
}

GST_START_TEST(B49_memory_of_a_dmabuf)
{
  GstAllocator *allocator = gst_dmabuf_allocator_new();
  int fd = frame_file_new(), dmabuf = dmabuf_new(fd);

  if (dmabuf < 0) {
    g_printerr("B49_memory_of_a_dmabuf: skipped, no /dev/udmabuf\n");
  } else {
    GstMemory *memory = gst_dmabuf_allocator_alloc(allocator, dmabuf, PIXELS);

    fail_unless(gst_is_dmabuf_memory(memory));
    count_rewritten(memory, fd);
    gst_memory_unref(memory);
  }
  gst_object_unref(allocator);
  close(fd);
}
GST_END_TEST;

static Suite *
file_memory_suite(void)
{
  Suite *suite = suite_create("file-memory");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B49_memory_that_is_read_only);
  tcase_add_test(chain, B49_memory_of_a_file_descriptor);
  tcase_add_test(chain, B49_memory_of_a_dmabuf);
  return suite;
}

TEST_MAIN(file_memory)
