/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct CUevent_st {
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  unsigned users;    /* the program, and operations on streams */
  unsigned recorded; /* records that were queued */
  unsigned reached;  /* records that the streams have come to */
  double time;
};

CUevent
fake_event_new(void)
{
  CUevent event = calloc(1, sizeof(*event));

  if (!event)
    return NULL;
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->changed, NULL);
  event->users = 1;
  return event;
}

void
fake_event_free(CUevent event)
{
  unsigned users;

  pthread_mutex_lock(&event->lock);
  users = --event->users;
  pthread_mutex_unlock(&event->lock);
  if (users > 0)
    return;
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
  fake_event_free(event);
}

int
fake_event_record(CUevent event, CUstream stream)
{
  pthread_mutex_lock(&event->lock);
  event->recorded++;
  event->users++;
  pthread_mutex_unlock(&event->lock);
  return fake_stream_push(stream, reach_event, &event, sizeof(event));
}

typedef struct {
  CUevent event;
  unsigned recorded; /* records to wait for */
} Wait;

static void
wait_until_reached(CUevent event, unsigned recorded)
{
  pthread_mutex_lock(&event->lock);
  while ((int)(event->reached - recorded) < 0)
    pthread_cond_wait(&event->changed, &event->lock);
  pthread_mutex_unlock(&event->lock);
}

static void
run_wait(void *data)
{
  const Wait *wait = data;

  wait_until_reached(wait->event, wait->recorded);
  fake_event_free(wait->event);
}

int
fake_stream_wait_event(CUstream stream, CUevent event)
{
  Wait wait = {event, 0};

  pthread_mutex_lock(&event->lock);
  wait.recorded = event->recorded;
  event->users++;
  pthread_mutex_unlock(&event->lock);
  return fake_stream_push(stream, run_wait, &wait, sizeof(wait));
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

double
fake_event_time(CUevent event)
{
  double time;

  pthread_mutex_lock(&event->lock);
  time = event->time;
  pthread_mutex_unlock(&event->lock);
  return time;
}
