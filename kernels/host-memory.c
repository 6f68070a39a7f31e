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

GhStatus
gh_pinned_open(GhPinned **out, int device_id, GhError *error)
{
  GhPinned *pinned = calloc(1, sizeof(*pinned));
  GhStatus status;

  *out = NULL;
  if (!pinned)
    return gh_fail(error, GH_FAILED, "out of memory");
  status = gh_driver_get(&pinned->driver, error);
  if (status == GH_OK)
    status = gh_driver_retain(pinned->driver, device_id, &pinned->device,
                              &pinned->context, error);
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

void *
gh_pinned_alloc(GhPinned *pinned, size_t size, GhError *error)
{
  void *memory = NULL;

  if (!gh_driver_push(pinned->driver, pinned->context, error))
    return NULL;
  if (!TRY(cuMemHostAlloc, &memory, size, CU_MEMHOSTALLOC_PORTABLE))
    memory = NULL;
  gh_driver_pop(pinned->driver);
  return memory;
}

void
gh_pinned_free(GhPinned *pinned, void *memory)
{
  GhError ignored;

  if (!gh_driver_push(pinned->driver, pinned->context, &ignored))
    return;
  pinned->driver->cuMemFreeHost(memory);
  gh_driver_pop(pinned->driver);
}

bool
gh_pinned_register(GhPinned *pinned, void *memory, size_t size, GhError *error)
{
  bool good;

  if (!gh_driver_push(pinned->driver, pinned->context, error))
    return false;
  good = TRY(cuMemHostRegister_v2, memory, size, CU_MEMHOSTREGISTER_PORTABLE);
  gh_driver_pop(pinned->driver);
  return good;
}

void
gh_pinned_unregister(GhPinned *pinned, void *memory)
{
  GhError ignored;

  if (!gh_driver_push(pinned->driver, pinned->context, &ignored))
    return;
  pinned->driver->cuMemHostUnregister(memory);
  gh_driver_pop(pinned->driver);
}
