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
  CUstream next; /* of all; guarded by streams_lock */
  CUcontext context;
  CUstream queue; /* whose operations these are: its own or the default's */
  int is_default;

  /* Of a queue. */
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  Operation *first;
  Operation **last;
  int busy;
  int end;
};

/* Taken before a stream's own. */
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static CUstream streams;

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

static int
queue_start(CUstream self)
{
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->changed, NULL);
  self->last = &self->first;
  self->queue = self;
  return pthread_create(&self->thread, NULL, stream_main, self) == 0;
}

static void
queue_end(CUstream self)
{
  pthread_mutex_lock(&self->lock);
  self->end = 1;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->lock);
  pthread_join(self->thread, NULL);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
}

static void
queue_wait(CUstream self)
{
  pthread_mutex_lock(&self->lock);
  while (self->first || self->busy)
    pthread_cond_wait(&self->changed, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

/* With a queue of its own where none is given. Under streams_lock. */
static CUstream
stream_new(CUcontext context, CUstream queue, int is_default)
{
  CUstream self = calloc(1, sizeof(*self));

  if (!self)
    return NULL;
  self->context = context;
  self->is_default = is_default;
  self->queue = queue;
  if (!queue && !queue_start(self)) {
    free(self);
    return NULL;
  }
  self->next = streams;
  streams = self;
  return self;
}

/* Under streams_lock. */
static CUstream
find_default(CUcontext context)
{
  CUstream stream = streams;

  while (stream && !(stream->is_default && stream->context == context))
    stream = stream->next;
  return stream;
}

/* Under streams_lock. */
static CUstream
ensure_default(CUcontext context)
{
  CUstream stream = find_default(context);

  return stream ? stream : stream_new(context, NULL, 1);
}

CUstream
fake_stream_default(CUcontext context)
{
  CUstream stream;

  pthread_mutex_lock(&streams_lock);
  stream = ensure_default(context);
  pthread_mutex_unlock(&streams_lock);
  return stream;
}

CUstream
fake_stream_new(CUcontext context, int blocking)
{
  CUstream queue = NULL, stream = NULL;

  pthread_mutex_lock(&streams_lock);
  if (blocking)
    queue = ensure_default(context);
  if (queue || !blocking)
    stream = stream_new(context, queue, 0);
  pthread_mutex_unlock(&streams_lock);
  return stream;
}

void
fake_stream_wait(CUstream stream)
{
  queue_wait(stream->queue);
}

void
fake_stream_wait_default(CUcontext context)
{
  CUstream stream;

  pthread_mutex_lock(&streams_lock);
  stream = find_default(context);
  if (stream)
    queue_wait(stream);
  pthread_mutex_unlock(&streams_lock);
}

void
fake_stream_wait_all(CUcontext context)
{
  pthread_mutex_lock(&streams_lock);
  for (CUstream stream = streams; stream; stream = stream->next)
    if (stream->context == context)
      queue_wait(stream->queue);
  pthread_mutex_unlock(&streams_lock);
}

void
fake_stream_free(CUstream stream)
{
  CUstream *link = &streams;

  pthread_mutex_lock(&streams_lock);
  while (*link != stream)
    link = &(*link)->next;
  *link = stream->next;
  pthread_mutex_unlock(&streams_lock);
  if (stream->queue == stream)
    queue_end(stream);
  else
    queue_wait(stream->queue);
  free(stream);
}

void
fake_stream_end_default(CUcontext context)
{
  CUstream stream;

  pthread_mutex_lock(&streams_lock);
  stream = find_default(context);
  pthread_mutex_unlock(&streams_lock);
  if (stream)
    fake_stream_free(stream);
}

int
fake_stream_push(CUstream stream, FakeRun run, const void *data, size_t size)
{
  Operation *operation = malloc(sizeof(*operation) + size);
  CUstream queue = stream->queue;

  if (!operation)
    return 0;
  operation->next = NULL;
  operation->run = run;
  memcpy(operation->data, data, size);
  pthread_mutex_lock(&queue->lock);
  *queue->last = operation;
  queue->last = &operation->next;
  queue->busy = 1;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  return 1;
}
