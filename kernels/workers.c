/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "workers.h"

#include "engine-private.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  GhWorkers *workers;
  unsigned index;
  pthread_t thread;
} Worker;

struct GhWorkers {
  unsigned n;       /* workers, the caller included */
  unsigned started; /* threads that run */
  Worker *threads;  /* n - 1 */

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t go;
  pthread_cond_t done;
  unsigned turn;    /* counts jobs, so that each thread does each once */
  unsigned working; /* threads that have not finished this turn */
  bool stop;
  GhWork work;
  void *job;
};

unsigned
gh_workers_cores(void)
{
  cpu_set_t set;
  int n;

  /* A very large machine has more of them than a set holds. */
  n = sched_getaffinity(0, sizeof(set), &set) == 0
          ? CPU_COUNT(&set)
          : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return n > 1 ? (unsigned)n : 1;
}

static void *
worker_main(void *data)
{
  Worker *self = data;
  GhWorkers *workers = self->workers;
  unsigned turn = 0;

  pthread_mutex_lock(&workers->lock);
  for (;;) {
    while (workers->turn == turn && !workers->stop)
      pthread_cond_wait(&workers->go, &workers->lock);
    if (workers->stop)
      break;
    turn = workers->turn;
    pthread_mutex_unlock(&workers->lock);
    workers->work(workers->job, self->index);
    pthread_mutex_lock(&workers->lock);
    if (--workers->working == 0)
      pthread_cond_signal(&workers->done);
  }
  pthread_mutex_unlock(&workers->lock);
  return NULL;
}

GhStatus
gh_workers_start(GhWorkers **out, unsigned n, GhError *error)
{
  GhWorkers *workers = calloc(1, sizeof(*workers));
  int code = ENOMEM;

  *out = NULL;
  if (!workers)
    return gh_fail(error, GH_FAILED, "out of memory");
  pthread_mutex_init(&workers->lock, NULL);
  pthread_cond_init(&workers->go, NULL);
  pthread_cond_init(&workers->done, NULL);
  workers->n = n;
  workers->threads = calloc(n, sizeof(*workers->threads));
  if (!workers->threads)
    goto fail;
  for (; workers->started < n - 1; workers->started++) {
    Worker *worker = &workers->threads[workers->started];

    worker->workers = workers;
    worker->index = workers->started + 1;
    code = pthread_create(&worker->thread, NULL, worker_main, worker);
    if (code != 0)
      goto fail;
  }
  *out = workers;
  return GH_OK;

fail:
  gh_workers_stop(&workers);
  return gh_fail(error, GH_FAILED, "could not start %u threads: %s", n,
                 strerror(code));
}

void
gh_workers_run(GhWorkers *workers, GhWork work, void *job)
{
  pthread_mutex_lock(&workers->lock);
  workers->work = work;
  workers->job = job;
  workers->working = workers->n - 1;
  workers->turn++;
  pthread_cond_broadcast(&workers->go);
  pthread_mutex_unlock(&workers->lock);

  work(job, 0);

  pthread_mutex_lock(&workers->lock);
  while (workers->working > 0)
    pthread_cond_wait(&workers->done, &workers->lock);
  pthread_mutex_unlock(&workers->lock);
}

void
gh_workers_stop(GhWorkers **out)
{
  GhWorkers *workers = *out;

  *out = NULL;
  if (!workers)
    return;
  pthread_mutex_lock(&workers->lock);
  workers->stop = true;
  pthread_cond_broadcast(&workers->go);
  pthread_mutex_unlock(&workers->lock);
  for (unsigned i = 0; i < workers->started; i++)
    pthread_join(workers->threads[i].thread, NULL);
  pthread_cond_destroy(&workers->done);
  pthread_cond_destroy(&workers->go);
  pthread_mutex_destroy(&workers->lock);
  free(workers->threads);
  free(workers);
}
