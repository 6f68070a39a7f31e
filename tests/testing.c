/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing.h"

#include "testing-quiet.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77

/* ---- Programs ---- */

const gchar *
test_engine(void)
{
  const gchar *engine = g_getenv("GPUHISTOGRAM_TEST_ENGINE");

  return engine != NULL && *engine != '\0' ? engine : "cpu";
}

/* Tried in a child process, as a process that has used CUDA cannot use it
 * again in the children that Check forks for the tests. */
static gboolean
engine_starts(void)
{
  int status = 0;
  pid_t child = fork();

  if (child == 0) {
    /* Without test_element(), as Check can fail nothing outside a test. */
    GstElement *element = gst_element_factory_make("gpuhistogram", NULL);
    GstStateChangeReturn started;

    gst_util_set_object_arg(G_OBJECT(element), "engine", test_engine());
    started = gst_element_set_state(element, GST_STATE_PAUSED);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
    _exit(started == GST_STATE_CHANGE_FAILURE ? 1 : 0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    return FALSE;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int
test_main(int argc, char **argv, Suite *(*suite)(void), const char *name)
{
  GstElementFactory *factory;

  /* GStreamer forgets the list of log functions whenever it makes another one,
   * so test_warnings_watch() had better find none. */
  if (g_getenv("GST_DEBUG") == NULL)
    gst_debug_remove_log_function(NULL);
  gst_check_init(&argc, &argv);
  factory = gst_element_factory_find("gpuhistogram");
  if (factory == NULL) {
    g_printerr("no element gpuhistogram: set GST_PLUGIN_PATH\n");
    return EXIT_FAILURE;
  }
  gst_object_unref(factory);

  if (g_str_equal(test_engine(), "cuda") && !engine_starts()) {
    if (g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_REQUIRE_CUDA"), "1") == 0) {
      g_printerr("%s: engine=cuda does not start\n", name);
      return EXIT_FAILURE;
    }
    g_printerr("%s: skipped, no CUDA device\n", name);
    return SKIP;
  }
  return gst_check_run_suite(suite(), name, __FILE__) == 0 ? EXIT_SUCCESS
                                                           : EXIT_FAILURE;
}

/* How many times slower all is than it should be. */
static guint
scale(void)
{
  const gchar *text = g_getenv("GPUHISTOGRAM_TEST_SCALE");
  guint64 number = text != NULL ? g_ascii_strtoull(text, NULL, 10) : 1;

  return (guint)CLAMP(number, 1, 1000);
}

guint
test_repeats(guint n)
{
  return MAX(1, n / scale());
}

gint64
test_two_seconds(void)
{
  return 2 * scale() * G_TIME_SPAN_SECOND;
}

GRand *
test_random(void)
{
  const gchar *text = g_getenv("GPUHISTOGRAM_TEST_SEED");
  guint32 seed = g_random_int();

  if (text != NULL)
    seed = (guint32)g_ascii_strtoull(text, NULL, 10);
  g_printerr("GPUHISTOGRAM_TEST_SEED=%u\n", seed);
  return g_rand_new_with_seed(seed);
}

gboolean
test_have(const gchar *test, const gchar *element, ...)
{
  gboolean all = TRUE;
  va_list more;

  va_start(more, element);
  for (; element != NULL; element = va_arg(more, const gchar *)) {
    GstElementFactory *factory = gst_element_factory_find(element);

    if (factory == NULL) {
      g_printerr("%s: skipped, no element %s\n", test, element);
      all = FALSE;
    } else {
      gst_object_unref(factory);
    }
  }
  va_end(more);
  return all;
}

/* ---- The element under test, alone in a harness ---- */

static GstElement *
element_valist(const gchar *first_property, va_list properties)
{
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);

  fail_unless(element != NULL);
  gst_object_ref_sink(element);
  gst_util_set_object_arg(G_OBJECT(element), "engine", test_engine());
  g_object_set_valist(G_OBJECT(element), first_property, properties);
  return element;
}

GstElement *
test_element(const gchar *first_property, ...)
{
  GstElement *element;
  va_list properties;

  va_start(properties, first_property);
  element = element_valist(first_property, properties);
  va_end(properties);
  return element;
}

void
test_fixture_setup(TestFixture *fixture, const gchar *caps,
                   const gchar *first_property, ...)
{
  va_list properties;
  GstPad *src;

  va_start(properties, first_property);
  fixture->element = element_valist(first_property, properties);
  va_end(properties);
  fixture->bus = gst_bus_new();
  gst_element_set_bus(fixture->element, fixture->bus);
  src = gst_element_get_static_pad(fixture->element, "src");
  fixture->tap = test_tap_new(src);
  gst_object_unref(src);

  fixture->harness =
      gst_harness_new_with_element(fixture->element, "sink", "src");
  gst_harness_set_drop_buffers(fixture->harness, TRUE);
  gst_video_info_init(&fixture->info);
  if (caps != NULL) {
    test_video_info(&fixture->info, caps);
    gst_harness_set_src_caps_str(fixture->harness, caps);
  }
}

void
test_fixture_teardown(TestFixture *fixture)
{
  test_tap_open(fixture->tap);
  gst_harness_teardown(fixture->harness);
  test_tap_free(fixture->tap);
  gst_element_set_bus(fixture->element, NULL);
  gst_bus_set_flushing(fixture->bus, TRUE);
  gst_object_unref(fixture->bus);
  gst_object_unref(fixture->element);
}

gboolean
test_fixture_renegotiate(TestFixture *fixture, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string(text);
  gboolean taken;

  test_video_info(&fixture->info, text);
  taken = gst_harness_push_event(fixture->harness, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  return taken;
}

void
test_fixture_start_segment(TestFixture *fixture)
{
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(fixture->harness, gst_event_new_segment(&segment));
  test_tap_skip_until(fixture->tap, GST_EVENT_SEGMENT);
}

void
test_fixture_push(TestFixture *fixture, GstBuffer *buffer)
{
  fail_unless_equals_int(gst_harness_push(fixture->harness, buffer),
                         GST_FLOW_OK);
}

void
test_fixture_drain(TestFixture *fixture)
{
  GstQuery *query = gst_query_new_drain();

  gst_pad_peer_query(fixture->harness->srcpad, query);
  gst_query_unref(query);
}

void
test_fixture_measure(TestFixture *fixture, GstBuffer *buffer, guint n_bins)
{
  TestExpected expected;
  GstMiniObject *object;

  test_expect(&expected, buffer, &fixture->info);
  test_fixture_push(fixture, buffer);
  while (object = test_tap_pop(fixture->tap), !GST_IS_BUFFER(object))
    gst_mini_object_unref(object);
  test_check_frame(&expected, GST_BUFFER(object), n_bins);
  gst_mini_object_unref(object);
  test_expected_clear(&expected);
}

/* ---- A thread that pushes ---- */

struct _TestPusher {
  GstPad *pad;
  GThread *thread;
  GQueue objects;

  GMutex lock;
  GCond changed;
  guint returned;
  guint total;
};

static void
push_object(GstPad *pad, GstMiniObject *object)
{
  if (GST_IS_BUFFER(object)) {
    gst_pad_push(pad, GST_BUFFER(object));
  } else if (GST_IS_EVENT(object)) {
    gst_pad_push_event(pad, GST_EVENT(object));
  } else {
    gst_pad_peer_query(pad, GST_QUERY(object));
    gst_query_unref(GST_QUERY(object));
  }
}

static gpointer
push_all(gpointer data)
{
  TestPusher *pusher = data;

  while (!g_queue_is_empty(&pusher->objects)) {
    push_object(pusher->pad, g_queue_pop_head(&pusher->objects));
    g_mutex_lock(&pusher->lock);
    pusher->returned++;
    g_cond_broadcast(&pusher->changed);
    g_mutex_unlock(&pusher->lock);
  }
  return NULL;
}

TestPusher *
test_pusher_new(TestFixture *fixture, gpointer first, ...)
{
  TestPusher *pusher = g_new0(TestPusher, 1);
  va_list more;

  pusher->pad = gst_object_ref(fixture->harness->srcpad);
  g_mutex_init(&pusher->lock);
  g_cond_init(&pusher->changed);
  g_queue_init(&pusher->objects);
  va_start(more, first);
  for (; first != NULL; first = va_arg(more, gpointer))
    g_queue_push_tail(&pusher->objects, first);
  va_end(more);
  pusher->total = pusher->objects.length;
  pusher->thread = g_thread_new("pusher", push_all, pusher);
  return pusher;
}

guint
test_pusher_returned(TestPusher *pusher)
{
  guint returned;

  g_mutex_lock(&pusher->lock);
  returned = pusher->returned;
  g_mutex_unlock(&pusher->lock);
  return returned;
}

void
test_pusher_wait_for(TestPusher *pusher, guint returned)
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gboolean there = TRUE;

  g_mutex_lock(&pusher->lock);
  while (pusher->returned < returned && there)
    there = g_cond_wait_until(&pusher->changed, &pusher->lock, end);
  g_mutex_unlock(&pusher->lock);
  fail_unless(there, "the element took %u objects, not %u", pusher->returned,
              returned);
}

void
test_pusher_stays_at(TestPusher *pusher, guint returned)
{
  gint64 end = g_get_monotonic_time() + TEST_ABSENCE;
  guint now;

  g_mutex_lock(&pusher->lock);
  while (pusher->returned == returned &&
         g_cond_wait_until(&pusher->changed, &pusher->lock, end))
    continue;
  now = pusher->returned;
  g_mutex_unlock(&pusher->lock);
  fail_unless_equals_int(now, returned);
}

void
test_pusher_join(TestPusher *pusher)
{
  test_pusher_wait_for(pusher, pusher->total);
  g_thread_join(pusher->thread);
  gst_object_unref(pusher->pad);
  g_cond_clear(&pusher->changed);
  g_mutex_clear(&pusher->lock);
  g_free(pusher);
}
