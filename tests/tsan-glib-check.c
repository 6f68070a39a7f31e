/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* That tsan-glib.c does what it is for: ThreadSanitizer has nothing to say of
 * a program that uses GLib's locks well, and finds the race in one that does
 * not. Exits with 0 if both are so; needs exitcode=0 in TSAN_OPTIONS, as the
 * race would decide over the exit status otherwise. */

#include <gmodule.h>
#include <gst/gst.h>

#define ROUNDS 1000

static GMutex mutex;
static GRecMutex rec_mutex;
static GRWLock rw_lock;
static GCond cond;

static gint by_mutex, by_rec_mutex, by_rw_lock, by_trylock, by_nothing;
static gint turn;
static gint reports;

/* ThreadSanitizer calls this for every report. */
G_MODULE_EXPORT void __tsan_on_report(void *report);

void
__tsan_on_report(void *report)
{
  reports++;
}

static void
count_under_locks(void)
{
  g_mutex_lock(&mutex);
  by_mutex++;
  g_mutex_unlock(&mutex);

  g_rec_mutex_lock(&rec_mutex);
  g_rec_mutex_lock(&rec_mutex);
  by_rec_mutex++;
  g_rec_mutex_unlock(&rec_mutex);
  by_rec_mutex++;
  g_rec_mutex_unlock(&rec_mutex);

  g_rw_lock_writer_lock(&rw_lock);
  by_rw_lock++;
  g_rw_lock_writer_unlock(&rw_lock);
  g_rw_lock_reader_lock(&rw_lock);
  g_assert_cmpint(by_rw_lock, >, 0);
  g_rw_lock_reader_unlock(&rw_lock);

  while (!g_mutex_trylock(&mutex))
    g_thread_yield();
  by_trylock++;
  g_mutex_unlock(&mutex);
}

/* The two threads take turns. */
static void
take_turn(gint mine)
{
  gint64 end = g_get_monotonic_time() + 10 * G_TIME_SPAN_SECOND;

  g_mutex_lock(&mutex);
  while (turn % 2 != mine) {
    if (mine == 0)
      g_cond_wait(&cond, &mutex);
    else
      g_assert_true(g_cond_wait_until(&cond, &mutex, end));
  }
  turn++;
  g_cond_signal(&cond);
  g_mutex_unlock(&mutex);
}

static gpointer
behave(gpointer mine)
{
  for (guint i = 0; i < ROUNDS; i++) {
    count_under_locks();
    take_turn(GPOINTER_TO_INT(mine));
  }
  return NULL;
}

static gpointer
misbehave(gpointer unused)
{
  for (guint i = 0; i < ROUNDS; i++)
    by_nothing++;
  return NULL;
}

static void
run_two(GThreadFunc function)
{
  GThread *threads[2];

  for (gint i = 0; i < 2; i++)
    threads[i] = g_thread_new("check", function, GINT_TO_POINTER(i));
  for (gint i = 0; i < 2; i++)
    g_thread_join(threads[i]);
}

int
main(int argc, char **argv)
{
  gint wrong, right;

  gst_init(&argc, &argv);
  run_two(behave);
  wrong = reports;
  run_two(misbehave);
  right = reports - wrong;
  g_print("%d reports on the right program, %d on the wrong one\n", wrong,
          right);
  return wrong == 0 && right > 0 ? 0 : 1;
}
