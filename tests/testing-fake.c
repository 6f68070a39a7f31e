/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-fake.h"

#include <dlfcn.h>
#include <gst/check/gstcheck.h>
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
         test_fake_symbol(FAKE_DRIVER_FAIL_FUNCTION,
                          &test_fake.fail_function) &&
         test_fake_symbol(FAKE_DRIVER_UNPLUG, &test_fake.unplug) &&
         test_fake_symbol(FAKE_DRIVER_FAILED, &test_fake.failed) &&
         test_fake_symbol(FAKE_DRIVER_MISCOUNT, &test_fake.miscount) &&
         test_fake_symbol(FAKE_DRIVER_CALLS, &test_fake.calls) &&
         test_fake_symbol(FAKE_DRIVER_DELAY, &test_fake.delay) &&
         test_fake_symbol(FAKE_DRIVER_OBJECTS, &test_fake.objects) &&
         test_fake_symbol(FAKE_DRIVER_POSE, &test_fake.pose);
}

/* (transfer full) */
static gchar *
name_of(int code)
{
  int (*get_name)(int, const char **);
  const char *name = NULL;

  fail_unless(test_fake_symbol("cuGetErrorName", &get_name));
  return get_name(code, &name) == 0 ? g_strdup(name)
                                    : g_strdup_printf("error %d", code);
}

void
test_fake_check_cause(const gchar *text, int code)
{
  const gchar *gave = strstr(text, " gave "), *start = gave;
  gchar *call, *name = name_of(code);

  fail_unless(gave != NULL, "\"%s\" names no call", text);
  while (start > text && start[-1] != ' ')
    start--;
  call = g_strndup(start, (gsize)(gave - start));
  fail_unless(test_fake.failed(call), "\"%s\": %s did not fail", text, call);
  fail_unless(g_str_has_prefix(gave + strlen(" gave "), name),
              "\"%s\" is not of %s", text, name);
  g_free(call);
  g_free(name);
}

gboolean
test_fake_is_missing(const gchar *name)
{
  if (test_fake_find())
    return FALSE;
  g_printerr("%s: skipped, this is no fake driver\n", name);
  return TRUE;
}
