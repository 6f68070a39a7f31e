/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "host-memory.h"

#include "driver.h"

#include <stdlib.h>

struct GhPinned {
  const GhDriver *driver;
  CUdevice device;
  CUcontext context; /* the device's primary one; retained where not NULL */
};

#define TRY(name, ...) \
  gh_driver_ok(pinned->driver, pinned->driver->name(__VA_ARGS__), #name, error)

static GhStatus
retain_context(GhPinned *pinned, int device_id, GhError *error)
{
  GhStatus status = gh_driver_get(&pinned->driver, error);

  if (status == GH_OK)
    status = gh_driver_find_device(pinned->driver, device_id, &pinned->device,
                                   error);
  if (status != GH_OK)
    return status;
  return TRY(cuDevicePrimaryCtxRetain, &pinned->context, pinned->device)
             ? GH_OK
             : GH_FAILED;
}

GhStatus
gh_pinned_open(GhPinned **out, int device_id, GhError *error)
{
  GhPinned *pinned = calloc(1, sizeof(*pinned));
  GhStatus status;

  *out = NULL;
  if (!pinned)
    return gh_fail(error, GH_FAILED, "out of memory");
  status = retain_context(pinned, device_id, error);
  if (status == GH_OK)
    *out = pinned;
  else
    gh_pinned_close(&pinned);
  return status;
}

void
gh_pinned_close(GhPinned **out)
{
  GhPinned *pinned = *out;

  *out = NULL;
  if (!pinned)
    return;
  if (pinned->context)
    pinned->driver->cuDevicePrimaryCtxRelease_v2(pinned->device);
  free(pinned);
}

static bool
push_context(GhPinned *pinned, GhError *error)
{
  return TRY(cuCtxPushCurrent_v2, pinned->context);
}

static void
pop_context(GhPinned *pinned)
{
  CUcontext ours;

  pinned->driver->cuCtxPopCurrent_v2(&ours);
}

void *
gh_pinned_alloc(GhPinned *pinned, size_t size, GhError *error)
{
  void *memory = NULL;

  if (!push_context(pinned, error))
    return NULL;
  if (!TRY(cuMemHostAlloc, &memory, size, CU_MEMHOSTALLOC_PORTABLE))
    memory = NULL;
  pop_context(pinned);
  return memory;
}

void
gh_pinned_free(GhPinned *pinned, void *memory)
{
  GhError ignored;

  if (!push_context(pinned, &ignored))
    return;
  pinned->driver->cuMemFreeHost(memory);
  pop_context(pinned);
}

bool
gh_pinned_register(GhPinned *pinned, void *memory, size_t size, GhError *error)
{
  bool good;

  if (!push_context(pinned, error))
    return false;
  good = TRY(cuMemHostRegister_v2, memory, size, CU_MEMHOSTREGISTER_PORTABLE);
  pop_context(pinned);
  return good;
}

void
gh_pinned_unregister(GhPinned *pinned, void *memory)
{
  GhError ignored;

  if (!push_context(pinned, &ignored))
    return;
  pinned->driver->cuMemHostUnregister(memory);
  pop_context(pinned);
}
