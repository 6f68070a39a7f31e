/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Devices that are there and cannot be used, and devices that are hidden: what
 * each engine says of them, and when. Needs the fake driver.
 */

#include "testing-fake.h"
#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define FRAMES 8

/* A toolkit of before all that this can be built with. */
#define OLD_DRIVER 11040
#define SAYS_OLD "driver for CUDA 11.4, an older one; this was built with"

/* What makes the device unusable: functions that give a code, or what the
 * driver and the device are; and what is said of it. */
static const struct {
  const gchar *function;
  int code;
  int version, capability;
  const gchar *words[5];
} devices[] = {
    /* No code for the device, as the driver finds when it loads the code, looks
     * for a kernel in it, or starts one. */
    {.capability = 30,
     .words = {"cuModuleLoadData", "CUDA_ERROR_NO_BINARY_FOR_GPU",
               "compute capability 3.0", "built with CUDA"}},
    {.function = "cuModuleGetFunction",
     .code = 209,
     .words = {"cuModuleGetFunction", "CUDA_ERROR_NO_BINARY_FOR_GPU",
               "compute capability 9.0", "built with CUDA"}},
    {.function = "cuLaunchKernel",
     .code = 209,
     .words = {"cuLaunchKernel", "CUDA_ERROR_NO_BINARY_FOR_GPU",
               "compute capability 9.0", "built with CUDA"}},
    /* A driver that is older than the toolkit, and one that gives a code it has
     * no name for. */
    {.function = "cuInit",
     .code = 803,
     .version = OLD_DRIVER,
     .words = {"cuInit", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", SAYS_OLD}},
    {.function = "cuInit",
     .code = 12345,
     .version = OLD_DRIVER,
     .words = {"cuInit", "error 12345", SAYS_OLD}},
    {.version = OLD_DRIVER,
     .capability = 990,
     .words = {"cuModuleLoadData", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
               "compute capability 99.0", SAYS_OLD}},
    /* Another process has it. */
    {.function = "cuDevicePrimaryCtxRetain",
     .code = 46,
     .words = {"cuDevicePrimaryCtxRetain", "CUDA_ERROR_DEVICE_UNAVAILABLE",
               "busy or unavailable"}},
};

static void
make_unusable(gint i)
{
  test_fake.fail_at(0, 0, FALSE);
  test_fake.fail_function(devices[i].function, devices[i].code);
  test_fake.pose(devices[i].version, devices[i].capability);
}

static void
make_usable(void)
{
  fail_unless_equals_int(test_fake.objects(), 0);
  test_fake.fail_at(0, 0, FALSE);
  test_fake.pose(0, 0);
}

/* Every frame is counted on the CPU, and no more is said. */
static void
check_frames(TestFixture *fixture)
{
  gchar *engine = test_stat_string(fixture->element, "engine");

  fail_unless_equals_string(engine, "cpu");
  for (guint i = 0; i < FRAMES; i++)
    test_fixture_measure(
        fixture, test_frame_flat(&fixture->info, (guint8)(10 * i), i), 256);
  fail_unless_equals_int(
      test_bus_take(fixture->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR), 0);
  g_free(engine);
}

static void
check_cpu_counts(void)
{
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_CPU, NULL);
  check_frames(&fixture);
  test_fixture_teardown(&fixture);
  fail_unless_equals_int(test_fake.calls(), 0);
}

/* Not even PAUSED is reached. */
static void
check_cuda_is_an_error(const gchar *const *words)
{
  const gchar *const cure[] = {"engine=cuda", "Use engine=auto", NULL};
  GstElement *element = test_element(NULL);
  GstBus *bus = gst_bus_new();
  GstMessage *message;
  gchar *text;

  gst_element_set_bus(element, bus);
  test_set_state(element, GST_STATE_READY);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                         GST_STATE_CHANGE_FAILURE);
  message = test_bus_pop(bus, GST_MESSAGE_ERROR);
  text = test_message_text(message);
  test_check_words(text, words);
  test_check_words(text, cure);
  fail_unless_equals_int(
      test_bus_take(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR), 0);
  g_free(text);
  gst_message_unref(message);
  test_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_object_unref(element);
  gst_object_unref(bus);
}

GST_START_TEST(B27_auto_warns_once_before_the_first_frame)
{
  TestFixture fixture;

  make_unusable(__i__);
  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
  test_bus_check_text(fixture.bus, GST_MESSAGE_WARNING, devices[__i__].words);
  check_frames(&fixture);
  test_fixture_teardown(&fixture);
  make_usable();
}
GST_END_TEST;

GST_START_TEST(B27_cuda_does_not_start)
{
  make_unusable(__i__);
  check_cuda_is_an_error(devices[__i__].words);
  make_usable();
}
GST_END_TEST;

GST_START_TEST(B27_cpu_never_touches_the_driver)
{
  make_unusable(__i__);
  check_cpu_counts();
  make_usable();
}
GST_END_TEST;

/* A build has code for what the toolkit knows, and for what is to come; one
 * with a sanitizer only the latter, for all of these. */
GST_START_TEST(B27_other_devices_are_used)
{
  const int capabilities[] = {80, 86, 87, 89, 90, 100, 120, 990};
  TestFixture fixture;

  for (guint i = 0; i < G_N_ELEMENTS(capabilities); i++) {
    gchar *engine;

    test_fake.pose(0, capabilities[i]);
    test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
    engine = test_stat_string(fixture.element, "engine");
    fail_unless(g_str_equal(engine, "cuda"), "not on %d", capabilities[i]);
    test_fixture_teardown(&fixture);
    g_free(engine);
  }
  make_usable();
}
GST_END_TEST;

/* ---- CUDA_VISIBLE_DEVICES ---- */

static void
hide_devices(gint i)
{
  const gchar *const values[] = {"", "-1"};

  g_setenv("CUDA_VISIBLE_DEVICES", values[i], TRUE);
  test_fake.fail_at(0, 0, FALSE);
}

static void
show_devices(void)
{
  g_setenv("CUDA_VISIBLE_DEVICES", "0", TRUE);
  make_usable();
}

/* That no device is there is no fault. */
GST_START_TEST(no_device_is_visible_to_auto)
{
  TestFixture fixture;
  gchar *reason;

  hide_devices(__i__);
  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
  check_frames(&fixture);
  reason = test_stat_string(fixture.element, "reason");
  fail_unless(strstr(reason, "CUDA_ERROR_NO_DEVICE") != NULL, "%s", reason);
  g_free(reason);
  test_fixture_teardown(&fixture);
  show_devices();
}
GST_END_TEST;

GST_START_TEST(no_device_is_visible_to_cuda)
{
  const gchar *const words[] = {"cuInit", "CUDA_ERROR_NO_DEVICE", NULL};

  hide_devices(__i__);
  check_cuda_is_an_error(words);
  show_devices();
}
GST_END_TEST;

GST_START_TEST(no_device_is_visible_to_cpu)
{
  hide_devices(__i__);
  check_cpu_counts();
  show_devices();
}
GST_END_TEST;

static Suite *
unusable_suite(void)
{
  Suite *suite = suite_create("unusable");
  TCase *tcase = tcase_create("all");
  const gint n = G_N_ELEMENTS(devices);

  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, B27_auto_warns_once_before_the_first_frame, 0, n);
  tcase_add_loop_test(tcase, B27_cuda_does_not_start, 0, n);
  tcase_add_loop_test(tcase, B27_cpu_never_touches_the_driver, 0, n);
  tcase_add_test(tcase, B27_other_devices_are_used);
  tcase_add_loop_test(tcase, no_device_is_visible_to_auto, 0, 2);
  tcase_add_loop_test(tcase, no_device_is_visible_to_cuda, 0, 2);
  tcase_add_loop_test(tcase, no_device_is_visible_to_cpu, 0, 2);
  return suite;
}

TEST_FAKE_MAIN(unusable)
