/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is the same for all engines: slots taken in turn, bins, checks. */

#include "cpu-choice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GhStatus
gh_fail(GhError *error, GhStatus status, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  vsnprintf(error->text, sizeof(error->text), format, args);
  va_end(args);
  return status;
}

static bool
settings_are_valid(const GhSettings *settings)
{
  unsigned bins = settings->bins;

  return settings->depth >= 1 && settings->depth <= GH_MAX_DEPTH && bins >= 2 &&
         bins <= GH_LEVELS && (bins & (bins - 1)) == 0;
}

GhStatus
gh_engine_open(GhEngine **out, GhEngineKind kind, const GhSettings *settings,
               GhError *error)
{
  const GhEngineOps *ops =
      kind == GH_ENGINE_CUDA ? &gh_cuda_engine : &gh_cpu_engine;
  GhEngine *engine;
  GhStatus status;

  *out = NULL;
  if (!settings_are_valid(settings))
    return gh_fail(error, GH_FAILED, "depth=%u bins=%u is out of range",
                   settings->depth, settings->bins);
  engine = calloc(1, ops->size);
  if (!engine)
    return gh_fail(error, GH_FAILED, "out of memory");
  engine->ops = ops;
  engine->depth = settings->depth;
  engine->bins = settings->bins;
  atomic_init(&engine->submitted, 0);
  atomic_init(&engine->collected, 0);
  status = ops->open(engine, settings, error);
  if (status != GH_OK)
    gh_engine_close(&engine);
  *out = engine;
  return status;
}

GhStatus
gh_engine_submit(GhEngine *engine, const GhFrame *frame, GhError *error)
{
  unsigned n = atomic_load(&engine->submitted);
  uint64_t pixels = (uint64_t)frame->width * frame->height;
  GhStatus status;

  if (n - atomic_load(&engine->collected) == engine->depth)
    return GH_NO_SLOT;
  if (pixels == 0 || pixels > UINT32_MAX)
    return gh_fail(error, GH_FAILED, "cannot count a frame of %u x %u samples",
                   frame->width, frame->height);
  status = engine->ops->submit(engine, n % engine->depth, frame, error);
  if (status != GH_OK)
    return status;
  engine->pixels[n % engine->depth] = pixels;
  atomic_store(&engine->submitted, n + 1);
  return GH_OK;
}

/* Groups the counts of the grey levels into bins. */
static void
fill_result(const GhCounts *counts, uint64_t pixels, unsigned bins,
            GhResult *result)
{
  unsigned levels_per_bin = GH_LEVELS / bins;

  result->pixels = pixels;
  result->sum = counts->sum;
  memset(result->bins, 0, bins * sizeof(*result->bins));
  result->level_sum = 0;
  for (unsigned v = 0; v < GH_LEVELS; v++) {
    result->bins[v / levels_per_bin] += counts->count[v];
    result->level_sum += v * counts->count[v];
  }
}

/* Figures that only a device has. */
static void
clear_costs(GhResult *result)
{
  result->bytes_uploaded = 0;
  result->bytes_copied = 0;
  result->device_ns = 0;
}

GhStatus
gh_engine_collect(GhEngine *engine, bool wait, GhResult *result, GhError *error)
{
  unsigned n = atomic_load(&engine->collected);
  GhCounts counts;
  GhStatus status;

  if (n == atomic_load(&engine->submitted))
    return GH_EMPTY;
  clear_costs(result);
  status = engine->ops->collect(engine, n % engine->depth, wait, &counts,
                                result, error);
  if (status != GH_OK)
    return status;
  fill_result(&counts, engine->pixels[n % engine->depth], engine->bins, result);
  atomic_store(&engine->collected, n + 1);
  return GH_OK;
}

void
gh_engine_finish_reading(GhEngine *engine)
{
  if (engine->ops->drain)
    engine->ops->drain(engine);
}

void
gh_engine_flush(GhEngine *engine)
{
  gh_engine_finish_reading(engine);
  atomic_store(&engine->collected, atomic_load(&engine->submitted));
}

unsigned
gh_engine_depth(const GhEngine *engine)
{
  return engine->depth;
}

const char *
gh_engine_device(const GhEngine *engine)
{
  return engine->device;
}

void
gh_engine_close(GhEngine **out)
{
  GhEngine *engine = *out;

  *out = NULL;
  if (!engine)
    return;
  if (engine->ops->drain)
    engine->ops->drain(engine);
  engine->ops->close(engine);
  free(engine);
}

void
gh_count_frame(const GhFrame *frame, unsigned bins, GhResult *result)
{
  GhCounts counts = {{0}, 0};

  gh_count_best(frame, NULL, &counts);
  clear_costs(result);
  fill_result(&counts, (uint64_t)frame->width * frame->height, bins, result);
}

bool
gh_result_is_consistent(const GhResult *result, unsigned bins)
{
  uint64_t pixels = 0;

  for (unsigned b = 0; b < bins; b++)
    pixels += result->bins[b];
  return pixels == result->pixels && result->sum == result->level_sum;
}
