/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the process and the driver hold, for tests that watch it not grow. */

#pragma once

#include "testing.h"

typedef struct {
  guint64 resident; /* bytes; what was freed is given back before */
  guint64 heap;     /* bytes that were allocated and not freed; 0: not known */
  guint64 driver;   /* see test_driver_used() */
  guint threads;    /* without those that wait for work in GLib's pool */
  guint fds;
} TestUse;

/* What the driver gave to the process: bytes of the device, or, where the fake
 * driver counts them, objects. 0 where the test's engine is the CPU. */
guint64 test_driver_used(void);

/* How many bytes of the device may be used beyond that without being a leak;
 * 0 where objects are counted. */
guint64 test_driver_slack(void);

/* To be called while nothing runs. */
void test_use_take(TestUse *use);

/* Fails where there is more than @before, or more by @heap and @resident bytes
 * of memory; gives threads two seconds to end. */
void test_use_check(const TestUse *before, guint64 heap, guint64 resident);
