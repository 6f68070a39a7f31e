/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Control of the fake driver: a libcuda.so.1 for tests, on a machine without a
 * GPU. Memory is the host's, streams are threads that work off a queue, and a
 * kernel is a plain loop over its argument. So it proves the host side of the
 * CUDA engine and never the device code.
 *
 * What a real device would answer with anything at all ends here: memory or a
 * handle of another context than the current one is refused, freeing what is
 * not there or unregistering memory that a stream still reads aborts.
 *
 * A program reaches these functions by dlsym() on the libcuda.so.1 that is
 * loaded; the real one does not have them.
 *
 * As for the real one, an empty CUDA_VISIBLE_DEVICES, or a first device of -1,
 * leaves no device.
 */

#pragma once

/*
 * Call number `call` from now on, counted from 1 over all functions that can
 * fail, gives `code`; with `ever` all later ones do so too, as after a fault
 * that damages the context. 0 lets all calls succeed. Releasing calls do
 * their work even where they report a failure.
 */
typedef void (*FakeDriverFail)(unsigned call, int code, int ever);

/* All calls of a function give `code`, up to the next FakeDriverFail. Its name
 * is without a version, such as cuMemAlloc, and has to stay where it is. */
typedef void (*FakeDriverFailFunction)(const char *name, int code);

/* The device is gone up to the next FakeDriverFail: all calls give `code`, and
 * nothing that is queued touches memory any more once this has returned. */
typedef void (*FakeDriverUnplug)(int code);

/* Whether a call of that function has failed because of one of these since the
 * last FakeDriverFail. */
typedef int (*FakeDriverFailed)(const char *name);

/* Calls so far since the last FakeDriverFail. */
typedef unsigned (*FakeDriverCalls)(void);

/* Each operation on a stream takes up to that long. At first it is what the
 * environment variable FAKE_DRIVER_DELAY says, or nothing. */
typedef void (*FakeDriverDelay)(unsigned microseconds);

/* From now on each sum is 1 too large, or right again. */
typedef void (*FakeDriverMiscount)(int wrong);

/* Allocations, registrations, streams, events, modules, contexts that were
 * retained or made, and contexts left pushed on any thread; and what went with
 * its context although it could have been freed. */
typedef unsigned (*FakeDriverObjects)(void);

/* What the driver says of itself and of its device: a version such as 12040, or
 * 0 for that of the toolkit, as at first; a compute capability such as 75, or 0
 * for that at first. Modules are refused that have no code for it, or only code
 * that is to be translated by a driver as new as the toolkit. */
typedef void (*FakeDriverPose)(int version, int capability);

#define FAKE_DRIVER_FAIL "fake_driver_fail"
#define FAKE_DRIVER_FAIL_FUNCTION "fake_driver_fail_function"
#define FAKE_DRIVER_UNPLUG "fake_driver_unplug"
#define FAKE_DRIVER_FAILED "fake_driver_failed"
#define FAKE_DRIVER_POSE "fake_driver_pose"
#define FAKE_DRIVER_CALLS "fake_driver_calls"
#define FAKE_DRIVER_DELAY "fake_driver_delay"
#define FAKE_DRIVER_OBJECTS "fake_driver_objects"
#define FAKE_DRIVER_MISCOUNT "fake_driver_miscount"
