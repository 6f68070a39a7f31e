/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A pipeline that ends at any moment: with its process, which is killed or
 * asked to go, and by its state. */

#include "testing.h"

#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD "--child"
#define TIMES 200
/* A real driver takes half a second to start, each time. */
#define ENOUGH (40 * G_TIME_SPAN_SECOND)
#define BOUND_MS 2000
#define PIPELINE                                                    \
  "videotestsrc ! video/x-raw,format=NV12,width=320,height=240 ! "  \
  "gpuhistogram engine=%s ! queue ! fakesink name=sink sync=false " \
  "signal-handoffs=true"

/* ---- The child ---- */

static void
tell_frame(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer unused)
{
  if (write(STDOUT_FILENO, ".", 1) < 0)
    _exit(3); /* the parent has gone */
}

static gboolean
end_loop(gpointer loop)
{
  g_main_loop_quit(loop);
  return G_SOURCE_CONTINUE;
}

/* Writes a byte for each frame, until it is asked to go. */
static int
run_child(void)
{
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  gchar *text = g_strdup_printf(PIPELINE, test_engine());
  GstElement *pipeline, *sink;

  gst_init(NULL, NULL);
  g_unix_signal_add(SIGTERM, end_loop, loop);
  /* Without test_pipeline(), as Check can fail nothing outside a test. */
  pipeline = gst_parse_launch(text, NULL);
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(tell_frame), NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_main_loop_run(loop);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  g_main_loop_unref(loop);
  g_free(text);
  return 0;
}

/* ---- The parent ---- */

/* Starts this program anew; *@frames is where the child's bytes come. */
static pid_t
start_child(int *frames)
{
  gchar *argv[] = {"/proc/self/exe", CHILD, NULL};
  GError *error = NULL;
  GPid child = 0;

  fail_unless(g_spawn_async_with_pipes(NULL, argv, NULL,
                                       G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                       &child, NULL, frames, NULL, &error),
              "%s", error ? error->message : "");
  return child;
}

/* Until the child has counted @n frames. */
static void
wait_for_frames(int frames, guint n)
{
  gint64 end = g_get_monotonic_time() + TEST_PATIENCE;
  gchar bytes[64];

  while (n > 0 && g_get_monotonic_time() < end) {
    struct pollfd fd = {.fd = frames, .events = POLLIN};

    if (poll(&fd, 1, 100) > 0) {
      ssize_t got = read(frames, bytes, MIN(n, sizeof bytes));

      fail_unless(got > 0, "the child ended by itself");
      n -= (guint)got;
    }
  }
  fail_unless(n == 0, "the child counts no frames");
}

/* Waits for the end of the child, for at most two seconds. */
static int
wait_for_end(pid_t child)
{
  gint64 start = g_get_monotonic_time();
  gint64 end = start + BOUND_MS * G_TIME_SPAN_MILLISECOND;
  int status = 0;
  pid_t got;

  while ((got = waitpid(child, &status, WNOHANG)) == 0 &&
         g_get_monotonic_time() < end)
    g_usleep(1000);
  if (got == 0)
    kill(child, SIGKILL);
  fail_unless_equals_int(got, child);
  return status;
}

/* One asked to go early may not yet know how to do so. */
static void
check_status(int status, int number)
{
  gboolean good = WIFSIGNALED(status)
                      ? WTERMSIG(status) == number
                      : number == SIGTERM && WEXITSTATUS(status) == 0;

  fail_unless(good, "the child ended with the status 0x%x", (guint)status);
}

static void
kill_one(GRand *random)
{
  int number = g_rand_boolean(random) ? SIGKILL : SIGTERM;
  int frames;
  pid_t child = start_child(&frames);

  /* While it starts, or while it runs. */
  if (g_rand_int_range(random, 0, 3) > 0)
    wait_for_frames(frames, (guint)g_rand_int_range(random, 1, 30));
  g_usleep((gulong)g_rand_int_range(random, 0, 5000));
  fail_unless_equals_int(kill(child, number), 0);
  check_status(wait_for_end(child), number);
  close(frames);
}

GST_START_TEST(process_that_is_killed)
{
  GRand *random = test_random();
  gint64 end = g_get_monotonic_time() + ENOUGH;
  guint n = 0, fds = test_fds();

  for (; n < test_repeats(TIMES) && g_get_monotonic_time() < end; n++)
    kill_one(random);
  g_printerr("killed %u times\n", n);
  fail_unless_equals_int(test_fds(), fds);
  /* No zombie, and nothing that still runs. */
  fail_unless_equals_int(waitpid(-1, NULL, WNOHANG), -1);
  fail_unless_equals_int(errno, ECHILD);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(state_that_ends_at_any_moment)
{
  GRand *random = test_random();
  gchar *text = g_strdup_printf(PIPELINE, test_engine());
  GstElement *pipeline = test_pipeline(text);
  gint64 end = g_get_monotonic_time() + ENOUGH;
  guint n = 0;

  for (; n < test_repeats(TIMES) && g_get_monotonic_time() < end; n++) {
    gst_element_set_state(pipeline, g_rand_boolean(random) ? GST_STATE_PLAYING
                                                           : GST_STATE_PAUSED);
    g_usleep((gulong)g_rand_int_range(random, 0, 20000));
    test_set_state(pipeline, GST_STATE_NULL);
  }
  g_printerr("stopped %u times\n", n);
  gst_object_unref(pipeline);
  g_free(text);
  g_rand_free(random);
}
GST_END_TEST

static Suite *
killed_suite(void)
{
  Suite *suite = suite_create("killed");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, process_that_is_killed);
  tcase_add_test(tcase, state_that_ends_at_any_moment);
  return suite;
}

int
main(int argc, char **argv)
{
  if (argc == 2 && g_str_equal(argv[1], CHILD))
    return run_child();
  return test_main(argc, argv, killed_suite, "killed");
}
