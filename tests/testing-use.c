/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-use.h"

#include "testing-fake.h"

#include <malloc.h>

#ifdef TEST_HAVE_CUDA

#include "driver.h"

static guint64
device_bytes(void)
{
  CUresult (*get_info)(size_t *, size_t *);
  const GhDriver *driver;
  CUcontext context;
  CUdevice device;
  GhError error;
  size_t unused = 0, total = 0;

  fail_unless(test_fake_symbol("cuMemGetInfo_v2", &get_info));
  fail_unless_equals_int(gh_driver_get(&driver, &error), GH_OK);
  fail_unless_equals_int(
      gh_driver_retain(driver, -1, &device, &context, &error), GH_OK);
  fail_unless(gh_driver_push(driver, context, &error));
  fail_unless_equals_int(get_info(&unused, &total), CUDA_SUCCESS);
  gh_driver_pop(driver);
  driver->cuDevicePrimaryCtxRelease_v2(device);
  return total - unused;
}

#else

static guint64
device_bytes(void)
{
  return 0;
}

#endif

guint64
test_driver_used(void)
{
  if (!g_str_equal(test_engine(), "cuda"))
    return 0;
  return test_fake_find() ? test_fake.objects() : device_bytes();
}

guint64
test_driver_slack(void)
{
  /* On a device the least that is taken at once is 2 MiB. */
  return test_fake_find() ? 0 : 4 << 20;
}

/* Exact, where what is resident also depends on how the heap is cut up. */
static guint64
heap_bytes(void)
{
#if !defined(TEST_SANITIZED) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2();

  return info.uordblks + info.hblkhd;
#endif
#endif
  return 0;
}

void
test_use_take(TestUse *use)
{
  use->driver = test_driver_used();
  use->threads = test_threads_left(1);
  use->fds = test_fds();
  use->heap = heap_bytes();
  malloc_trim(0);
  use->resident = test_resident_bytes();
}

void
test_use_check(const TestUse *before, guint64 heap, guint64 resident)
{
  TestUse now;

  test_threads_left(before->threads);
  test_use_take(&now);
  fail_unless(now.threads <= before->threads, "%u threads instead of %u",
              now.threads, before->threads);
  fail_unless_equals_int(now.fds, before->fds);
  fail_unless(now.driver <= before->driver + test_driver_slack(),
              "the driver's memory grew from %" G_GUINT64_FORMAT
              " to %" G_GUINT64_FORMAT,
              before->driver, now.driver);
  fail_unless(now.heap <= before->heap + heap,
              "the heap grew from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
              before->heap, now.heap);
  fail_unless(test_has_not_grown(before->resident, resident));
}
