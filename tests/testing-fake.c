/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-fake.h"

#include <dlfcn.h>
#include <string.h>

TestFake test_fake;

/* POSIX lets dlsym() return functions as objects; ISO C has no such cast. */
static gboolean
find(void *library, const gchar *name, void *function)
{
  void *symbol = dlsym(library, name);

  memcpy(function, &symbol, sizeof(symbol));
  return symbol != NULL;
}

gboolean
test_fake_find(void)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW);

  return library && find(library, FAKE_DRIVER_FAIL, &test_fake.fail_at) &&
         find(library, FAKE_DRIVER_CALLS, &test_fake.calls) &&
         find(library, FAKE_DRIVER_DELAY, &test_fake.delay) &&
         find(library, FAKE_DRIVER_OBJECTS, &test_fake.objects);
}
