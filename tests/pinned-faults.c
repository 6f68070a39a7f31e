/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pinned and registered memory where the driver gives none. Needs the fake
 * driver. */

#include "testing-fake.h"
#include "testing-pool.h"

#define CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"

/* CUDA_ERROR_OUT_OF_MEMORY and CUDA_ERROR_NOT_PERMITTED. */
static const int codes[] = {2, 800};

/* Frames of both kinds of memory while a call fails, once or for ever. Returns
 * whether the call was reached. */
static gboolean
check_failure(guint call, int code, gboolean ever)
{
  TestFixture fixture;
  GstBufferPool *pools[2];
  gboolean reached;
  guint min;

  test_fixture_setup(&fixture, CAPS, "engine", 0, NULL);
  test_tap_clear(fixture.tap);
  test_fake.fail_at(call, code, ever);
  pools[0] = test_pool_proposed(&fixture, &min);
  pools[1] = test_pool_ordinary(&fixture.info, 2);
  fail_unless(pools[0] != NULL);
  for (guint i = 0; i < 2; i++)
    test_pool_push(&fixture, pools[i], 8);
  reached = test_fake.calls() >= call;
  fail_unless(test_bus_take(fixture.bus, GST_MESSAGE_WARNING) <= 1);
  fail_unless_equals_int(test_bus_take(fixture.bus, GST_MESSAGE_ERROR), 0);
  for (guint i = 0; i < 2; i++)
    test_pool_free(pools[i]);
  test_fixture_teardown(&fixture);
  test_fake.fail_at(0, 0, FALSE);
  return reached;
}

GST_START_TEST(B17_no_pinned_memory)
{
  /* Where a sanitizer makes it slow, some of the calls. */
  const guint step = test_repeats(5) < 5 ? 7 : 1;

  for (guint c = 0; c < G_N_ELEMENTS(codes); c++)
    for (guint ever = 0; ever < 2; ever++)
      for (guint call = 1; check_failure(call, codes[c], ever > 0);
           call += step)
        fail_unless_equals_int(test_fake.objects(), 0);
}
GST_END_TEST

static Suite *
pinned_faults_suite(void)
{
  Suite *suite = suite_create("pinned-faults");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, B17_no_pinned_memory);
  return suite;
}

TEST_FAKE_MAIN(pinned_faults)
