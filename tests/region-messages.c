/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages of regions: which come, in which order, and what they say. */

#include "testing-regions.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

static guint
take_all(GstBus *bus)
{
  return test_bus_take(bus, GST_MESSAGE_ELEMENT);
}

/* One for each meta of the buffer, in their order, and no more. */
static void
check_messages(TestFixture *f, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_GPU_HISTOGRAM_META_API_TYPE))) {
    GstMessage *message = test_bus_pop_histogram(f->bus);

    test_check_region_message(message, (GstGpuHistogramMeta *)meta);
    fail_unless_equals_uint64(test_message_uint64(message, "timestamp"),
                              GST_BUFFER_PTS(buffer));
    gst_message_unref(message);
  }
  fail_unless_equals_int(take_all(f->bus), 0);
}

GST_START_TEST(each_region_has_its_message_in_order)
{
  const guint bins[] = {256, 16};
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, CAPS, "roi", "1,2,3,4", "zones", "3x3", "bins",
                     bins[__i__], NULL);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = test_noise_frame(&f.info, NULL, random);

    test_stamp(buffer, i);
    buffer = test_fixture_pass(&f, buffer);
    fail_unless_equals_int(test_check_any_regions(buffer, &f.info, bins[__i__]),
                           10);
    check_messages(&f, buffer);
    gst_buffer_unref(buffer);
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* Too many bins for a message, and no meta that would hold them. */
GST_START_TEST(many_bins_without_metas)
{
  const guint bins[] = {1024, 65536};
  const gboolean has_bins = bins[__i__] <= 4096;
  TestFixture f;

  test_fixture_setup(&f,
                     "video/x-raw,format=GRAY16_LE,width=64,height=48,"
                     "framerate=25/1",
                     "roi", "0,0,32,48", "zones", "2x2", "attach-meta", FALSE,
                     "bins", bins[__i__], NULL);
  for (guint i = 0; i < 3; i++) {
    gst_buffer_unref(
        test_fixture_pass(&f, test_frame_flat(&f.info, (guint8)(3 * i), i)));
    for (guint r = 0; r < 6; r++) {
      GstMessage *message = test_bus_pop_histogram(f.bus);
      guint64 pixels = r == 0 ? 64 * 48 : r == 1 ? 32 * 48 : 32 * 24;

      fail_unless_equals_uint64(test_message_uint64(message, "pixels"), pixels);
      fail_unless_equals_uint64(test_message_uint64(message, "sum"),
                                3 * i * pixels);
      fail_unless_equals_int(
          gst_structure_has_field(gst_message_get_structure(message),
                                  "histogram"),
          has_bins);
      gst_message_unref(message);
    }
  }
  fail_unless_equals_int(take_all(f.bus), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- How many ---- */

static void
pass_flat(TestFixture *f, guint number)
{
  gst_buffer_unref(test_fixture_pass(f, test_frame_flat(&f->info, 1, number)));
}

/* Frames of 40 ms; those at 0, 120, 240 ... ms are due. */
GST_START_TEST(interval_is_for_all_of_a_frame)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "zones", "2x2", "interval", 100 * GST_MSECOND,
                     NULL);
  for (guint i = 0; i < 9; i++) {
    pass_flat(&f, i);
    fail_unless_equals_int(take_all(f.bus), i % 3 == 0 ? 5 : 0);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(pending_messages_are_limited_for_all_regions)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "zones", "2x2", "max-pending-messages", 7, NULL);
  for (guint i = 0; i < 4; i++)
    pass_flat(&f, i);
  fail_unless_equals_int(take_all(f.bus), 7);
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"), 20 - 7);
  /* Those that were taken make room. */
  pass_flat(&f, 4);
  fail_unless_equals_int(take_all(f.bus), 5);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(no_message_when_none_is_wanted)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "zones", "2x2", "post-messages", FALSE, NULL);
  pass_flat(&f, 0);
  fail_unless_equals_int(take_all(f.bus), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- ROI metas ---- */

/* Of the region with this id, as its message has it; NULL for no ROI meta. */
static void
check_roi_fields(GstMessage *message, gint region, const gchar *type, gint id)
{
  const GstStructure *structure = gst_message_get_structure(message);
  gint value;

  fail_unless(gst_structure_get_int(structure, "region", &value));
  fail_unless_equals_int(value, region);
  fail_unless_equals_string(gst_structure_get_string(structure, "roi-type"),
                            type);
  fail_unless_equals_int(gst_structure_has_field(structure, "roi-id"),
                         type != NULL);
  if (type != NULL) {
    fail_unless(gst_structure_get_int(structure, "roi-id", &value));
    fail_unless_equals_int(value, id);
  }
  gst_message_unref(message);
}

GST_START_TEST(roi_metas_have_their_type_and_id)
{
  TestFixture f;
  GstBuffer *buffer;

  test_fixture_setup(&f, CAPS, "roi-metas", TRUE, "roi", "1,1,1,1", NULL);
  buffer = test_frame_flat(&f.info, 1, 0);
  gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 1, 9, 9)->id =
      17;
  gst_buffer_add_video_region_of_interest_meta(buffer, "far", 999, 1, 9, 9);
  gst_buffer_add_video_region_of_interest_meta(buffer, "car", 2, 2, 9, 9)->id =
      -3;
  gst_buffer_unref(test_fixture_pass(&f, buffer));
  check_roi_fields(test_bus_pop_histogram(f.bus), 0, NULL, 0);
  check_roi_fields(test_bus_pop_histogram(f.bus), 1, NULL, 0);
  check_roi_fields(test_bus_pop_histogram(f.bus), 10000, "face", 17);
  check_roi_fields(test_bus_pop_histogram(f.bus), 10002, "car", -3);
  fail_unless_equals_int(take_all(f.bus), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- zone-weights ---- */

/* What the messages of a frame with 3x2 zones say, or -1 for nothing; that of
 * the whole frame alone says it. */
static gdouble
take_weighted_mean(TestFixture *f, guint n_zones)
{
  gdouble mean = -1.0;

  for (guint i = 0; i <= n_zones; i++) {
    GstMessage *message = test_bus_pop_histogram(f->bus);
    const GstStructure *structure = gst_message_get_structure(message);

    if (i == 0)
      gst_structure_get_double(structure, "weighted-mean", &mean);
    else
      fail_if(gst_structure_has_field(structure, "weighted-mean"));
    gst_message_unref(message);
  }
  return mean;
}

static gdouble
zone_mean(GstBuffer *buffer, guint zone)
{
  GstGpuHistogramMeta *meta =
      gst_buffer_get_gpu_histogram_meta_region(buffer, 1000 + (gint)zone);

  return (gdouble)meta->sum / (gdouble)meta->pixels;
}

/* Zones of 65x47 are not all of the same size, and each counts by its weight
 * all the same. */
static void
check_weights(TestFixture *f, const gchar *text, const gdouble *weights,
              GRand *random)
{
  GstBuffer *buffer = test_noise_frame(&f->info, NULL, random);
  gdouble sum = 0.0, all = 0.0, mean;

  gst_util_set_object_arg(G_OBJECT(f->element), "zone-weights", text);
  buffer = test_fixture_pass(f, buffer);
  for (guint z = 0; z < 6; z++) {
    sum += weights[z] * zone_mean(buffer, z);
    all += weights[z];
  }
  mean = take_weighted_mean(f, 6);
  fail_unless(ABS(mean - sum / all) < 1e-9, "%.12g is not %.12g", mean,
              sum / all);
  gst_buffer_unref(buffer);
}

GST_START_TEST(weighted_mean_is_that_of_the_zones)
{
  GRand *random = test_random();
  TestFixture f;

  test_fixture_setup(&f, "video/x-raw,format=GRAY8,width=65,height=47", "zones",
                     "3x2", "roi", "", NULL);
  check_weights(&f, "<1, 1, 1, 1, 1, 1>", (const gdouble[]){1, 1, 1, 1, 1, 1},
                random);
  check_weights(&f, "<0, 0, 0, 0, 0.125, 0>",
                (const gdouble[]){0, 0, 0, 0, 0.125, 0}, random);
  check_weights(&f, "<1, 2, 3, 4, 5, 6.5>",
                (const gdouble[]){1, 2, 3, 4, 5, 6.5}, random);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* Regions before and behind the zones are not taken for them: as only the first
 * zone has a weight, the mean tells which it was. */
GST_START_TEST(weighted_mean_among_other_regions)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "zones", "3x2", "roi", "30,30,9,9", "roi-metas",
                     TRUE, NULL);
  gst_util_set_object_arg(G_OBJECT(f.element), "zone-weights",
                          "<1, 0, 0, 0, 0, 0>");
  for (guint n_metas = 0; n_metas < 3; n_metas++) {
    GstBuffer *buffer = test_frame_new(&f.info, NULL, test_ramp, NULL);
    gdouble mean = -1.0;

    for (guint i = 0; i < n_metas; i++)
      gst_buffer_add_video_region_of_interest_meta(buffer, "x", 50, 40, 9, 8);
    buffer = test_fixture_pass(&f, buffer);
    for (guint i = 0; i < 1 + 1 + 6 + n_metas; i++) {
      GstMessage *message = test_bus_pop_histogram(f.bus);

      gst_structure_get_double(gst_message_get_structure(message),
                               "weighted-mean", &mean);
      gst_message_unref(message);
    }
    fail_unless_equals_float(mean, zone_mean(buffer, 0));
    fail_unless_equals_int(take_all(f.bus), 0);
    gst_buffer_unref(buffer);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(weighted_mean_needs_weights_and_zones)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, "zones", "3x2", NULL);
  pass_flat(&f, 0);
  fail_unless(take_weighted_mean(&f, 6) == -1.0);
  gst_util_set_object_arg(G_OBJECT(f.element), "zone-weights",
                          "<1, 2, 3, 4, 5, 6>");
  pass_flat(&f, 1);
  fail_unless_equals_float(take_weighted_mean(&f, 6), 1.0);
  gst_util_set_object_arg(G_OBJECT(f.element), "zone-weights", "< >");
  pass_flat(&f, 2);
  fail_unless(take_weighted_mean(&f, 6) == -1.0);
  g_object_set(f.element, "zones", "", NULL);
  pass_flat(&f, 3);
  fail_unless(take_weighted_mean(&f, 0) == -1.0);
  fail_unless_equals_int(take_all(f.bus), 0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
region_messages_suite(void)
{
  Suite *suite = suite_create("region-messages");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, each_region_has_its_message_in_order, 0, 2);
  tcase_add_loop_test(chain, many_bins_without_metas, 0, 2);
  tcase_add_test(chain, interval_is_for_all_of_a_frame);
  tcase_add_test(chain, pending_messages_are_limited_for_all_regions);
  tcase_add_test(chain, no_message_when_none_is_wanted);
  tcase_add_test(chain, roi_metas_have_their_type_and_id);
  tcase_add_test(chain, weighted_mean_is_that_of_the_zones);
  tcase_add_test(chain, weighted_mean_among_other_regions);
  tcase_add_test(chain, weighted_mean_needs_weights_and_zones);
  return suite;
}

TEST_MAIN(region_messages)
