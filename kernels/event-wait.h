/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "driver.h"

/*
 * Blocks until what was queued before `event` is done, which may take about
 * `expected` nanoseconds. A context is current. Gives the driver's result, and
 * in *call the name of the function that gave it.
 *
 * Sleeps for a short time again and again, as the driver's own wait wakes up
 * late: with it up to half of the frames of 1080p were lost that the bus can
 * carry (see NOTES.md). Who has to wait much longer than expected is left to
 * the driver.
 */
CUresult gh_event_wait(const GhDriver *driver, CUevent event, uint64_t expected,
                       const char **call);
