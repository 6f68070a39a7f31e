/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What stays of a size that is no longer used: nothing. */

#include "testing-pool.h"
#include "testing-use.h"

#define CAPS(width, height) \
  "video/x-raw,format=GRAY8,width=" width ",height=" height ",framerate=25/1"
#define CHANGES 1000
#define EARLY 10 /* the change after which the memory is looked at */
#define RANDOM_SIZES 100

/* A frame from the pool that is proposed, and @n of ordinary memory. */
static void
run_size(TestFixture *fixture, guint width, guint height, guint n)
{
  gchar *caps = g_strdup_printf(CAPS("%u", "%u"), width, height);
  GstBufferPool *pool, *ordinary;
  guint min;

  fail_unless(test_fixture_renegotiate(fixture, caps));
  test_tap_clear(fixture->tap);
  pool = test_pool_proposed(fixture, &min);
  ordinary = test_pool_ordinary(&fixture->info, 2);
  test_pool_push(fixture, pool, 1);
  test_pool_push(fixture, ordinary, n);
  test_pool_free(ordinary);
  test_pool_free(pool);
  g_free(caps);
}

static void
check_driver(guint64 before)
{
  guint64 now = test_driver_used();

  fail_unless(now <= before + test_driver_slack(),
              "the driver's memory grew from %" G_GUINT64_FORMAT
              " to %" G_GUINT64_FORMAT,
              before, now);
}

static void
check_growth(guint64 early, guint64 resident)
{
  check_driver(early);
  fail_unless(test_has_not_grown(resident, 8 << 20));
}

GST_START_TEST(B28_many_sizes)
{
  /* Where a sanitizer makes it slow, few. */
  gboolean slow = test_repeats(CHANGES) < CHANGES;
  guint changes = slow ? 40 : CHANGES, sizes = slow ? 10 : RANDOM_SIZES;
  GRand *random = test_random();
  guint64 before = test_driver_used(), early = 0, resident = 0;
  TestFixture fixture;

  test_fixture_setup(&fixture, CAPS("640", "480"), NULL);
  for (guint i = 0; i < changes; i++) {
    /* Seven times, so that the memory is registered. */
    run_size(&fixture, i % 2 ? 1920 : 640, i % 2 ? 1080 : 480, i % 9 ? 1 : 7);
    if (i == EARLY) {
      early = test_driver_used();
      resident = test_resident_bytes();
    }
  }
  check_growth(early, resident);
  for (guint i = 0; i < sizes; i++)
    run_size(&fixture, (guint)g_rand_int_range(random, 256, 1920),
             (guint)g_rand_int_range(random, 256, 1080), 7);
  check_growth(early, resident);
  test_fixture_teardown(&fixture);
  check_driver(before);
  g_rand_free(random);
}
GST_END_TEST

static Suite *
renegotiation_suite(void)
{
  Suite *suite = suite_create("renegotiation");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, B28_many_sizes);
  return suite;
}

TEST_MAIN(renegotiation)
