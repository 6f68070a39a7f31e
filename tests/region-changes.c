/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Regions that change, or no longer fit, while frames run. */

#include "testing-regions.h"

#include <string.h>

#define CAPS(width, height) \
  "video/x-raw,format=GRAY8,width=" width ",height=" height ",framerate=25/1"
#define ANY_COMPLAINT (GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)

static const TestRegion rois[] = {
    {1, {1, 2, 30, 20}}, {1, {0, 0, 64, 48}}, {1, {63, 0, 1, 48}}};

static gchar *
write_roi(const TestRegion *roi)
{
  return g_strdup_printf("%d,%d,%d,%d", roi->part.x, roi->part.y, roi->part.w,
                         roi->part.h);
}

/* Passes a frame and checks its regions. */
static void
measure(TestFixture *f, const TestRegion *regions, guint n)
{
  GstBuffer *buffer = test_frame_new(&f->info, NULL, test_ramp, NULL);

  buffer = test_fixture_pass(f, buffer);
  test_check_regions(buffer, &f->info, 256, regions, n);
  gst_buffer_unref(buffer);
}

/* No complaint since the last look; messages of histograms are of no interest.
 */
static void
check_no_complaint(TestFixture *f)
{
  GstMessage *message = gst_bus_pop_filtered(f->bus, ANY_COMPLAINT);

  fail_unless(message == NULL);
}

/* ---- Other wishes ---- */

typedef struct {
  GstElement *element;
  gint running; /* atomic */
} Changer;

static gpointer
change(gpointer data)
{
  static const gchar *const grids[] = {"4x3", "", "7x5", "1x1"};
  Changer *changer = data;

  for (guint i = 0; g_atomic_int_get(&changer->running); i++) {
    gchar *roi = write_roi(&rois[i % G_N_ELEMENTS(rois)]);

    g_object_set(changer->element, "roi", i % 5 ? roi : "", NULL);
    g_object_set(changer->element, "zones", grids[i % G_N_ELEMENTS(grids)],
                 NULL);
    g_free(roi);
    g_usleep(100);
  }
  return NULL;
}

/* A rectangle that was asked for at some time, exactly counted; and all zones
 * of a grid or none. */
static void
check_some(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstGpuHistogramMeta *roi =
      gst_buffer_get_gpu_histogram_meta_region(buffer, 1);
  guint n = test_check_any_regions(buffer, info, 256);
  gboolean known = roi == NULL;

  for (guint i = 0; i < G_N_ELEMENTS(rois) && roi != NULL; i++)
    known |= memcmp(&roi->rectangle, &rois[i].part, sizeof(rois[i].part)) == 0;
  fail_unless(known);
  if (roi != NULL)
    n--;
  fail_unless(n == 0 || n == 1 || n == 12 || n == 35, "%u zones", n);
}

GST_START_TEST(frames_agree_with_themselves_while_regions_change)
{
  const guint frames = test_repeats(1000);
  Changer changer = {.running = TRUE};
  GRand *random = test_random();
  GThread *thread;
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), "verify", TRUE, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  changer.element = f.element;
  thread = g_thread_new("changer", change, &changer);
  for (guint i = 0; i < frames; i++)
    test_fixture_push(&f, test_noise_frame(&f.info, NULL, random));
  for (guint i = 0; i < frames; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);

    check_some(buffer, &f.info);
    gst_buffer_unref(buffer);
  }
  g_atomic_int_set(&changer.running, FALSE);
  g_thread_join(thread);
  check_no_complaint(&f);
  test_fixture_teardown(&f);
  g_rand_free(random);
}
GST_END_TEST;

/* From the next frame on. */
GST_START_TEST(change_holds_from_the_next_frame_on)
{
  const TestRegion halves[] = {{1000, {0, 0, 32, 48}}, {1001, {32, 0, 32, 48}}};
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), NULL);
  for (guint i = 0; i < 9; i++) {
    const TestRegion *roi = &rois[i % G_N_ELEMENTS(rois)];
    gchar *text = write_roi(roi);

    g_object_set(f.element, "roi", text, "zones", "", NULL);
    measure(&f, roi, 1);
    g_object_set(f.element, "roi", "", "zones", "2x1", NULL);
    measure(&f, halves, 2);
    g_object_set(f.element, "zones", NULL, NULL);
    measure(&f, NULL, 0);
    g_free(text);
  }
  check_no_complaint(&f);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Impossible wishes while frames run ---- */

static const struct {
  const gchar *property, *value;
  const gchar *words[4];
  gboolean keeps_roi; /* the other one is not affected */
} impossible[] = {
    {"roi", "a,b,c,d", {"roi=a,b,c,d", "x,y,width,height"}, FALSE},
    {"roi", "1,2,3", {"roi=1,2,3", "x,y,width,height"}, FALSE},
    {"roi", "64,0,1,1", {"roi=64,0,1,1", "64x48"}, FALSE},
    {"zones", "8*6", {"zones=8*6", "8x6"}, TRUE},
    {"zones", "33x32", {"zones=33x32", "1024"}, TRUE},
    {"zones", "65x1", {"zones=65x1", "64x48"}, TRUE},
    {"zone-weights", "<1, 2, 3>", {"3 values", "1 zones"}, TRUE},
};

/* One warning, and the rest is counted; put right, all is again. */
GST_START_TEST(impossible_wish_is_one_warning)
{
  const TestRegion both[] = {{1, {1, 2, 30, 20}}, {1000, {0, 0, 64, 48}}};
  const TestRegion *left = &both[impossible[__i__].keeps_roi ? 0 : 1];
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), "roi", "1,2,30,20", "zones", "1x1",
                     "max-pending-messages", 0, NULL);
  measure(&f, both, 2);
  gst_util_set_object_arg(G_OBJECT(f.element), impossible[__i__].property,
                          impossible[__i__].value);
  for (guint i = 0; i < 5; i++)
    measure(&f, left, 1);
  /* It has nothing to do with those. */
  g_object_set(f.element, "rows", TRUE, "crop-meta", TRUE, NULL);
  measure(&f, left, 1);
  test_bus_check_text(f.bus, GST_MESSAGE_WARNING, impossible[__i__].words);
  g_object_set(f.element, "roi", "1,2,30,20", "zones", "1x1", NULL);
  gst_util_set_object_arg(G_OBJECT(f.element), "zone-weights", "< >");
  measure(&f, both, 2);
  check_no_complaint(&f);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Other frames ---- */

static void
renegotiate(TestFixture *f, const gchar *caps)
{
  fail_unless(test_fixture_renegotiate(f, caps));
  check_no_complaint(f);
}

GST_START_TEST(roi_that_leaves_a_smaller_frame_is_clipped)
{
  const gchar *words[] = {"roi=20,30,40,10", "32x36", NULL};
  const TestRegion roi = {1, {20, 30, 40, 10}}, clipped = {1, {20, 30, 12, 6}};
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), "roi", "20,30,40,10",
                     "max-pending-messages", 0, NULL);
  measure(&f, &roi, 1);
  for (guint n = 0; n < 3; n++) {
    renegotiate(&f, CAPS("32", "36"));
    for (guint i = 0; i < 5; i++)
      measure(&f, &clipped, 1);
    test_bus_check_text(f.bus, GST_MESSAGE_WARNING, words);
    renegotiate(&f, CAPS("64", "48"));
    measure(&f, &roi, 1);
    check_no_complaint(&f);
  }
  /* And where nothing of it is left, there is none. */
  renegotiate(&f, CAPS("20", "48"));
  measure(&f, NULL, 0);
  measure(&f, NULL, 0);
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_WARNING), 1);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(zones_that_do_not_fit_a_smaller_frame_rest)
{
  const gchar *words[] = {"zones=8x6", "7x48", NULL};
  const TestRegion roi = {1, {1, 2, 3, 4}};
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), "zones", "8x6",
                     "max-pending-messages", 0, NULL);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *buffer = test_frame_new(&f.info, NULL, test_ramp, NULL);

    buffer = test_fixture_pass(&f, buffer);
    test_check_zones(buffer, &f.info, 256, 8, 6);
    gst_buffer_unref(buffer);
    check_no_complaint(&f);
    renegotiate(&f, CAPS("7", "48"));
    g_object_set(f.element, "roi", "1,2,3,4", NULL);
    for (guint i = 0; i < 5; i++)
      measure(&f, &roi, 1);
    test_bus_check_text(f.bus, GST_MESSAGE_WARNING, words);
    g_object_set(f.element, "roi", "", NULL);
    renegotiate(&f, CAPS("64", "48"));
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* In per cent they fit all frames. */
GST_START_TEST(roi_in_per_cent_follows_the_size)
{
  const TestRegion large = {1, {16, 12, 32, 24}}, small = {1, {2, 0, 3, 1}};
  TestFixture f;

  test_fixture_setup(&f, CAPS("64", "48"), "roi", "25%,25%,50%,50%", NULL);
  measure(&f, &large, 1);
  renegotiate(&f, CAPS("6", "1"));
  measure(&f, &small, 1);
  renegotiate(&f, CAPS("64", "48"));
  measure(&f, &large, 1);
  check_no_complaint(&f);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
region_changes_suite(void)
{
  Suite *suite = suite_create("region-changes");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, frames_agree_with_themselves_while_regions_change);
  tcase_add_test(chain, change_holds_from_the_next_frame_on);
  tcase_add_loop_test(chain, impossible_wish_is_one_warning, 0,
                      G_N_ELEMENTS(impossible));
  tcase_add_test(chain, roi_that_leaves_a_smaller_frame_is_clipped);
  tcase_add_test(chain, zones_that_do_not_fit_a_smaller_frame_rest);
  tcase_add_test(chain, roi_in_per_cent_follows_the_size);
  return suite;
}

TEST_MAIN(region_changes)
