/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "event-wait.h"

#include <sys/prctl.h>
#include <time.h>

#define STEP 10000u /* nanoseconds */
#define STEPS 20u

static void
nap(uint64_t nanoseconds)
{
  const struct timespec time = {(time_t)(nanoseconds / 1000000000),
                                (long)(nanoseconds % 1000000000)};

  nanosleep(&time, NULL);
}

/* Half of the time at once, as it may be less. */
static CUresult
nap_and_look(const GhDriver *driver, CUevent event, uint64_t expected)
{
  CUresult ready = CUDA_ERROR_NOT_READY;

  nap(expected / 2);
  for (unsigned i = 0; i < STEPS && ready == CUDA_ERROR_NOT_READY; i++) {
    ready = driver->cuEventQuery(event);
    if (ready == CUDA_ERROR_NOT_READY)
      nap(STEP);
  }
  return ready;
}

CUresult
gh_event_wait(const GhDriver *driver, CUevent event, uint64_t expected,
              const char **call)
{
  CUresult ready = driver->cuEventQuery(event);
  int slack;

  *call = "cuEventQuery";
  if (ready != CUDA_ERROR_NOT_READY)
    return ready;
  /* Sleeps are as much longer as a thread allows: 50 us by default. */
  slack = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1ul);
  ready = nap_and_look(driver, event, expected);
  if (slack > 0)
    prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
  if (ready != CUDA_ERROR_NOT_READY)
    return ready;
  *call = "cuEventSynchronize";
  return driver->cuEventSynchronize(event);
}
