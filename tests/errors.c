/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What cannot work is said in one clear sentence. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

static GstElement *
element_with_bus(GstBus **bus)
{
  GstElement *element = test_element(NULL);

  *bus = gst_bus_new();
  gst_element_set_bus(element, *bus);
  return element;
}

static void
discard(GstElement *element, GstBus *bus)
{
  test_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  gst_object_unref(element);
  gst_object_unref(bus);
}

static void
check_no_start(GstElement *element)
{
  test_set_state(element, GST_STATE_READY);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                         GST_STATE_CHANGE_FAILURE);
}

GST_START_TEST(bins_that_are_no_power_of_two)
{
  const guint bins[] = {3, 100, 255, 257, 65535};
  const gchar *words[] = {"power of two", NULL, NULL};
  gchar *number = g_strdup_printf("%u", bins[__i__]);
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);

  words[1] = number;
  g_object_set(element, "bins", bins[__i__], NULL);
  check_no_start(element);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, words);

  /* Put right, it starts. */
  g_object_set(element, "bins", 64, NULL);
  test_set_state(element, GST_STATE_PAUSED);
  discard(element, bus);
  g_free(number);
}
GST_END_TEST;

/* Known before there is a format. */
GST_START_TEST(bins_that_do_not_fit_the_significant_bits)
{
  const gchar *words[] = {"bins=512", "256", "significant-bits=8", NULL};
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);

  g_object_set(element, "bins", 512, "significant-bits", 8, NULL);
  check_no_start(element);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, words);

  g_object_set(element, "bins", 256, NULL);
  test_set_state(element, GST_STATE_PAUSED);
  discard(element, bus);
}
GST_END_TEST;

static const struct {
  guint bins, significant_bits;
  const gchar *format;
  const gchar *words[4];
} unfit[] = {
    {512, 0, "GRAY8", {"bins=512", "256", "GRAY8"}},
    {512, 0, "UYVY", {"bins=512", "256", "UYVY"}},
    {2048, 0, "P010_10LE", {"bins=2048", "1024", "P010_10LE"}},
    {2048, 0, "GRAY10_LE32", {"bins=2048", "1024", "GRAY10_LE32"}},
    {65536, 0, "I420_12BE", {"bins=65536", "4096", "I420_12BE"}},
    {256, 8, "GRAY8", {"significant-bits=8", "16-bit", "GRAY8"}},
    {256, 10, "GRAY10_LE32", {"significant-bits=10", "16-bit", "GRAY10_LE32"}},
    {256, 11, "P010_10LE", {"significant-bits=11", "10 bits", "P010_10LE"}},
    {256, 16, "Y444_12LE", {"significant-bits=16", "12 bits", "Y444_12LE"}},
};

GST_START_TEST(settings_that_do_not_fit_the_format)
{
  gchar *caps = g_strdup_printf("video/x-raw,format=%s,width=64,height=64",
                                unfit[__i__].format);
  GstElement *element;
  GstHarness *harness;
  GstBus *bus;

  element = element_with_bus(&bus);
  g_object_set(element, "bins", unfit[__i__].bins, "significant-bits",
               unfit[__i__].significant_bits, NULL);
  harness = gst_harness_new_with_element(element, "sink", "src");
  gst_harness_set_src_caps_str(harness, caps);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, unfit[__i__].words);
  fail_unless_equals_int(gst_harness_push(harness, gst_buffer_new()),
                         GST_FLOW_NOT_NEGOTIATED);

  /* Enough bits for all of the settings. */
  gst_harness_set_src_caps_str(
      harness, "video/x-raw,format=GRAY16_LE,width=64,height=48");
  gst_buffer_unref(gst_harness_push_and_pull(
      harness, gst_buffer_new_allocate(NULL, 2 * 64 * 48, NULL)));
  gst_harness_teardown(harness);
  discard(element, bus);
  g_free(caps);
}
GST_END_TEST;

/* ---- Regions ---- */

static const struct {
  const gchar *property, *value;
  guint bins;
  const gchar *words[4];
} region_faults[] = {
    {"roi", "x", 256, {"roi=x ", "x,y,width,height", "25%"}},
    {"roi", "1,2,3", 256, {"roi=1,2,3 ", "x,y,width,height"}},
    {"roi", "1,2,3,4,5", 256, {"roi=1,2,3,4,5 ", "x,y,width,height"}},
    {"roi", "1,2,0,4", 256, {"roi=1,2,0,4 ", "x,y,width,height"}},
    {"roi", "0,0,101%,1", 256, {"roi=0,0,101%,1 ", "x,y,width,height"}},
    {"zones", "8", 256, {"zones=8 ", "8x6"}},
    {"zones", "0x6", 256, {"zones=0x6 ", "8x6"}},
    {"zones", "33x32", 256, {"zones=33x32 ", "1024", "bins=256"}},
    {"zones", "13x5", 65536, {"zones=13x5 ", "64", "bins=65536"}},
    {"zones", "65535x65535", 256, {"zones=65535x65535 ", "1024"}},
    {"zone-weights", "<1, 2, 3>", 256, {"3 values", "4 zones"}},
};

/* Known before there is a format. */
GST_START_TEST(regions_that_no_frame_has)
{
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);

  g_object_set(element, "bins", region_faults[__i__].bins, "zones", "2x2",
               NULL);
  gst_util_set_object_arg(G_OBJECT(element), region_faults[__i__].property,
                          region_faults[__i__].value);
  check_no_start(element);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, region_faults[__i__].words);

  /* Put right, it starts. */
  g_object_set(element, "roi", "", "zones", "8x8", NULL);
  gst_util_set_object_arg(G_OBJECT(element), "zone-weights", "< >");
  test_set_state(element, GST_STATE_PAUSED);
  fail_unless_equals_int(test_bus_take(bus, GST_MESSAGE_ERROR), 0);
  discard(element, bus);
}
GST_END_TEST;

static const struct {
  const gchar *property, *value;
  const gchar *words[3];
} region_misfits[] = {
    {"roi", "0,0,65,48", {"roi=0,0,65,48 ", "64x48"}},
    {"roi", "0,1,64,48", {"roi=0,1,64,48 ", "64x48"}},
    {"roi", "64,0,1,1", {"roi=64,0,1,1 ", "64x48"}},
    {"roi", "100%,0,1%,1", {"roi=100%,0,1%,1 ", "64x48"}},
    {"roi", "0,60%,1,50%", {"roi=0,60%,1,50% ", "64x48"}},
    {"roi", "0,0,2147483647,2147483647", {"roi=0,0,2147483647", "64x48"}},
    {"zones", "65x1", {"zones=65x1 ", "64x48"}},
    {"zones", "1x49", {"zones=1x49 ", "64x48"}},
};

GST_START_TEST(regions_that_the_first_frames_do_not_have)
{
  GstElement *element;
  GstHarness *harness;
  GstBus *bus;

  element = element_with_bus(&bus);
  g_object_set(element, region_misfits[__i__].property,
               region_misfits[__i__].value, NULL);
  harness = gst_harness_new_with_element(element, "sink", "src");
  gst_harness_set_src_caps_str(harness, CAPS);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, region_misfits[__i__].words);
  fail_unless_equals_int(gst_harness_push(harness, gst_buffer_new()),
                         GST_FLOW_NOT_NEGOTIATED);

  /* Put right, the same caps are taken. */
  g_object_set(element, "roi", "0,0,64,48", "zones", "64x1", NULL);
  gst_harness_set_src_caps_str(harness, CAPS);
  gst_buffer_unref(gst_harness_push_and_pull(
      harness, gst_buffer_new_allocate(NULL, 64 * 48, NULL)));
  fail_unless_equals_int(test_bus_take(bus, GST_MESSAGE_ERROR), 0);
  gst_harness_teardown(harness);
  discard(element, bus);
}
GST_END_TEST;

/* ---- Caps ---- */

static const struct {
  const gchar *caps;
  const gchar *words[3];
} unsupported[] = {
    {"video/x-raw,format=RGB", {"RGB", "videoconvert"}},
    {"video/x-raw,format=GBR_16LE", {"GBR_16LE", "videoconvert"}},
    {"video/x-raw,format=v210", {"v210", "videoconvert"}},
    {"video/x-raw,format=UYVP", {"UYVP", "videoconvert"}},
    {"video/x-raw,format=IYU1", {"IYU1", "videoconvert"}},
    {"video/x-raw,format=NV12_64Z32", {"NV12_64Z32", "videoconvert"}},
    {"video/x-bayer,format=rggb", {"x-bayer", "bayer2rgb ! videoconvert"}},
    {"image/jpeg", {"image/jpeg", "decodebin"}},
    {"video/x-raw(memory:GLMemory),format=NV12", {"GLMemory", "Download"}},
    {"video/x-raw(memory:DMABuf),format=NV12", {"DMABuf", "Download"}},
    {"video/x-raw(format:Interlaced),format=NV12",
     {"Interlaced", "convert them"}},
    {"video/x-raw(memory:SystemMemory, meta:GstVideoOverlayComposition),"
     "format=NV12",
     {"OverlayComposition", "convert them"}}};

GST_START_TEST(unsupported_caps)
{
  const gchar *const *words = unsupported[__i__].words;
  gchar *caps =
      g_strdup_printf("%s,width=64,height=64", unsupported[__i__].caps);
  GstElement *element;
  GstHarness *harness;
  GstBus *bus;

  element = element_with_bus(&bus);
  harness = gst_harness_new_with_element(element, "sink", "src");
  gst_harness_set_src_caps_str(harness, caps);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, words);
  fail_unless_equals_int(gst_harness_push(harness, gst_buffer_new()),
                         GST_FLOW_NOT_NEGOTIATED);

  /* The right caps put it right. */
  gst_harness_set_src_caps_str(harness, CAPS);
  gst_buffer_unref(gst_harness_push_and_pull(
      harness, gst_buffer_new_allocate(NULL, 64 * 48, NULL)));
  gst_harness_teardown(harness);
  discard(element, bus);
  g_free(caps);
}
GST_END_TEST;

GST_START_TEST(frames_before_caps)
{
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);
  GstHarness *harness = gst_harness_new_with_element(element, "sink", "src");
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("x"));
  gst_pad_push_event(harness->srcpad, gst_event_new_segment(&segment));
  fail_unless_equals_int(
      gst_harness_push(harness, gst_buffer_new_allocate(NULL, 100, NULL)),
      GST_FLOW_NOT_NEGOTIATED);
  gst_harness_teardown(harness);
  discard(element, bus);
}
GST_END_TEST;

/* Whether or not there is a driver, there is no such device. */
GST_START_TEST(cuda_device_that_does_not_exist)
{
  const gchar *words[] = {"engine=cuda", NULL};
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);

  gst_util_set_object_arg(G_OBJECT(element), "engine", "cuda");
  g_object_set(element, "cuda-device-id", 999, NULL);
  check_no_start(element);
  test_bus_check_text(bus, GST_MESSAGE_ERROR, words);
  discard(element, bus);
}
GST_END_TEST;

GST_START_TEST(auto_takes_the_cpu_where_there_is_no_such_device)
{
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);
  gchar *engine, *reason;

  gst_util_set_object_arg(G_OBJECT(element), "engine", "auto");
  g_object_set(element, "cuda-device-id", 999, NULL);
  test_set_state(element, GST_STATE_PAUSED);
  engine = test_stat_string(element, "engine");
  reason = test_stat_string(element, "reason");
  fail_unless_equals_string(engine, "cpu");
  fail_unless(*reason != '\0');
  fail_unless_equals_int(test_bus_take(bus, GST_MESSAGE_ERROR), 0);
  g_free(engine);
  g_free(reason);
  discard(element, bus);
}
GST_END_TEST;

/* Which engine auto takes depends on the machine; that it starts, not. */
GST_START_TEST(auto_always_starts)
{
  GstBus *bus;
  GstElement *element = element_with_bus(&bus);
  gchar *engine;

  gst_util_set_object_arg(G_OBJECT(element), "engine", "auto");
  test_set_state(element, GST_STATE_PAUSED);
  engine = test_stat_string(element, "engine");
  fail_unless(g_str_equal(engine, "cpu") || g_str_equal(engine, "cuda"));
  fail_unless_equals_int(
      test_bus_take(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  g_free(engine);
  discard(element, bus);
}
GST_END_TEST;

/* ---- Downstream takes no more frames ---- */

static GstPadProbeReturn
return_flow(GstPad *pad, GstPadProbeInfo *info, gpointer flow)
{
  gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GPOINTER_TO_INT(flow);
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST(upstream_hears_why_downstream_stopped)
{
  const GstFlowReturn flows[] = {GST_FLOW_EOS, GST_FLOW_ERROR,
                                 GST_FLOW_NOT_NEGOTIATED,
                                 GST_FLOW_CUSTOM_ERROR};
  const gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  GstFlowReturn flow = GST_FLOW_OK;
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  gst_pad_add_probe(f.harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, return_flow,
                    GINT_TO_POINTER(flows[__i__]), NULL);
  for (guint i = 0; flow == GST_FLOW_OK; i++) {
    fail_unless(g_get_monotonic_time() < end, "the flow never stopped");
    flow = gst_harness_push(f.harness, test_frame_flat(&f.info, 1, i));
  }
  fail_unless_equals_int(flow, flows[__i__]);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
errors_suite(void)
{
  Suite *suite = suite_create("errors");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, bins_that_are_no_power_of_two, 0, 5);
  tcase_add_test(chain, bins_that_do_not_fit_the_significant_bits);
  tcase_add_loop_test(chain, settings_that_do_not_fit_the_format, 0,
                      G_N_ELEMENTS(unfit));
  tcase_add_loop_test(chain, regions_that_no_frame_has, 0,
                      G_N_ELEMENTS(region_faults));
  tcase_add_loop_test(chain, regions_that_the_first_frames_do_not_have, 0,
                      G_N_ELEMENTS(region_misfits));
  tcase_add_loop_test(chain, unsupported_caps, 0, G_N_ELEMENTS(unsupported));
  tcase_add_test(chain, frames_before_caps);
  tcase_add_test(chain, cuda_device_that_does_not_exist);
  tcase_add_test(chain, auto_takes_the_cpu_where_there_is_no_such_device);
  tcase_add_test(chain, auto_always_starts);
  tcase_add_loop_test(chain, upstream_hears_why_downstream_stopped, 0, 4);
  return suite;
}

TEST_MAIN(errors)
