/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The controls of the fake driver, for programs that run over it. */

#pragma once

#include "fake-driver.h"

#include <glib.h>

typedef struct {
  FakeDriverFail fail_at;
  FakeDriverFailFunction fail_function;
  FakeDriverUnplug unplug;
  FakeDriverFailed failed;
  FakeDriverCalls calls;
  FakeDriverDelay delay;
  FakeDriverObjects objects;
  FakeDriverPose pose;
  FakeDriverMiscount miscount;
} TestFake;

/* Set by test_fake_find(). */
extern TestFake test_fake;

/* FALSE where the driver is a real one, or there is none. */
gboolean test_fake_find(void);

/* That the text names a call that failed because it was told to, and the
 * driver's name of the code. */
void test_fake_check_cause(const gchar *text, int code);

/* Sets the pointer at @function to what the driver calls @name; FALSE where it
 * has none of that name. */
gboolean test_fake_symbol(const gchar *name, void *function);

/* Whether a program that needs the fake driver has to be skipped, as is then
 * said. */
gboolean test_fake_is_missing(const gchar *name);

/* TEST_MAIN for such a program. */
#define TEST_FAKE_MAIN(name)                           \
  int main(int argc, char **argv)                      \
  {                                                    \
    if (test_fake_is_missing(#name))                   \
      return 77;                                       \
    return test_main(argc, argv, name##_suite, #name); \
  }
