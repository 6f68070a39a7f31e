/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Operation {
  struct Operation *next;
  FakeRun run;
  max_align_t data[];
} Operation;

struct CUstream_st {
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  Operation *first;
  Operation **last;
  int busy;
  int end;
};

struct CUevent_st {
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  unsigned recorded; /* records that were queued */
  unsigned reached;  /* records that the streams have come to */
  double time;
};

static atomic_uint delay;

void
fake_stream_set_delay(unsigned microseconds)
{
  atomic_store(&delay, microseconds);
}

/* Anything from nothing to the whole delay, so that streams overtake each
 * other. */
static void
dawdle(unsigned *seed)
{
  unsigned most = atomic_load(&delay);
  struct timespec time = {0, 0};

  if (most == 0)
    return;
  *seed = *seed * 1664525u + 1013904223u;
  time.tv_nsec = (long)((*seed >> 8) % (most + 1)) * 1000;
  nanosleep(&time, NULL);
}

static void *
stream_main(void *data)
{
  CUstream stream = data;
  unsigned seed = (unsigned)(size_t)stream;

  pthread_mutex_lock(&stream->lock);
  for (;;) {
    Operation *operation = stream->first;

    if (!operation) {
      stream->busy = 0;
      pthread_cond_broadcast(&stream->changed);
      if (stream->end)
        break;
      pthread_cond_wait(&stream->changed, &stream->lock);
      continue;
    }
    stream->first = operation->next;
    if (!stream->first)
      stream->last = &stream->first;
    stream->busy = 1;
    pthread_mutex_unlock(&stream->lock);
    dawdle(&seed);
    operation->run(operation->data);
    free(operation);
    pthread_mutex_lock(&stream->lock);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

CUstream
fake_stream_new(void)
{
  CUstream stream = calloc(1, sizeof(*stream));

  if (!stream)
    return NULL;
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->changed, NULL);
  stream->last = &stream->first;
  if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0) {
    free(stream);
    return NULL;
  }
  return stream;
}

void
fake_stream_wait(CUstream stream)
{
  pthread_mutex_lock(&stream->lock);
  while (stream->first || stream->busy)
    pthread_cond_wait(&stream->changed, &stream->lock);
  pthread_mutex_unlock(&stream->lock);
}

void
fake_stream_free(CUstream stream)
{
  pthread_mutex_lock(&stream->lock);
  stream->end = 1;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
}

int
fake_stream_push(CUstream stream, FakeRun run, const void *data, size_t size)
{
  Operation *operation = malloc(sizeof(*operation) + size);

  if (!operation)
    return 0;
  operation->next = NULL;
  operation->run = run;
  memcpy(operation->data, data, size);
  pthread_mutex_lock(&stream->lock);
  *stream->last = operation;
  stream->last = &operation->next;
  stream->busy = 1;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  return 1;
}

CUevent
fake_event_new(void)
{
  CUevent event = calloc(1, sizeof(*event));

  if (!event)
    return NULL;
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->changed, NULL);
  return event;
}

void
fake_event_free(CUevent event)
{
  pthread_cond_destroy(&event->changed);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

static void
reach_event(void *data)
{
  CUevent event = *(CUevent *)data;
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&event->lock);
  event->reached++;
  event->time = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
  pthread_cond_broadcast(&event->changed);
  pthread_mutex_unlock(&event->lock);
}

int
fake_event_record(CUevent event, CUstream stream)
{
  pthread_mutex_lock(&event->lock);
  event->recorded++;
  pthread_mutex_unlock(&event->lock);
  return fake_stream_push(stream, reach_event, &event, sizeof(event));
}

int
fake_event_is_done(CUevent event)
{
  int done;

  pthread_mutex_lock(&event->lock);
  done = event->reached == event->recorded;
  pthread_mutex_unlock(&event->lock);
  return done;
}

void
fake_event_wait(CUevent event)
{
  pthread_mutex_lock(&event->lock);
  while (event->reached != event->recorded)
    pthread_cond_wait(&event->changed, &event->lock);
  pthread_mutex_unlock(&event->lock);
}

double
fake_event_time(CUevent event)
{
  double time;

  pthread_mutex_lock(&event->lock);
  time = event->time;
  pthread_mutex_unlock(&event->lock);
  return time;
}
