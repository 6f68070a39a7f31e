/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looks from outside: the bus, the log, states, and what the process uses. */

#include "testing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Bus ---- */

GstMessage *
test_bus_pop(GstBus *bus, GstMessageType types)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE * GST_USECOND, types);

  fail_unless(message != NULL, "no message of the types 0x%x", types);
  return message;
}

GstMessage *
test_bus_pop_histogram(GstBus *bus)
{
  GstMessage *message = test_bus_pop(bus, GST_MESSAGE_ELEMENT);

  fail_unless(gst_message_has_name(message, "gpuhistogram"));
  return message;
}

guint64
test_message_uint64(GstMessage *message, const gchar *field)
{
  guint64 value = 0;

  fail_unless(gst_structure_get_uint64(gst_message_get_structure(message),
                                       field, &value),
              "the message has no uint64 %s", field);
  return value;
}

guint
test_bus_take(GstBus *bus, GstMessageType types)
{
  GstMessage *message;
  guint count = 0;

  while ((message = gst_bus_pop_filtered(bus, types)) != NULL) {
    gst_message_unref(message);
    count++;
  }
  return count;
}

gchar *
test_message_text(GstMessage *message)
{
  GError *error = NULL;
  gchar *text;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else
    gst_message_parse_warning(message, &error, NULL);
  text = g_strdup(error->message);
  g_error_free(error);
  return text;
}

void
test_check_words(const gchar *text, const gchar *const *words)
{
  for (; *words; words++)
    fail_unless(strstr(text, *words) != NULL, "\"%s\" does not say \"%s\"",
                text, *words);
}

void
test_bus_check_text(GstBus *bus, GstMessageType type, const gchar *const *words)
{
  GstMessage *message = test_bus_pop(bus, type);
  gchar *text = test_message_text(message);

  test_check_words(text, words);
  fail_unless_equals_int(test_bus_take(bus, type), 0);
  g_free(text);
  gst_message_unref(message);
}

static GstStructure *
get_stats(GstElement *element)
{
  GstStructure *stats = NULL;

  g_object_get(element, "stats", &stats, NULL);
  fail_unless(stats != NULL);
  return stats;
}

guint64
test_stat(GstElement *element, const gchar *field)
{
  GstStructure *stats = get_stats(element);
  guint64 value = 0;
  guint small = 0;

  if (gst_structure_get_uint(stats, field, &small))
    value = small;
  else
    fail_unless(gst_structure_get_uint64(stats, field, &value),
                "stats has no number %s", field);
  gst_structure_free(stats);
  return value;
}

gchar *
test_stat_string(GstElement *element, const gchar *field)
{
  GstStructure *stats = get_stats(element);
  gchar *value;

  fail_unless(gst_structure_has_field_typed(stats, field, G_TYPE_STRING),
              "stats has no string %s", field);
  value = g_strdup(gst_structure_get_string(stats, field));
  gst_structure_free(stats);
  return value;
}

/* ---- The process ---- */

static guint
count_entries(const gchar *path)
{
  GDir *dir = g_dir_open(path, 0, NULL);
  guint count = 0;

  fail_unless(dir != NULL);
  while (g_dir_read_name(dir) != NULL)
    count++;
  g_dir_close(dir);
  return count;
}

guint
test_threads(void)
{
  return count_entries("/proc/self/task");
}

guint
test_threads_left(guint at_most)
{
  gint64 end = g_get_monotonic_time() + 2 * G_TIME_SPAN_SECOND;
  guint threads;

  do {
    /* Again and again, as a thread may become unused only now. */
    g_thread_pool_stop_unused_threads();
    threads = test_threads();
    if (threads > at_most)
      g_thread_yield();
  } while (threads > at_most && g_get_monotonic_time() < end);
  return threads;
}

guint
test_fds(void)
{
  return count_entries("/proc/self/fd");
}

guint64
test_resident_bytes(void)
{
  unsigned long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");

  fail_unless(file != NULL);
  fail_unless_equals_int(fscanf(file, "%lu %lu", &total, &resident), 2);
  fclose(file);
  return (guint64)resident * (guint64)sysconf(_SC_PAGESIZE);
}

gboolean
test_has_not_grown(guint64 before, guint64 limit)
{
#ifdef TEST_SANITIZED
  return TRUE;
#else
  guint64 now = test_resident_bytes();

  if (now > before + limit)
    g_print("grew from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " bytes\n",
            before, now);
  return now <= before + limit;
#endif
}

/* ---- The log ---- */

static gint warnings;
static gpointer watched;

static void
count_warning(GstDebugCategory *category, GstDebugLevel level,
              const gchar *file, const gchar *function, gint line,
              GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level <= GST_LEVEL_WARNING && level != GST_LEVEL_NONE &&
      (gpointer)object == g_atomic_pointer_get(&watched))
    g_atomic_int_inc(&warnings);
}

void
test_warnings_watch(GstElement *element)
{
  static gboolean watching = FALSE;

  g_atomic_pointer_set(&watched, element);
  g_atomic_int_set(&warnings, 0);
  if (watching)
    return;
  watching = TRUE;
  gst_debug_set_active(TRUE);
  gst_debug_set_default_threshold(GST_LEVEL_WARNING);
  gst_debug_add_log_function(count_warning, NULL, NULL);
}

guint
test_warnings_take(void)
{
  guint count = (guint)g_atomic_int_get(&warnings);

  g_atomic_int_set(&warnings, 0);
  return count;
}
