/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands in for the CUDA engine where it was not built. */

#include "engine-private.h"

static GhStatus
absent_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  (void)engine;
  (void)settings;
  return gh_fail(error, GH_ABSENT,
                 "gpuhistogram was built without CUDA, as nvcc was missing");
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
