/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-fake.h"

#include <dlfcn.h>
#include <string.h>

TestFake test_fake;

/* POSIX lets dlsym() return functions as objects; ISO C has no such cast. */
gboolean
test_fake_symbol(const gchar *name, void *function)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *symbol = library ? dlsym(library, name) : NULL;

  memcpy(function, &symbol, sizeof(symbol));
  return symbol != NULL;
}

gboolean
test_fake_find(void)
{
  return test_fake_symbol(FAKE_DRIVER_FAIL, &test_fake.fail_at) &&
         test_fake_symbol(FAKE_DRIVER_CALLS, &test_fake.calls) &&
         test_fake_symbol(FAKE_DRIVER_DELAY, &test_fake.delay) &&
         test_fake_symbol(FAKE_DRIVER_OBJECTS, &test_fake.objects);
}
