/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame whose submission failed is its owner's again: nothing that was queued
 * for it reads it any more. Needs the fake driver. */

#include "host-memory.h"
#include "testing-engine.h"
#include "testing-fake.h"

#include <stdlib.h>
#include <string.h>

#define SIDE 256u
#define DELAY 20000 /* microseconds, for each operation at most */
#define REPEATS 4
#define LAUNCH_FAILED 719

/* Submits a frame in registered memory, where the driver's call number `call`
 * fails, and unregisters it at once. */
static GhStatus
submit_and_unregister(GhPinned *pinned, guint8 *samples, guint call,
                      guint *n_calls)
{
  const GhFrame frame = {samples, SIDE, SIDE, SIDE, GH_MEMORY_PINNED};
  GhEngine *engine = test_engine_open(1, 256, 1);
  GhError error = {""};
  GhStatus status;

  fail_unless(gh_pinned_register(pinned, samples, SIDE * SIDE, &error), "%s",
              error.text);
  test_fake.delay(DELAY);
  test_fake.fail_at(call, LAUNCH_FAILED, FALSE);
  status = gh_engine_submit(engine, &frame, &error);
  *n_calls = test_fake.calls();
  test_fake.fail_at(0, 0, FALSE);
  if (status == GH_OK)
    gh_engine_flush(engine);
  /* The driver aborts if the upload comes later. */
  gh_pinned_unregister(pinned, samples);
  test_fake.delay(0);
  gh_engine_close(&engine);
  return status;
}

GST_START_TEST(nothing_is_read_after_a_failed_submit)
{
  guint8 *samples = aligned_alloc(4096, SIDE * SIDE);
  guint n, n_calls, failed = 0;
  GhPinned *pinned;
  GhError error = {""};

  memset(samples, 1, SIDE * SIDE);
  fail_unless(gh_pinned_open(&pinned, -1, &error) == GH_OK, "%s", error.text);
  fail_unless_equals_int(submit_and_unregister(pinned, samples, 0, &n), GH_OK);
  for (guint i = 0; i < n * REPEATS; i++)
    failed += submit_and_unregister(pinned, samples, 1 + i / REPEATS,
                                    &n_calls) == GH_FAILED;
  /* The context, the upload, the launch and the event at least. */
  fail_unless(failed >= 4 * REPEATS, "%u", failed);
  gh_pinned_close(&pinned);
  free(samples);
}
GST_END_TEST;

static Suite *
failed_submit_suite(void)
{
  Suite *suite = suite_create("failed-submit");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, nothing_is_read_after_a_failed_submit);
  return suite;
}

int
main(int argc, char **argv)
{
  if (test_fake_is_missing("failed-submit"))
    return 77;
  return test_engine_main(argc, argv, failed_submit_suite, "failed-submit");
}
