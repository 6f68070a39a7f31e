/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "event-wait.h"

#include <sys/prctl.h>
#include <time.h>

/* Nanoseconds. To fall asleep and wake up takes a thread some 5 us of work. */
#define WAKE_UP 5000u
#define PAUSE 1000u
#define LOOKS 8u
#define LEAST_NAP 5000u
#define MOST_NAP 1000000u

uint64_t
gh_event_now(void)
{
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
nap(uint64_t nanoseconds)
{
  const struct timespec time = {(time_t)(nanoseconds / 1000000000),
                                (long)(nanoseconds % 1000000000)};

  nanosleep(&time, NULL);
}

static void
spin(uint64_t nanoseconds)
{
  uint64_t end = gh_event_now() + nanoseconds;

  while (gh_event_now() < end)
    ;
}

/* Without a sleep, which would take as long; with pauses, as others want the
 * driver, too. */
static CUresult
look(const GhDriver *driver, CUevent event)
{
  CUresult ready = driver->cuEventQuery(event);

  for (unsigned i = 0; i < LOOKS && ready == CUDA_ERROR_NOT_READY; i++) {
    spin(PAUSE);
    ready = driver->cuEventQuery(event);
  }
  return ready;
}

/* Naps grow with the time that has passed, so that a long wait does not cost
 * much and ends late by a small part of it. */
static CUresult
nap_and_look(const GhDriver *driver, CUevent event)
{
  uint64_t start = gh_event_now();
  CUresult ready = look(driver, event);

  while (ready == CUDA_ERROR_NOT_READY) {
    uint64_t time = (gh_event_now() - start) / 16;

    time = time < LEAST_NAP ? LEAST_NAP : time;
    nap(time < MOST_NAP ? time : MOST_NAP);
    ready = driver->cuEventQuery(event);
  }
  return ready;
}

/* Whether the work was done before it ended. */
static bool
sleep_until_due(const GhDriver *driver, CUevent event, uint64_t due,
                CUresult *ready)
{
  uint64_t time = gh_event_now() + WAKE_UP + LEAST_NAP;

  if (due < time)
    return false;
  nap(due - time + LEAST_NAP);
  *ready = driver->cuEventQuery(event);
  return *ready != CUDA_ERROR_NOT_READY;
}

/* Sleeps are as much longer as a thread allows: 50 us by default. */
static CUresult
wait_until_done(const GhDriver *driver, CUevent event, uint64_t due, bool *late)
{
  int slack = prctl(PR_GET_TIMERSLACK);
  CUresult ready;

  prctl(PR_SET_TIMERSLACK, 1ul);
  *late = sleep_until_due(driver, event, due, &ready);
  if (!*late)
    ready = nap_and_look(driver, event);
  if (slack > 0)
    prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
  return ready;
}

/* Something may hold up one piece of work, which is not to make the wait for
 * the next one late. Work that was done before the end of a sleep took less
 * time than was thought, but nobody knows how much less. */
static void
learn(GhPace *pace, uint64_t start, bool late)
{
  uint64_t now = gh_event_now(), time = now - start;
  uint64_t most = pace->usual + pace->usual / 8 + 1000;

  pace->last = now;
  if (late) {
    if (time > pace->usual)
      pace->last = start + pace->usual;
    pace->usual -= pace->usual / 16;
  } else {
    pace->usual = time < most || pace->usual == 0 ? time : most;
  }
}

CUresult
gh_event_wait(const GhDriver *driver, CUevent event, GhPace *pace,
              uint64_t work, uint64_t queued)
{
  uint64_t start = queued > pace->last ? queued : pace->last;
  CUresult ready = driver->cuEventQuery(event);
  bool late;

  if (pace->work != work)
    pace->usual = 0;
  pace->work = work;
  if (ready != CUDA_ERROR_NOT_READY) {
    uint64_t now = gh_event_now(), due = start + pace->usual;

    pace->last = now < due ? now : due;
    return ready;
  }
  ready = wait_until_done(driver, event, start + pace->usual - pace->usual / 32,
                          &late);
  learn(pace, start, late);
  return ready;
}
