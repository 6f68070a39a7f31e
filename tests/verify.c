/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that counts wrongly is noticed with verify=true. Needs the fake
 * driver, as no other one does. */

#include "testing-fake.h"
#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

/* The wrong frame does not go on. */
GST_START_TEST(wrong_sum_is_an_error)
{
  const gchar *const words[] = {"contradicts itself", NULL};
  TestFixture f;

  test_fixture_setup(&f, CAPS, "verify", TRUE, "zones", __i__ ? "2x2" : "",
                     NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_fixture_push(&f, test_frame_flat(&f.info, 1, 0));
  gst_buffer_unref(test_tap_pop_buffer(f.tap));
  fail_unless_equals_int(test_bus_take(f.bus, GST_MESSAGE_ERROR), 0);

  test_fake.miscount(TRUE);
  test_fixture_push(&f, test_frame_flat(&f.info, 2, 1));
  test_bus_check_text(f.bus, GST_MESSAGE_ERROR, words);
  test_fixture_drain(&f);
  fail_unless_equals_int(test_tap_count(f.tap), 0);
  test_fake.miscount(FALSE);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
verify_suite(void)
{
  Suite *suite = suite_create("verify");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, wrong_sum_is_an_error, 0, 2);
  return suite;
}

TEST_FAKE_MAIN(verify)
