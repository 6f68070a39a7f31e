/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU engine: counts in the submitting thread and keeps the counts of the
 * frames in flight until they are collected. */

#include "cpu-cell.h"
#include "cpu-count.h"
#include "engine-private.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts of all cells of a frame; grows only. */
typedef struct {
  GhCounts *counts;
  size_t size; /* bytes */
} Room;

/* What one worker has for itself. The first one counts in the slot. */
typedef struct {
  Room room;
  uint32_t *scratch; /* see GhCount */
} Part;

typedef struct {
  Room room;
  uint64_t *row_sums;
  uint32_t rows; /* that there is room for */
} Slot;

typedef struct {
  GhEngine base;
  GhWorkers *workers;
  Slot slots[GH_MAX_DEPTH];
  Part *parts; /* one for each worker */
  unsigned n_parts;

  /* What is being counted. */
  const GhFrame *frame;
  const GhJob *job;
  Slot *slot;
} CpuEngine;

static bool
reserve(Room *room, size_t size)
{
  if (size <= room->size)
    return true;
  free(room->counts);
  room->size = 0;
  room->counts = malloc(size);
  if (!room->counts)
    return false;
  room->size = size;
  return true;
}

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

/* With many cells each worker takes some of them; otherwise each takes a share
 * of the rows of all, as one cell may be most of the frame. */
static void
count_cells(const CpuEngine *self, GhCounts *counts, unsigned index)
{
  uint32_t *scratch = self->parts[index].scratch;
  const GhJob *job = self->job;
  bool whole_cells = job->cells.n >= 4 * self->n_parts;

  for (uint32_t c = 0; c < job->cells.n; c++) {
    GhRect cell = job->cells.cells[c];
    uint64_t height = cell.height;
    uint32_t first = (uint32_t)(height * index / self->n_parts);
    uint32_t end = (uint32_t)(height * (index + 1) / self->n_parts);

    if (whole_cells && c % self->n_parts != index)
      continue;
    if (!whole_cells) {
      cell.y += first;
      cell.height = end - first;
    }
    if (cell.height > 0)
      gh_count_cell(self->frame, &cell, job->counters, scratch,
                    gh_cell_counts(counts, job->counters, c));
  }
}

static void
sum_rows(const CpuEngine *self, unsigned index)
{
  for (uint32_t y = index; y < self->job->rows; y += self->n_parts)
    self->slot->row_sums[y] = gh_sum_row(self->frame, y);
}

/* The share of worker `index`. How to count its rows is for each to find: one
 * may have the sky and another the trees. */
static void
count_share(void *job, unsigned index)
{
  CpuEngine *self = job;
  GhCounts *counts =
      index == 0 ? self->slot->room.counts : self->parts[index].room.counts;

  memset(counts, 0, gh_job_counts_size(self->job));
  count_cells(self, counts, index);
  sum_rows(self, index);
}

static bool
reserve_all(CpuEngine *self, Slot *slot, const GhJob *job)
{
  size_t size = gh_job_counts_size(job);

  if (!reserve(&slot->room, size))
    return false;
  for (unsigned i = 1; i < self->n_parts; i++)
    if (!reserve(&self->parts[i].room, size))
      return false;
  if (job->rows <= slot->rows)
    return true;
  free(slot->row_sums);
  slot->rows = 0;
  slot->row_sums = malloc(job->rows * sizeof(*slot->row_sums));
  if (!slot->row_sums)
    return false;
  slot->rows = job->rows;
  return true;
}

static void
add_part(const GhJob *job, const Part *part, GhCounts *to)
{
  for (uint32_t c = 0; c < job->cells.n; c++) {
    GhCounts *sum = gh_cell_counts(to, job->counters, c);
    const GhCounts *more = gh_cell_counts(part->room.counts, job->counters, c);

    sum->sum += more->sum;
    for (unsigned v = 0; v < job->counters; v++)
      gh_counters_of(sum)[v] += gh_counters_of(more)[v];
  }
}

static GhStatus
cpu_submit(GhEngine *engine, unsigned index, const GhFrame *frame,
           GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;
  Slot *slot = &self->slots[index];
  const GhJob *job = &engine->jobs[index];

  if (!reserve_all(self, slot, job))
    return gh_fail(error, GH_FAILED, "out of memory");
  self->frame = frame;
  self->job = job;
  self->slot = slot;
  gh_workers_run(self->workers, count_share, self);
  for (unsigned i = 1; i < self->n_parts; i++)
    add_part(job, &self->parts[i], slot->room.counts);
  return GH_OK;
}

static GhStatus
cpu_collect(GhEngine *engine, unsigned index, bool wait, GhCounted *counted,
            GhResult *result, GhError *error)
{
  CpuEngine *self = (CpuEngine *)engine;
  const Slot *slot = &self->slots[index];

  (void)wait;
  (void)result;
  (void)error;
  *counted = (GhCounted){slot->room.counts, slot->row_sums};
  return GH_OK;
}

static void
cpu_close(GhEngine *engine)
{
  CpuEngine *self = (CpuEngine *)engine;

  gh_workers_stop(&self->workers);
  for (unsigned i = 0; i < self->n_parts; i++) {
    free(self->parts[i].room.counts);
    free(self->parts[i].scratch);
  }
  for (unsigned i = 0; i < engine->depth; i++) {
    free(self->slots[i].room.counts);
    free(self->slots[i].row_sums);
  }
  free(self->parts);
}

const GhEngineOps gh_cpu_engine = {
    .size = sizeof(CpuEngine),
    .open = cpu_open,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .close = cpu_close,
};
