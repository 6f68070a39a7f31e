/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tells ThreadSanitizer of GLib's locks. GLib makes them of futexes, in a
 * library that is not instrumented, so a program whose every access is locked
 * would look like one without a lock.
 *
 * Each function here stands in front of GLib's own of that name, calls it, and
 * says what it did. This file is linked into the programs themselves, so that
 * every library's calls come here; only GLib's calls to itself do not.
 */

#include <dlfcn.h>
#include <gmodule.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>

#define LOCK __tsan_mutex_not_static
#define TRY (__tsan_mutex_not_static | __tsan_mutex_try_lock)
#define TRY_FAILED (TRY | __tsan_mutex_try_lock_failed)
#define RECURSIVE (__tsan_mutex_not_static | __tsan_mutex_write_reentrant)
#define READ (__tsan_mutex_not_static | __tsan_mutex_read_lock)

/* The function of GLib or GStreamer behind the one here. */
static void *
find(_Atomic(void *) *known, const char *name)
{
  void *function = atomic_load_explicit(known, memory_order_relaxed);

  if (!function) {
    function = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(known, function, memory_order_relaxed);
  }
  return function;
}

/* Declares real, a pointer to that function. */
#define REAL(result, name, ...) \
  static _Atomic(void *) known; \
  result (*real)(__VA_ARGS__);  \
  *(void **)&real = find(&known, #name)

/* ---- GMutex ---- */

G_MODULE_EXPORT void
g_mutex_lock(GMutex *mutex)
{
  REAL(void, g_mutex_lock, GMutex *);
  __tsan_mutex_pre_lock(mutex, LOCK);
  real(mutex);
  __tsan_mutex_post_lock(mutex, LOCK, 0);
}

G_MODULE_EXPORT gboolean
g_mutex_trylock(GMutex *mutex)
{
  gboolean locked;
  REAL(gboolean, g_mutex_trylock, GMutex *);
  __tsan_mutex_pre_lock(mutex, TRY);
  locked = real(mutex);
  __tsan_mutex_post_lock(mutex, locked ? TRY : TRY_FAILED, 0);
  return locked;
}

G_MODULE_EXPORT void
g_mutex_unlock(GMutex *mutex)
{
  REAL(void, g_mutex_unlock, GMutex *);
  __tsan_mutex_pre_unlock(mutex, 0);
  real(mutex);
  __tsan_mutex_post_unlock(mutex, 0);
}

G_MODULE_EXPORT void
g_mutex_clear(GMutex *mutex)
{
  REAL(void, g_mutex_clear, GMutex *);
  __tsan_mutex_destroy(mutex, LOCK);
  real(mutex);
}

/* ---- GCond: what it synchronizes is the mutex ---- */

G_MODULE_EXPORT void
g_cond_wait(GCond *cond, GMutex *mutex)
{
  REAL(void, g_cond_wait, GCond *, GMutex *);
  __tsan_mutex_pre_unlock(mutex, 0);
  __tsan_mutex_post_unlock(mutex, 0);
  real(cond, mutex);
  __tsan_mutex_pre_lock(mutex, LOCK);
  __tsan_mutex_post_lock(mutex, LOCK, 0);
}

G_MODULE_EXPORT gboolean
g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end)
{
  gboolean signalled;
  REAL(gboolean, g_cond_wait_until, GCond *, GMutex *, gint64);
  __tsan_mutex_pre_unlock(mutex, 0);
  __tsan_mutex_post_unlock(mutex, 0);
  signalled = real(cond, mutex, end);
  __tsan_mutex_pre_lock(mutex, LOCK);
  __tsan_mutex_post_lock(mutex, LOCK, 0);
  return signalled;
}

/* ---- GRecMutex ---- */

G_MODULE_EXPORT void
g_rec_mutex_lock(GRecMutex *mutex)
{
  REAL(void, g_rec_mutex_lock, GRecMutex *);
  __tsan_mutex_pre_lock(mutex, RECURSIVE);
  real(mutex);
  __tsan_mutex_post_lock(mutex, RECURSIVE, 1);
}

G_MODULE_EXPORT gboolean
g_rec_mutex_trylock(GRecMutex *mutex)
{
  gboolean locked;
  REAL(gboolean, g_rec_mutex_trylock, GRecMutex *);
  __tsan_mutex_pre_lock(mutex, RECURSIVE | TRY);
  locked = real(mutex);
  __tsan_mutex_post_lock(mutex, RECURSIVE | (locked ? TRY : TRY_FAILED), 1);
  return locked;
}

G_MODULE_EXPORT void
g_rec_mutex_unlock(GRecMutex *mutex)
{
  REAL(void, g_rec_mutex_unlock, GRecMutex *);
  __tsan_mutex_pre_unlock(mutex, 0);
  real(mutex);
  __tsan_mutex_post_unlock(mutex, 0);
}

G_MODULE_EXPORT void
g_rec_mutex_clear(GRecMutex *mutex)
{
  REAL(void, g_rec_mutex_clear, GRecMutex *);
  __tsan_mutex_destroy(mutex, RECURSIVE);
  real(mutex);
}

/* ---- GRWLock ---- */

G_MODULE_EXPORT void
g_rw_lock_writer_lock(GRWLock *lock)
{
  REAL(void, g_rw_lock_writer_lock, GRWLock *);
  __tsan_mutex_pre_lock(lock, LOCK);
  real(lock);
  __tsan_mutex_post_lock(lock, LOCK, 0);
}

G_MODULE_EXPORT gboolean
g_rw_lock_writer_trylock(GRWLock *lock)
{
  gboolean locked;
  REAL(gboolean, g_rw_lock_writer_trylock, GRWLock *);
  __tsan_mutex_pre_lock(lock, TRY);
  locked = real(lock);
  __tsan_mutex_post_lock(lock, locked ? TRY : TRY_FAILED, 0);
  return locked;
}

G_MODULE_EXPORT void
g_rw_lock_writer_unlock(GRWLock *lock)
{
  REAL(void, g_rw_lock_writer_unlock, GRWLock *);
  __tsan_mutex_pre_unlock(lock, 0);
  real(lock);
  __tsan_mutex_post_unlock(lock, 0);
}

G_MODULE_EXPORT void
g_rw_lock_reader_lock(GRWLock *lock)
{
  REAL(void, g_rw_lock_reader_lock, GRWLock *);
  __tsan_mutex_pre_lock(lock, READ);
  real(lock);
  __tsan_mutex_post_lock(lock, READ, 0);
}

G_MODULE_EXPORT gboolean
g_rw_lock_reader_trylock(GRWLock *lock)
{
  gboolean locked;
  REAL(gboolean, g_rw_lock_reader_trylock, GRWLock *);
  __tsan_mutex_pre_lock(lock, READ | TRY);
  locked = real(lock);
  __tsan_mutex_post_lock(lock, READ | (locked ? TRY : TRY_FAILED), 0);
  return locked;
}

G_MODULE_EXPORT void
g_rw_lock_reader_unlock(GRWLock *lock)
{
  REAL(void, g_rw_lock_reader_unlock, GRWLock *);
  __tsan_mutex_pre_unlock(lock, __tsan_mutex_read_lock);
  real(lock);
  __tsan_mutex_post_unlock(lock, __tsan_mutex_read_lock);
}

G_MODULE_EXPORT void
g_rw_lock_clear(GRWLock *lock)
{
  REAL(void, g_rw_lock_clear, GRWLock *);
  __tsan_mutex_destroy(lock, LOCK);
  real(lock);
}

/* ---- GThreadPool: its queue has a lock inside GLib ---- */

typedef struct {
  GFunc function;
  gpointer data;
} Work;

static void
do_work(gpointer item, gpointer data)
{
  const Work *work = data;

  __tsan_acquire(item);
  work->function(item, work->data);
}

G_MODULE_EXPORT GThreadPool *
g_thread_pool_new(GFunc function, gpointer data, gint max_threads,
                  gboolean exclusive, GError **error)
{
  Work *work = g_new(Work, 1);
  REAL(GThreadPool *, g_thread_pool_new, GFunc, gpointer, gint, gboolean,
       GError **);

  /* Kept as long as the process: its threads may outlive the pool. */
  *work = (Work){function, data};
  return real(do_work, work, max_threads, exclusive, error);
}

G_MODULE_EXPORT gboolean
g_thread_pool_push(GThreadPool *pool, gpointer item, GError **error)
{
  REAL(gboolean, g_thread_pool_push, GThreadPool *, gpointer, GError **);
  __tsan_release(item);
  return real(pool, item, error);
}

/* ---- What is passed on: by a queue, or by the last one who lets go ---- */

G_MODULE_EXPORT void
g_async_queue_push(GAsyncQueue *queue, gpointer item)
{
  REAL(void, g_async_queue_push, GAsyncQueue *, gpointer);
  __tsan_release(queue);
  real(queue, item);
}

G_MODULE_EXPORT gpointer
g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout)
{
  gpointer item;
  REAL(gpointer, g_async_queue_timeout_pop, GAsyncQueue *, guint64);
  item = real(queue, timeout);
  __tsan_acquire(queue);
  return item;
}

G_MODULE_EXPORT gpointer
g_async_queue_try_pop(GAsyncQueue *queue)
{
  gpointer item;
  REAL(gpointer, g_async_queue_try_pop, GAsyncQueue *);
  item = real(queue);
  __tsan_acquire(queue);
  return item;
}

/* Somebody lets go of an object, and may be the one who frees it: what any
 * thread did with it before comes before that. */
static void
let_go(gpointer object)
{
  __tsan_release(object);
  __tsan_acquire(object);
}

G_MODULE_EXPORT void
gst_mini_object_unref(GstMiniObject *object)
{
  REAL(void, gst_mini_object_unref, GstMiniObject *);
  let_go(object);
  real(object);
}

/* Lets go of an object that others have, too. */
G_MODULE_EXPORT GstMiniObject *
gst_mini_object_make_writable(GstMiniObject *object)
{
  REAL(GstMiniObject *, gst_mini_object_make_writable, GstMiniObject *);
  let_go(object);
  return real(object);
}

/* Lets go of the old one. */
G_MODULE_EXPORT gboolean
gst_mini_object_replace(GstMiniObject **place, GstMiniObject *object)
{
  REAL(gboolean, gst_mini_object_replace, GstMiniObject **, GstMiniObject *);
  if (*place)
    let_go(*place);
  return real(place, object);
}

G_MODULE_EXPORT void
g_object_unref(gpointer object)
{
  REAL(void, g_object_unref, gpointer);
  let_go(object);
  real(object);
}
