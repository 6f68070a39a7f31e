/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU engine: counts in the submitting thread and keeps the counts of the
 * frames in flight until they are collected. */

#include "cpu-choice.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one worker has for itself. */
typedef struct {
  GhCounts counts;
  uint32_t *scratch; /* see GhCount */
} Part;

typedef struct {
  GhEngine base;
  GhWorkers *workers;
  GhCounts slots[GH_MAX_DEPTH];
  Part *parts; /* one for each worker */
  unsigned n_parts;
  const GhFrame *frame; /* the one being counted */
} CpuEngine;

static bool
make_parts(CpuEngine *self, unsigned n)
{
  self->parts = calloc(n, sizeof(*self->parts));
  if (!self->parts)
    return false;
  for (; self->n_parts < n; self->n_parts++) {
    Part *part = &self->parts[self->n_parts];

    part->scratch = gh_count_scratch_new();
    if (!part->scratch)
      return false;
  }
  return true;
}

static GhStatus
cpu_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;
  unsigned n = settings->n_threads ? settings->n_threads : gh_workers_cores();

  if (!make_parts(self, n))
    return gh_fail(error, GH_FAILED, "out of memory");
  snprintf(engine->device, sizeof(engine->device), "CPU, %u thread%s", n,
           n == 1 ? "" : "s");
  return gh_workers_start(&self->workers, n, error);
}

/* Worker `index` takes the rows from index / n to (index + 1) / n. How to count
 * them is for each to find: one may have the sky and another the trees. */
static void
count_share(void *job, unsigned index)
{
  CpuEngine *self = job;
  Part *part = &self->parts[index];
  GhFrame share = *self->frame;
  size_t first = (size_t)share.height * index / self->n_parts;
  size_t end = (size_t)share.height * (index + 1) / self->n_parts;

  memset(&part->counts, 0, sizeof(part->counts));
  if (first == end)
    return;
  share.samples += first * share.stride;
  share.height = (uint32_t)(end - first);
  gh_count_best(&share, part->scratch, &part->counts);
}

static GhStatus
cpu_submit(GhEngine *engine, unsigned index, const GhFrame *frame,
           GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;
  GhCounts *slot = &self->slots[index];

  (void)error;
  self->frame = frame;
  gh_workers_run(self->workers, count_share, self);
  *slot = self->parts[0].counts;
  for (unsigned i = 1; i < self->n_parts; i++) {
    for (unsigned v = 0; v < GH_LEVELS; v++)
      slot->count[v] += self->parts[i].counts.count[v];
    slot->sum += self->parts[i].counts.sum;
  }
  return GH_OK;
}

static GhStatus
cpu_collect(GhEngine *engine, unsigned index, bool wait, GhCounts *counts,
            GhResult *result, GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;

  (void)wait;
  (void)result;
  (void)error;
  *counts = self->slots[index];
  return GH_OK;
}

static void
cpu_close(GhEngine *engine)
{
  CpuEngine *self = (CpuEngine *)engine;

  gh_workers_stop(&self->workers);
  for (unsigned i = 0; i < self->n_parts; i++)
    free(self->parts[i].scratch);
  free(self->parts);
}

const GhEngineOps gh_cpu_engine = {
    .size = sizeof(CpuEngine),
    .open = cpu_open,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .close = cpu_close,
};
