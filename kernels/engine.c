/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is the same for all engines: slots taken in turn, bins, checks. */

#include "engine-private.h"

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
         bins <= GH_MAX_BINS && (bins & (bins - 1)) == 0;
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

static bool
set_job(GhEngine *engine, GhJob *job, const GhFrame *frame)
{
  unsigned levels;

  if ((uint64_t)frame->width * frame->height > UINT32_MAX ||
      frame->width == 0 || frame->height == 0 ||
      !gh_format_is_valid(&frame->format))
    return false;
  levels = 1u << frame->format.depth;
  job->depth = frame->format.depth;
  job->counters = gh_counters(job->depth, engine->bins);
  job->rows = frame->rows ? frame->height : 0;
  return engine->bins <= levels;
}

GhStatus
gh_engine_submit(GhEngine *engine, const GhFrame *frame, GhError *error)
{
  unsigned n = atomic_load(&engine->submitted), index = n % engine->depth;
  GhJob *job = &engine->jobs[index];
  GhFrame complete = *frame;
  GhStatus status;

  if (n - atomic_load(&engine->collected) == engine->depth)
    return GH_NO_SLOT;
  complete.format = gh_format_complete(frame->format);
  if (!set_job(engine, job, &complete))
    return gh_fail(error, GH_FAILED,
                   "cannot count a frame of %u x %u samples of %u bits in %u "
                   "bins",
                   frame->width, frame->height, complete.format.depth,
                   engine->bins);
  if (!gh_cells_set(&job->cells, &complete))
    return gh_fail(error, GH_FAILED,
                   "cannot count %u regions of a frame of %u x %u samples: "
                   "some are not inside of it, they overlap in too many ways, "
                   "or there is no memory",
                   frame->n_regions, frame->width, frame->height);
  status = engine->ops->submit(engine, index, &complete, error);
  if (status == GH_OK)
    atomic_store(&engine->submitted, n + 1);
  return status;
}

static void
start_histogram(GhHistogram *histogram, unsigned bins)
{
  memset(histogram->bins, 0, bins * sizeof(*histogram->bins));
  histogram->pixels = 0;
  histogram->sum = 0;
  histogram->least_sum = 0;
  histogram->most_sum = 0;
}

/* Grouped into bins; the usual number of them, without groups, goes quicker. */
static void
add_counters(uint64_t *bins, const uint32_t *counters, unsigned n,
             unsigned group)
{
  if (group == 0)
    for (unsigned c = 0; c < n; c++)
      bins[c] += counters[c];
  else
    for (unsigned c = 0; c < n; c++)
      bins[c >> group] += counters[c];
}

/* Adds the counts of a cell. */
static void
add_cell(GhHistogram *histogram, unsigned bins, const GhJob *job,
         const GhCounts *cells, uint32_t index)
{
  const GhCounts *counts = gh_cell_counts(cells, job->counters, index);
  const uint32_t *counters = gh_counters_of(counts);
  const GhRect *rect = &job->cells.cells[index];
  unsigned shift = gh_counter_shift(job->depth, job->counters);
  unsigned group = gh_log2(job->counters) - gh_log2(bins);
  uint64_t pixels = 0, sum = 0;

  add_counters(histogram->bins, counters, job->counters, group);
  for (unsigned c = 0; c < job->counters; c++) {
    pixels += counters[c];
    sum += (uint64_t)c * counters[c];
  }
  histogram->pixels += (uint64_t)rect->width * rect->height;
  histogram->sum += counts->sum;
  histogram->least_sum += sum << shift;
  histogram->most_sum += (sum << shift) + (pixels << shift) - pixels;
}

static void
fill_regions(const GhJob *job, const GhCounted *counted, unsigned bins,
             GhResult *result)
{
  const GhCells *cells = &job->cells;

  for (uint32_t r = 0; r < cells->n_regions; r++) {
    start_histogram(&result->regions[r], bins);
    for (uint32_t m = cells->first[r]; m < cells->first[r + 1]; m++)
      add_cell(&result->regions[r], bins, job, counted->cells,
               cells->members[m]);
  }
}

static void
fill_result(const GhJob *job, const GhCounted *counted, unsigned bins,
            GhResult *result)
{
  start_histogram(&result->whole, bins);
  for (uint32_t c = 0; c < job->cells.n; c++)
    add_cell(&result->whole, bins, job, counted->cells, c);
  fill_regions(job, counted, bins, result);
  if (job->rows > 0 && result->row_sums)
    memcpy(result->row_sums, counted->rows,
           job->rows * sizeof(*result->row_sums));
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
  unsigned n = atomic_load(&engine->collected), index = n % engine->depth;
  GhCounted counted = {NULL, NULL};
  GhStatus status;

  if (n == atomic_load(&engine->submitted))
    return GH_EMPTY;
  clear_costs(result);
  status = engine->ops->collect(engine, index, wait, &counted, result, error);
  if (status != GH_OK)
    return status;
  fill_result(&engine->jobs[index], &counted, engine->bins, result);
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
  for (unsigned i = 0; i < engine->depth; i++)
    gh_cells_clear(&engine->jobs[i].cells);
  free(engine);
}

bool
gh_histogram_is_consistent(const GhHistogram *histogram, unsigned bins)
{
  uint64_t pixels = 0;

  for (unsigned b = 0; b < bins; b++)
    pixels += histogram->bins[b];
  return pixels == histogram->pixels &&
         histogram->sum >= histogram->least_sum &&
         histogram->sum <= histogram->most_sum;
}
