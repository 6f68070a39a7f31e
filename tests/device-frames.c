/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in the device's memory that their producer is still writing when the
 * engine gets them. */

#include "driver.h"
#include "testing-engine.h"

#include <string.h>

#define WIDTH 1920
#define HEIGHT 1080
#define PIXELS (WIDTH * HEIGHT)

/* A producer with a stream of its own. */
static struct {
  const GhDriver *driver;
  CUdevice device;
  CUcontext context;
  CUstream stream;
  CUdeviceptr frame, scratch;
  guint8 *pinned; /* what the frame is to be */
} p;

static void
setup(void)
{
  GhError error;

  fail_unless(gh_driver_get(&p.driver, &error) == GH_OK);
  fail_unless(gh_driver_retain(p.driver, -1, &p.device, &p.context, &error) ==
              GH_OK);
  fail_unless(gh_driver_push(p.driver, p.context, &error));
  p.driver->cuStreamCreate(&p.stream, CU_STREAM_NON_BLOCKING);
  p.driver->cuMemAlloc_v2(&p.frame, PIXELS);
  p.driver->cuMemAlloc_v2(&p.scratch, PIXELS);
  p.driver->cuMemHostAlloc((void **)&p.pinned, PIXELS, 0);
  fail_unless(p.stream && p.frame && p.scratch && p.pinned);
}

static void
teardown(void)
{
  p.driver->cuMemFreeHost(p.pinned);
  p.driver->cuMemFree_v2(p.scratch);
  p.driver->cuMemFree_v2(p.frame);
  p.driver->cuStreamDestroy_v2(p.stream);
  gh_driver_pop(p.driver);
  p.driver->cuDevicePrimaryCtxRelease_v2(p.device);
}

/* Behind other work; does not wait. */
static void
write_late(guint8 value)
{
  memset(p.pinned, value, PIXELS);
  for (guint i = 0; i < 20; i++)
    p.driver->cuMemcpyHtoDAsync_v2(p.scratch, p.pinned, PIXELS, p.stream);
  p.driver->cuMemcpyHtoDAsync_v2(p.frame, p.pinned, PIXELS, p.stream);
}

GST_START_TEST(B10_frames_are_counted_once_they_are_ready)
{
  const GhReady ready[] = {GH_READY, GH_READY_AFTER_STREAM,
                           GH_READY_AFTER_CONTEXT};
  const GhFrame frame = {.samples = (const guint8 *)(guintptr)p.frame,
                         .stride = WIDTH,
                         .width = WIDTH,
                         .height = HEIGHT,
                         .memory = GH_MEMORY_DEVICE,
                         .ready = ready[__i__],
                         .stream = p.stream};
  GhEngine *engine = test_engine_open(2, 256, 1);
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};

  for (guint i = 0; i < 20; i++) {
    guint8 value = (guint8)(11 * i + 1);

    write_late(value);
    if (frame.ready == GH_READY)
      p.driver->cuStreamSynchronize(p.stream);
    test_engine_submit(engine, &frame);
    test_engine_collect(engine, &result);
    fail_unless_equals_uint64(bins[value], PIXELS);
    fail_unless_equals_uint64(result.whole.sum, (guint64)value * PIXELS);
    fail_unless_equals_uint64(result.bytes_uploaded, 0);
  }
  gh_engine_close(&engine);
}
GST_END_TEST

static Suite *
device_frames_suite(void)
{
  Suite *suite = suite_create("device-frames");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, B10_frames_are_counted_once_they_are_ready, 0, 3);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, device_frames_suite, "device-frames");
}
