/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What other users of the device in the same process do wrong: calls that
 * fail, and a kernel that breaks the context that all of them share. */

#include "driver.h"
#include "testing-fake.h"
#include "testing-regions.h"

#include <dlfcn.h>
#include <string.h>

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define PIXELS (64 * 48)
#define FRAMES 20
#define BROKEN 7 /* the frame before which the kernel traps */

/* It breaks the context whenever the device gets to it. */
static const gchar trap[] = ".version 6.3\n"
                            ".target sm_75\n"
                            ".address_size 64\n"
                            ".visible .entry fall_into_a_trap()\n"
                            "{\n"
                            "  trap;\n"
                            "  ret;\n"
                            "}\n";

static const GhDriver *
driver_get(void)
{
  const GhDriver *driver = NULL;
  GhError error = {""};

  fail_unless(gh_driver_get(&driver, &error) == GH_OK, "%s", error.text);
  fail_unless_equals_int(driver->cuInit(0), CUDA_SUCCESS);
  return driver;
}

/* Leaves an error behind in this thread, in the runtime too where it is. */
static GstPadProbeReturn
fail_some_calls(GstPad *pad, GstPadProbeInfo *info, gpointer runtime)
{
  const GhDriver *driver = driver_get();
  int (*get_attribute)(int *, int, int) = NULL;
  CUdevice device;
  int value;

  fail_unless(driver->cuDeviceGet(&device, 100) != CUDA_SUCCESS);
  if (runtime) {
    void *symbol = dlsym(runtime, "cudaDeviceGetAttribute");

    memcpy(&get_attribute, &symbol, sizeof(symbol));
    fail_unless(get_attribute(&value, 1, 100) != 0);
  }
  return GST_PAD_PROBE_OK;
}

static void *
find_runtime(void)
{
  const gchar *names[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12"};
  void *runtime = NULL;

  for (guint i = 0; !runtime && i < G_N_ELEMENTS(names); i++)
    runtime = dlopen(names[i], RTLD_NOW);
  return runtime;
}

GST_START_TEST(B23_errors_of_others)
{
  TestFixture fixture;
  GstPad *pad;

  test_fixture_setup(&fixture, CAPS, NULL);
  pad = gst_element_get_static_pad(fixture.element, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, fail_some_calls,
                    find_runtime(), NULL);
  for (guint i = 0; i < FRAMES; i++)
    test_fixture_measure(&fixture, test_frame_flat(&fixture.info, 3 * i, i),
                         256);
  fail_unless_equals_int(
      test_bus_take(fixture.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  gst_object_unref(pad);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* The fake driver runs no such code, but can fail from now on. Afterwards the
 * context may still do for a while, or, with @wait, is broken. */
static void
break_context(gboolean wait)
{
  const GhDriver *driver = driver_get();
  CUcontext context, ours;
  CUfunction function;
  CUmodule module;
  CUdevice device;

  if (test_fake_find()) {
    test_fake.fail_at(1, CUDA_ERROR_LAUNCH_FAILED, TRUE);
    return;
  }
  fail_unless_equals_int(driver->cuDeviceGet(&device, 0), CUDA_SUCCESS);
  fail_unless_equals_int(driver->cuDevicePrimaryCtxRetain(&context, device),
                         CUDA_SUCCESS);
  driver->cuCtxPushCurrent_v2(context);
  fail_unless_equals_int(driver->cuModuleLoadData(&module, trap), CUDA_SUCCESS);
  fail_unless_equals_int(
      driver->cuModuleGetFunction(&function, module, "fall_into_a_trap"),
      CUDA_SUCCESS);
  fail_unless_equals_int(
      driver->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
      CUDA_SUCCESS);
  if (wait)
    fail_unless(driver->cuCtxSynchronize() != CUDA_SUCCESS);
  driver->cuCtxPopCurrent_v2(&ours);
}

/* Pushes frames until one is refused; returns how many were taken. */
static guint
push_frames(TestFixture *fixture, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (gst_harness_push(fixture->harness,
                         test_frame_flat(&fixture->info, 3 * i, i)) !=
        GST_FLOW_OK)
      return i - first;
  return end - first;
}

/* Every frame that came out is exact, and in its place. */
static guint
check_what_came(TestFixture *fixture)
{
  guint n = test_tap_count(fixture->tap);

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(fixture->tap);

    test_check_flat(buffer, 3 * i, PIXELS);
    gst_buffer_unref(buffer);
  }
  return n;
}

static void
check_message(GstBus *bus, GstMessageType type)
{
  const gchar *const words[] = {"CUDA_ERROR_", NULL};

  test_bus_check_text(bus, type, words);
}

/* BROKEN frames are counted and delivered. Returns how many can be in
 * flight. */
static guint
start_before_the_trap(TestFixture *fixture)
{
  guint depth;

  test_fixture_setup(fixture, CAPS, NULL);
  test_tap_clear(fixture->tap);
  g_object_get(fixture->element, "async-depth", &depth, NULL);
  fail_unless_equals_int(push_frames(fixture, 0, BROKEN), BROKEN);
  test_fixture_drain(fixture);
  return depth;
}

GST_START_TEST(B23_kernel_that_traps)
{
  TestFixture fixture;
  guint depth = start_before_the_trap(&fixture), taken;

  break_context(TRUE);
  taken = push_frames(&fixture, BROKEN, FRAMES);
  fail_unless(taken <= depth, "%u frames after the trap", taken);
  check_message(fixture.bus, GST_MESSAGE_ERROR);
  test_set_state(fixture.element, GST_STATE_NULL);
  fail_unless(check_what_came(&fixture) >= BROKEN);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* Of a stream that has failed, a frame is refused without a call. */
static void
check_no_more_work(TestFixture *fixture)
{
  guint calls;

  if (!test_fake_find())
    return;
  test_fixture_drain(fixture);
  calls = test_fake.calls();
  fail_unless_equals_int(push_frames(fixture, 0, 1), 0);
  fail_unless_equals_int(test_fake.calls(), calls);
}

/* One frame is on its way downstream, and the others are being counted. */
GST_START_TEST(B23_kernel_that_traps_with_frames_in_flight)
{
  TestFixture fixture;
  guint depth = start_before_the_trap(&fixture), taken;

  test_tap_shut(fixture.tap);
  fail_unless_equals_int(push_frames(&fixture, BROKEN, BROKEN + 1), 1);
  test_tap_wait_for_buffer_at_gate(fixture.tap);
  fail_unless_equals_int(push_frames(&fixture, BROKEN + 1, BROKEN + depth),
                         depth - 1);
  break_context(TRUE);
  test_tap_open(fixture.tap);
  taken = push_frames(&fixture, BROKEN + depth, FRAMES);
  fail_unless(taken <= depth, "%u frames after the trap", taken);
  check_message(fixture.bus, GST_MESSAGE_ERROR);
  check_no_more_work(&fixture);
  test_set_state(fixture.element, GST_STATE_NULL);
  fail_unless(check_what_came(&fixture) > BROKEN);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

GST_START_TEST(B23_kernel_that_traps_under_auto)
{
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
  test_tap_clear(fixture.tap);
  fail_unless_equals_int(push_frames(&fixture, 0, BROKEN), BROKEN);
  break_context(FALSE);
  fail_unless_equals_int(push_frames(&fixture, BROKEN, FRAMES),
                         FRAMES - BROKEN);
  test_fixture_drain(&fixture);
  fail_unless_equals_int(check_what_came(&fixture), FRAMES);
  check_message(fixture.bus, GST_MESSAGE_WARNING);
  test_set_state(fixture.element, GST_STATE_NULL);
  test_fixture_teardown(&fixture);
}
GST_END_TEST

/* What the GPU no longer counts, the CPU counts again, with all of its regions
 * and rows. */
GST_START_TEST(regions_of_frames_that_the_gpu_loses)
{
  GRand *random = test_random();
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, "roi",
                     "25%,25%,50%,50%", "zones", "7x5", "roi-metas", TRUE,
                     "rows", TRUE, "verify", TRUE, "max-pending-messages", 0,
                     NULL);
  test_tap_clear(fixture.tap);
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = test_noise_frame(&fixture.info, NULL, random);

    gst_buffer_add_video_region_of_interest_meta(buffer, "moving", i, 3, 9, 9);
    if (i == BROKEN)
      break_context(FALSE);
    test_fixture_push(&fixture, buffer);
  }
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(fixture.tap);

    fail_unless_equals_int(test_check_any_regions(buffer, &fixture.info, 256),
                           1 + 7 * 5 + 1);
    fail_unless_equals_int(
        gst_buffer_get_gpu_histogram_meta_region(buffer, 10000)->rectangle.x,
        (gint)i);
    test_check_rows(buffer, &fixture.info);
    gst_buffer_unref(buffer);
  }
  check_message(fixture.bus, GST_MESSAGE_WARNING);
  test_set_state(fixture.element, GST_STATE_NULL);
  test_fixture_teardown(&fixture);
  g_rand_free(random);
}
GST_END_TEST

static Suite *
device_faults_suite(void)
{
  Suite *suite = suite_create("device-faults");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, B23_errors_of_others);
  tcase_add_test(tcase, B23_kernel_that_traps);
  tcase_add_test(tcase, B23_kernel_that_traps_with_frames_in_flight);
  tcase_add_test(tcase, B23_kernel_that_traps_under_auto);
  tcase_add_test(tcase, regions_of_frames_that_the_gpu_loses);
  return suite;
}

TEST_MAIN(device_faults)
