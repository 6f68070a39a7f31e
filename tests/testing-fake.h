/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The controls of the fake driver, for programs that run over it. */

#pragma once

#include "fake-driver.h"

#include <glib.h>

typedef struct {
  FakeDriverFail fail_at;
  FakeDriverCalls calls;
  FakeDriverDelay delay;
  FakeDriverObjects objects;
} TestFake;

/* Set by test_fake_find(). */
extern TestFake test_fake;

/* FALSE where the driver is a real one, or there is none. */
gboolean test_fake_find(void);

/* Sets the pointer at @function to what the driver calls @name; FALSE where it
 * has none of that name. */
gboolean test_fake_symbol(const gchar *name, void *function);
