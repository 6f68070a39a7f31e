/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "driver.h"

/* What is known of the pace at which a device does pieces of work, one after
 * the other. Times in nanoseconds, those of gh_event_now(). All zero at the
 * start. */
typedef struct {
  uint64_t work;  /* size of a piece, in any unit: bytes, say */
  uint64_t usual; /* time that one takes */
  uint64_t last;  /* when the last one was done */
} GhPace;

/* A clock that never goes back. */
uint64_t gh_event_now(void);

/*
 * Blocks until the piece of work before `event` is done, which was queued at
 * the time `queued`. A context is current. Gives the driver's result. *pace
 * belongs to the caller's waits, and learns from each.
 *
 * Sleeps until just before the work should be done, looks for some
 * microseconds without sleeping, and then sleeps for short times again. The
 * driver's own wait wakes up late, and for it a thread of the driver's handles
 * an interrupt for each event: with it up to half of the frames of 1080p were
 * lost that the bus can carry (see NOTES.md).
 */
CUresult gh_event_wait(const GhDriver *driver, CUevent event, GhPace *pace,
                       uint64_t work, uint64_t queued);
