/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Host memory that the device can read by itself: allocated so, or ordinary
 * memory made so. It is the same for all contexts and independent of engines,
 * so it may outlive them. All calls from any thread.
 */

#pragma once

#include "engine.h"

/* What a process needs for that: the driver, and a device's primary context. */
typedef struct GhPinned GhPinned;

/* Returns GH_OK and *pinned, GH_ABSENT or GH_FAILED, as gh_engine_open() does.
 * `device_id` is that of GhSettings. */
GhStatus gh_pinned_open(GhPinned **pinned, int device_id, GhError *error);

/* After all of its memory was freed and unregistered. Takes NULL. */
void gh_pinned_close(GhPinned **pinned);

/* Memory on a page of its own, to be freed with gh_pinned_free(); or NULL with
 * a cause. Takes the time of some hundred microseconds a megabyte. */
void *gh_pinned_alloc(GhPinned *pinned, size_t size, GhError *error);
void gh_pinned_free(GhPinned *pinned, void *memory);

/* Makes ordinary memory readable by the device, until it is unregistered,
 * which has to happen before it goes away; or false with a cause. */
bool gh_pinned_register(GhPinned *pinned, void *memory, size_t size,
                        GhError *error);
void gh_pinned_unregister(GhPinned *pinned, void *memory);
