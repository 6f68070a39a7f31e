/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starting and stopping, in every way and many times, leaves nothing behind. */

#include "testing-use.h"

#include <malloc.h>

#define CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define CYCLES 100
#define WARM_UP 5

typedef struct {
  GstElement *pipeline;
  GstElement *sink;
  GstBus *bus;
  GstVideoInfo info;

  GMutex lock;
  GCond changed;
  guint rendered;
  gboolean blocked;
  gboolean ended;
} Cycle;

/* ---- What the pipeline tells the test ---- */

static void
rendered(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Cycle *c = data;

  g_mutex_lock(&c->lock);
  c->rendered++;
  g_cond_broadcast(&c->changed);
  g_mutex_unlock(&c->lock);
}

static GstPadProbeReturn
block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Cycle *c = data;

  g_mutex_lock(&c->lock);
  c->blocked = TRUE;
  g_cond_broadcast(&c->changed);
  g_mutex_unlock(&c->lock);
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
look_for_eos(GstBus *bus, GstMessage *message, gpointer data)
{
  Cycle *c = data;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS &&
      GST_MESSAGE_SRC(message) == GST_OBJECT(c->pipeline)) {
    g_mutex_lock(&c->lock);
    c->ended = TRUE;
    g_cond_broadcast(&c->changed);
    g_mutex_unlock(&c->lock);
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

static gboolean
has_rendered(Cycle *c)
{
  return c->rendered > 0;
}

static gboolean
is_blocked(Cycle *c)
{
  return c->blocked;
}

static gboolean
has_ended(Cycle *c)
{
  return c->ended;
}

static void
wait_until(Cycle *c, gboolean (*true_of)(Cycle *))
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gboolean there = TRUE;

  g_mutex_lock(&c->lock);
  while (!true_of(c) && there)
    there = g_cond_wait_until(&c->changed, &c->lock, end);
  g_mutex_unlock(&c->lock);
  fail_unless(there, "the pipeline did not come that far");
}

static void
push(Cycle *c, guint frames)
{
  c->rendered = 0;
  c->blocked = FALSE;
  c->ended = FALSE;
  for (guint i = 0; i < frames; i++)
    test_app_push(c->pipeline, test_frame_flat(&c->info, (guint8)i, i));
}

/* From NULL to PLAYING, which it reaches with the first of these frames. */
static void
play(Cycle *c, guint frames)
{
  gint64 start = g_get_monotonic_time();

  gst_element_set_state(c->pipeline, GST_STATE_PLAYING);
  push(c, frames);
  test_set_state(c->pipeline, GST_STATE_PLAYING);
  fail_unless(g_get_monotonic_time() - start < test_two_seconds());
}

/* ---- Ways to stop ---- */

static void
stop_at_the_end(Cycle *c)
{
  play(c, 5);
  test_app_end(c->pipeline);
  wait_until(c, has_ended);
}

static void
stop_in_mid_stream(Cycle *c)
{
  play(c, 20);
  wait_until(c, has_rendered);
}

static void
pause_and_stop(Cycle *c)
{
  test_set_state(c->pipeline, GST_STATE_READY);
  for (guint i = 0; i < 2; i++) {
    gst_element_set_state(c->pipeline, GST_STATE_PAUSED);
    push(c, 3);
    test_set_state(c->pipeline, GST_STATE_PAUSED);
    test_set_state(c->pipeline, GST_STATE_READY);
  }
}

static void
stop_while_blocked(Cycle *c)
{
  GstPad *pad = gst_element_get_static_pad(c->sink, "sink");
  gulong probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, block, c,
      NULL);

  gst_element_set_state(c->pipeline, GST_STATE_PLAYING);
  push(c, 5);
  wait_until(c, is_blocked);
  test_set_state(c->pipeline, GST_STATE_NULL);
  gst_pad_remove_probe(pad, probe);
  gst_object_unref(pad);
}

/* The main thread is woken by the message itself, while it is being posted. */
static void
stop_as_the_end_is_posted(Cycle *c)
{
  play(c, 1);
  test_app_end(c->pipeline);
  wait_until(c, has_ended);
}

static void (*const ways[])(Cycle *) = {stop_at_the_end, stop_in_mid_stream,
                                        pause_and_stop, stop_while_blocked,
                                        stop_as_the_end_is_posted};

/* ---- The cycles ---- */

static void
set_up(Cycle *c)
{
  c->pipeline = test_pipeline("appsrc name=src format=time caps=" CAPS " ! "
                              "gpuhistogram ! fakesink name=sink sync=false "
                              "signal-handoffs=true");
  c->sink = test_child(c->pipeline, "sink");
  g_signal_connect(c->sink, "handoff", G_CALLBACK(rendered), c);
  c->bus = gst_element_get_bus(c->pipeline);
  gst_bus_set_sync_handler(c->bus, look_for_eos, c, NULL);
  g_mutex_init(&c->lock);
  g_cond_init(&c->changed);
  test_video_info(&c->info, CAPS);
}

static void
tear_down(Cycle *c)
{
  gst_bus_set_sync_handler(c->bus, NULL, NULL, NULL);
  gst_object_unref(c->bus);
  gst_object_unref(c->sink);
  gst_object_unref(c->pipeline);
  g_cond_clear(&c->changed);
  g_mutex_clear(&c->lock);
}

static void
run_cycles(Cycle *c, guint n)
{
  for (guint i = 0; i < n; i++) {
    ways[i % G_N_ELEMENTS(ways)](c);
    test_set_state(c->pipeline, GST_STATE_NULL);
  }
}

/* Whether the cycles leave more than 1 MiB behind. What the allocator keeps
 * for threads that come and go may do so once; a leak does so every time. */
static gboolean
cycles_leak(Cycle *c, guint n)
{
  for (guint attempt = 0; attempt < 3; attempt++) {
    guint64 before;

    malloc_trim(0);
    before = test_resident_bytes();
    run_cycles(c, n);
    malloc_trim(0);
    if (test_has_not_grown(before, 1024 * 1024))
      return FALSE;
  }
  return TRUE;
}

GST_START_TEST(B09_hundred_cycles)
{
  const guint cycles = MAX(test_repeats(CYCLES), 2 * WARM_UP);
  guint64 driver;
  guint threads, fds;
  Cycle c = {NULL};

  set_up(&c);
  run_cycles(&c, WARM_UP);
  driver = test_driver_used();
  threads = test_threads_left(1);
  fds = test_fds();
  fail_if(cycles_leak(&c, cycles - WARM_UP));
  fail_unless(test_driver_used() <= driver + test_driver_slack());
  fail_unless(test_threads_left(threads) <= threads);
  fail_unless_equals_int(test_fds(), fds);
  tear_down(&c);
}
GST_END_TEST;

/* Nothing was ever pushed, or not even started. */
GST_START_TEST(elements_that_do_nothing)
{
  for (guint i = 0; i < 20; i++) {
    GstElement *element = test_element(NULL);

    if (i % 2 == 0) {
      test_set_state(element, GST_STATE_PLAYING);
      test_set_state(element, GST_STATE_NULL);
    }
    gst_object_unref(element);
  }
}
GST_END_TEST;

GST_START_TEST(many_elements_at_once)
{
  GString *text = g_string_new(
      "videotestsrc num-buffers=50 pattern=ball ! video/x-raw,format=NV12,"
      "width=320,height=240 ! tee name=t");
  GstElement *pipeline;

  for (guint i = 0; i < 8; i++)
    g_string_append(text, " t. ! queue ! gpuhistogram ! gpuhistogram ! "
                          "fakesink sync=false");
  pipeline = test_pipeline(text->str);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int(test_wait_for_eos(pipeline), 50 * 16);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_string_free(text, TRUE);
}
GST_END_TEST;

/* ---- Seeking ---- */

#define SEEKABLE                                                             \
  "videotestsrc pattern=snow ! " CAPS " ! gpuhistogram ! appsink name=sink " \
  "sync=false max-buffers=2"

static void
seek(GstElement *pipeline, GstClockTime position)
{
  fail_unless(gst_element_seek_simple(
      pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      position));
}

static void
check_frame_at(GstBuffer *buffer, GstClockTime want)
{
  GstVideoInfo info;

  test_video_info(&info, CAPS);
  fail_unless(buffer != NULL);
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), want);
  test_check_own_frame(buffer, &info);
  gst_buffer_unref(buffer);
}

GST_START_TEST(seeking_in_paused)
{
  GstElement *pipeline = test_pipeline(SEEKABLE);

  test_set_state(pipeline, GST_STATE_PAUSED);
  for (guint i = 0; i < 50; i++) {
    seek(pipeline, i % 7 * GST_SECOND);
    check_frame_at(test_app_pull_preroll(pipeline), i % 7 * GST_SECOND);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}
GST_END_TEST;

GST_START_TEST(seeking_in_playing)
{
  GstElement *pipeline = test_pipeline(SEEKABLE);

  test_set_state(pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 50; i++) {
    seek(pipeline, i % 7 * GST_SECOND);
    for (guint k = 0; k < 2 + i % 3; k++)
      check_frame_at(test_app_pull(pipeline),
                     i % 7 * GST_SECOND + k * TEST_FRAME_DURATION);
  }
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}
GST_END_TEST;

static Suite *
states_suite(void)
{
  Suite *suite = suite_create("states");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, B09_hundred_cycles);
  tcase_add_test(chain, elements_that_do_nothing);
  tcase_add_test(chain, many_elements_at_once);
  tcase_add_test(chain, seeking_in_paused);
  tcase_add_test(chain, seeking_in_playing);
  return suite;
}

TEST_MAIN(states)
