/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands in for the CUDA engine where it was not built. */

#include "engine-private.h"
#include "host-memory.h"

static GhStatus
say_absent(GhError *error)
{
  return gh_fail(error, GH_ABSENT,
                 "gpuhistogram was built without CUDA, as nvcc was missing");
}

static GhStatus
absent_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  (void)engine;
  (void)settings;
  return say_absent(error);
}

static void
absent_close(GhEngine *engine)
{
  (void)engine;
}

const GhEngineOps gh_cuda_engine = {
    .size = sizeof(GhEngine),
    .open = absent_open,
    .close = absent_close,
};

GhStatus
gh_pinned_open(GhPinned **pinned, int device_id, GhError *error)
{
  (void)device_id;
  *pinned = NULL;
  return say_absent(error);
}

/* Nobody comes here without one. */
void
gh_pinned_close(GhPinned **pinned)
{
  (void)pinned;
}

void *
gh_pinned_alloc(GhPinned *pinned, size_t size, GhError *error)
{
  (void)pinned;
  (void)size;
  say_absent(error);
  return NULL;
}

void
gh_pinned_free(GhPinned *pinned, void *memory)
{
  (void)pinned;
  (void)memory;
}

bool
gh_pinned_register(GhPinned *pinned, void *memory, size_t size, GhError *error)
{
  (void)pinned;
  (void)memory;
  (void)size;
  say_absent(error);
  return false;
}

void
gh_pinned_unregister(GhPinned *pinned, void *memory)
{
  (void)pinned;
  (void)memory;
}
