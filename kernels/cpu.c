/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU engine: counts in the submitting thread and keeps the counts of the
 * frames in flight until they are collected. */

#include "cpu-count.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  GhEngine base;
  GhWorkers *workers;
  GhCounts slots[GH_MAX_DEPTH];
  GhCounts *parts;      /* one for each worker */
  const GhFrame *frame; /* the one being counted */
} CpuEngine;

static GhStatus
cpu_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;
  unsigned n = settings->n_threads ? settings->n_threads : gh_workers_cores();

  self->parts = calloc(n, sizeof(*self->parts));
  if (!self->parts)
    return gh_fail(error, GH_FAILED, "out of memory");
  snprintf(engine->device, sizeof(engine->device), "CPU, %u thread%s", n,
           n == 1 ? "" : "s");
  return gh_workers_start(&self->workers, n, error);
}

/* Worker `index` takes the rows from index / n to (index + 1) / n. */
static void
count_share(void *job, unsigned index)
{
  CpuEngine *self = job;
  const GhFrame *frame = self->frame;
  unsigned n = gh_workers_count(self->workers);
  size_t first = (size_t)frame->height * index / n;
  size_t end = (size_t)frame->height * (index + 1) / n;
  GhCounts *part = &self->parts[index];

  memset(part, 0, sizeof(*part));
  if (first < end)
    gh_count_best->count(frame->samples + first * frame->stride, frame->stride,
                         frame->width, end - first, part);
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
  *slot = self->parts[0];
  for (unsigned i = 1; i < gh_workers_count(self->workers); i++) {
    for (unsigned v = 0; v < GH_LEVELS; v++)
      slot->count[v] += self->parts[i].count[v];
    slot->sum += self->parts[i].sum;
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
  free(self->parts);
}

const GhEngineOps gh_cpu_engine = {
    .size = sizeof(CpuEngine),
    .open = cpu_open,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .close = cpu_close,
};
