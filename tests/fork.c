/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A driver that was started before a fork is of no use after it, so nothing may
 * start it too early, and whoever finds it in that state must not hang. */

#include "engine.h"
#include "testing-fake.h"
#include "testing.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define PIXELS (64 * 48)

/* FALSE where the element does not start. */
static gboolean
run_frames(const gchar *engine)
{
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);
  GstHarness *harness;
  gboolean started;

  gst_object_ref_sink(element);
  gst_util_set_object_arg(G_OBJECT(element), "engine", engine);
  g_object_set(element, "post-messages", FALSE, NULL);
  started = gst_element_set_state(element, GST_STATE_PAUSED) !=
            GST_STATE_CHANGE_FAILURE;
  if (started) {
    GstVideoInfo info;

    harness = gst_harness_new_with_element(element, "sink", "src");
    gst_harness_set_src_caps_str(harness, CAPS);
    test_video_info(&info, CAPS);
    for (guint i = 0; i < 10; i++) {
      GstBuffer *out = gst_harness_push_and_pull(
          harness, test_frame_flat(&info, (guint8)(9 * i), i));

      fail_unless(out != NULL);
      test_check_flat(out, 9 * i, PIXELS);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
  return started;
}

/* In a child, which must end within so many seconds; its exit status. */
static int
in_child(int (*work)(void), guint seconds)
{
  pid_t child = fork();
  int status = 0;

  if (child == 0) {
    alarm(seconds);
    _exit(work());
  }
  fail_unless(waitpid(child, &status, 0) == child);
  fail_unless(WIFEXITED(status), "the child was killed by signal %d",
              WTERMSIG(status));
  return WEXITSTATUS(status);
}

static int
run_element(void)
{
  return run_frames(test_engine()) ? 0 : 1;
}

/* Neither loaded nor called; in this order, as looking for the fake one loads
 * it. */
static void
check_no_driver_in_use(void)
{
  fail_unless(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL);
  if (test_fake_find())
    fail_unless_equals_int(test_fake.calls(), 0);
}

GST_START_TEST(B33_made_before_the_fork)
{
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);

  fail_unless(element != NULL);
  gst_object_unref(gst_object_ref_sink(element));
  check_no_driver_in_use();
  fail_unless_equals_int(in_child(run_element, 10), 0);
}
GST_END_TEST

/* Ten frames: 0 where the engine counts them, 1 where it says that it cannot.
 */
static int
run_engine(GhEngineKind kind)
{
  const GhSettings settings = {
      .depth = 2, .bins = 256, .n_threads = 1, .device_id = -1};
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};
  GhEngine *engine;
  GhError error = {""};

  if (gh_engine_open(&engine, kind, &settings, &error) != GH_OK)
    return error.text[0] ? 1 : 2;
  for (guint8 i = 0; i < 10; i++) {
    const guint8 samples[] = {i, i, 99};

    if (gh_engine_submit(engine, &(GhFrame){samples, 3, 3, 1}, &error) !=
            GH_OK ||
        gh_engine_collect(engine, TRUE, &result, &error) != GH_OK ||
        bins[i] != 2 || bins[99] != 1)
      return 3;
  }
  gh_engine_close(&engine);
  return 0;
}

static int
run_cuda_or_cpu(void)
{
  int outcome = run_engine(GH_ENGINE_CUDA);

  return outcome == 1 ? run_engine(GH_ENGINE_CPU) : outcome;
}

/* The engine alone: GLib starts no threads of its pools after a fork, so there
 * no element with a task ever runs. */
GST_START_TEST(B33_used_before_the_fork)
{
  fail_unless(run_frames(test_engine()));
  fail_unless_equals_int(in_child(run_cuda_or_cpu, (guint)(test_two_seconds() /
                                                           G_TIME_SPAN_SECOND)),
                         0);
  fail_unless(run_frames(test_engine()));
}
GST_END_TEST

static Suite *
fork_suite(void)
{
  Suite *suite = suite_create("fork");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, B33_made_before_the_fork);
  tcase_add_test(tcase, B33_used_before_the_fork);
  return suite;
}

TEST_MAIN(fork)
