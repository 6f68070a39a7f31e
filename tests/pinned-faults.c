/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pinned and registered memory where the driver gives none. Needs the fake
 * driver. */

#include "testing-fake.h"
#include "testing-pool.h"

#define CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"

/* CUDA_ERROR_OUT_OF_MEMORY and CUDA_ERROR_NOT_PERMITTED. */
static const int codes[] = {2, 800};

/* That the element proposes, and one of ordinary memory. */
static void
make_pools(TestFixture *fixture, GstBufferPool *pools[2])
{
  guint min;

  pools[0] = test_pool_proposed(fixture, &min);
  pools[1] = test_pool_ordinary(&fixture->info, 2);
  fail_unless(pools[0] != NULL);
}

static void
push_all(TestFixture *fixture, GstBufferPool *pools[2])
{
  for (guint i = 0; i < 2; i++)
    test_pool_push(fixture, pools[i], 8);
  for (guint i = 0; i < 2; i++)
    test_pool_free(pools[i]);
}

static void
stop(TestFixture *fixture)
{
  fail_unless_equals_int(test_bus_take(fixture->bus, GST_MESSAGE_ERROR), 0);
  test_fixture_teardown(fixture);
  fail_unless_equals_int(test_fake.objects(), 0);
  test_fake.fail_at(0, 0, FALSE);
}

/* Frames of both kinds of memory while a call fails, once or for ever. Returns
 * whether the call was reached. */
static gboolean
check_failure(guint call, int code, gboolean ever)
{
  TestFixture fixture;
  GstBufferPool *pools[2];
  gboolean reached;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
  test_tap_clear(fixture.tap);
  test_fake.fail_at(call, code, ever);
  make_pools(&fixture, pools);
  push_all(&fixture, pools);
  reached = test_fake.calls() >= call;
  fail_unless(test_bus_take(fixture.bus, GST_MESSAGE_WARNING) <= 1);
  stop(&fixture);
  return reached;
}

GST_START_TEST(B17_no_pinned_memory)
{
  /* Where a sanitizer makes it slow, some of the calls. */
  const guint step = test_repeats(5) < 5 ? 7 : 1;

  for (guint c = 0; c < G_N_ELEMENTS(codes); c++)
    for (guint ever = 0; ever < 2; ever++)
      for (guint call = 1; check_failure(call, codes[c], ever > 0);)
        call += step;
}
GST_END_TEST

/* The GPU counts on, on copies: of a pool that got no pinned memory, and of
 * memory that could not be registered. */
GST_START_TEST(B17_ordinary_memory_in_its_place)
{
  const gboolean pool = __i__ % 2 == 0;
  const gchar *function = pool ? "cuMemHostAlloc" : "cuMemHostRegister";
  TestFixture fixture;
  GstBufferPool *pools[2];
  gchar *engine;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_CUDA, "register-memory",
                     !pool, NULL);
  test_tap_clear(fixture.tap);
  test_fake.fail_at(0, 0, FALSE);
  test_fake.fail_function(function, codes[__i__ / 2]);
  make_pools(&fixture, pools);
  /* What the engine copies to has to be pinned. */
  if (pool) {
    fail_unless(test_fake.failed(function));
    test_fake.fail_at(0, 0, FALSE);
  }
  push_all(&fixture, pools);
  fail_unless(pool || test_fake.failed(function));
  fail_unless_equals_int(test_bus_take(fixture.bus, GST_MESSAGE_WARNING), 0);
  engine = test_stat_string(fixture.element, "engine");
  fail_unless_equals_string(engine, "cuda");
  fail_unless_equals_uint64(test_stat(fixture.element, "bytes-copied"),
                            (pool ? 16 : 8) *
                                GST_VIDEO_INFO_SIZE(&fixture.info));
  g_free(engine);
  stop(&fixture);
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
  tcase_add_loop_test(tcase, B17_ordinary_memory_in_its_place, 0, 4);
  return suite;
}

TEST_FAKE_MAIN(pinned_faults)
