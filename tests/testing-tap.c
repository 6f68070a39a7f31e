/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A record of what passes a pad, with a gate that can hold buffers back. */

#include "testing.h"

#include "testing-quiet.h"

struct _TestTap {
  GstPad *pad;
  gulong probe;

  GMutex lock;
  GCond changed;
  GQueue objects;
  gboolean shut;
  gboolean forgets_buffers;
  guint at_gate;
};

static GstPadProbeReturn
record(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TestTap *tap = data;
  GstMiniObject *object = GST_PAD_PROBE_INFO_DATA(info);

  g_mutex_lock(&tap->lock);
  if (GST_IS_BUFFER(object)) {
    tap->at_gate++;
    g_cond_broadcast(&tap->changed);
    while (tap->shut)
      g_cond_wait(&tap->changed, &tap->lock);
    tap->at_gate--;
  }
  if (!GST_IS_BUFFER(object) || !tap->forgets_buffers)
    g_queue_push_tail(&tap->objects, gst_mini_object_ref(object));
  g_cond_broadcast(&tap->changed);
  g_mutex_unlock(&tap->lock);
  return GST_PAD_PROBE_OK;
}

TestTap *
test_tap_new(GstPad *pad)
{
  TestTap *tap = g_new0(TestTap, 1);

  tap->pad = gst_object_ref(pad);
  g_mutex_init(&tap->lock);
  g_cond_init(&tap->changed);
  g_queue_init(&tap->objects);
  tap->probe = gst_pad_add_probe(pad,
                                 GST_PAD_PROBE_TYPE_BUFFER |
                                     GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                     GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                                 record, tap, NULL);
  return tap;
}

void
test_tap_free(TestTap *tap)
{
  gst_pad_remove_probe(tap->pad, tap->probe);
  test_tap_clear(tap);
  gst_object_unref(tap->pad);
  g_cond_clear(&tap->changed);
  g_mutex_clear(&tap->lock);
  g_free(tap);
}

void
test_tap_keep_buffers(TestTap *tap, gboolean keep)
{
  g_mutex_lock(&tap->lock);
  tap->forgets_buffers = !keep;
  g_mutex_unlock(&tap->lock);
}

static void
set_shut(TestTap *tap, gboolean shut)
{
  g_mutex_lock(&tap->lock);
  tap->shut = shut;
  g_cond_broadcast(&tap->changed);
  g_mutex_unlock(&tap->lock);
}

void
test_tap_shut(TestTap *tap)
{
  set_shut(tap, TRUE);
}

void
test_tap_open(TestTap *tap)
{
  set_shut(tap, FALSE);
}

void
test_tap_wait_for_buffer_at_gate(TestTap *tap)
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gboolean there = TRUE;

  g_mutex_lock(&tap->lock);
  while (tap->at_gate == 0 && there)
    there = g_cond_wait_until(&tap->changed, &tap->lock, end);
  g_mutex_unlock(&tap->lock);
  fail_unless(there, "no buffer came to the pad");
}

GstMiniObject *
test_tap_pop(TestTap *tap)
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gboolean there = TRUE;
  GstMiniObject *object;

  g_mutex_lock(&tap->lock);
  while (g_queue_is_empty(&tap->objects) && there)
    there = g_cond_wait_until(&tap->changed, &tap->lock, end);
  object = g_queue_pop_head(&tap->objects);
  g_mutex_unlock(&tap->lock);
  fail_unless(object != NULL, "nothing left the element");
  return object;
}

GstBuffer *
test_tap_pop_buffer(TestTap *tap)
{
  GstMiniObject *object = test_tap_pop(tap);

  fail_unless(GST_IS_BUFFER(object), "%s left the element, not a buffer",
              GST_IS_EVENT(object) ? GST_EVENT_TYPE_NAME(object) : "?");
  return GST_BUFFER(object);
}

void
test_tap_skip_until(TestTap *tap, GstEventType type)
{
  gboolean found = FALSE;

  while (!found) {
    GstMiniObject *object = test_tap_pop(tap);

    found = GST_IS_EVENT(object) && GST_EVENT_TYPE(object) == type;
    gst_mini_object_unref(object);
  }
}

static gboolean
has_event(TestTap *tap, GstEventType type)
{
  for (GList *link = tap->objects.head; link != NULL; link = link->next) {
    if (GST_IS_EVENT(link->data) && GST_EVENT_TYPE(link->data) == type)
      return TRUE;
  }
  return FALSE;
}

void
test_tap_wait_for(TestTap *tap, GstEventType type)
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gboolean there = TRUE;

  g_mutex_lock(&tap->lock);
  while (!has_event(tap, type) && there)
    there = g_cond_wait_until(&tap->changed, &tap->lock, end);
  g_mutex_unlock(&tap->lock);
  fail_unless(there, "no %s event left the element",
              gst_event_type_get_name(type));
}

guint
test_tap_count(TestTap *tap)
{
  guint count;

  g_mutex_lock(&tap->lock);
  count = tap->objects.length;
  g_mutex_unlock(&tap->lock);
  return count;
}

void
test_tap_stays_at(TestTap *tap, guint count)
{
  gint64 end = g_get_monotonic_time() + TEST_ABSENCE;
  guint now;

  g_mutex_lock(&tap->lock);
  while (tap->objects.length == count &&
         g_cond_wait_until(&tap->changed, &tap->lock, end))
    continue;
  now = tap->objects.length;
  g_mutex_unlock(&tap->lock);
  fail_unless_equals_int(now, count);
}

void
test_tap_clear(TestTap *tap)
{
  g_mutex_lock(&tap->lock);
  while (!g_queue_is_empty(&tap->objects))
    gst_mini_object_unref(g_queue_pop_head(&tap->objects));
  g_mutex_unlock(&tap->lock);
}

static void
append_words(GString *text, GstMiniObject *object)
{
  if (text->len > 0)
    g_string_append_c(text, ' ');
  if (GST_IS_BUFFER(object)) {
    g_string_append_printf(text, "%u", test_first_sample(GST_BUFFER(object)));
  } else {
    const GstStructure *structure = gst_event_get_structure(GST_EVENT(object));

    if (GST_EVENT_TYPE(object) == GST_EVENT_CUSTOM_DOWNSTREAM ||
        GST_EVENT_TYPE(object) == GST_EVENT_CUSTOM_DOWNSTREAM_OOB)
      g_string_append(text, gst_structure_get_name(structure));
    else
      g_string_append(text, GST_EVENT_TYPE_NAME(object));
  }
}

gchar *
test_tap_take_text(TestTap *tap)
{
  GString *text = g_string_new(NULL);

  g_mutex_lock(&tap->lock);
  while (!g_queue_is_empty(&tap->objects)) {
    GstMiniObject *object = g_queue_pop_head(&tap->objects);

    append_words(text, object);
    gst_mini_object_unref(object);
  }
  g_mutex_unlock(&tap->lock);
  return g_string_free(text, FALSE);
}
