/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an engine has to provide, and what all of them share. */

#pragma once

#include "cells.h"
#include "counts.h"
#include "engine.h"
#include "sample.h"

#include <stdatomic.h>

/* How the frame in a slot is counted. */
typedef struct {
  GhCells cells;
  unsigned depth;    /* of its samples */
  unsigned counters; /* see gh_counters() */
  uint32_t rows;     /* whose sums are wanted; 0 where they are not */
} GhJob;

/* What an engine gives for a frame. Memory of the engine's own, valid until the
 * next frame is submitted to the slot. */
typedef struct {
  const GhCounts *cells; /* each cell's counts, one after the other */
  const uint64_t *rows;  /* the sum of each row */
} GhCounted;

typedef struct {
  /* Fills a zeroed engine of `size` bytes. After a failure the caller calls
   * close, so close takes an engine in any state of completion. */
  size_t size;
  GhStatus (*open)(GhEngine *engine, const GhSettings *settings,
                   GhError *error);
  /* Starts counting into slot `index`, which is free and whose job is set. The
   * frame's format is complete. Waits for the device only where
   * gh_engine_submit() says so. */
  GhStatus (*submit)(GhEngine *engine, unsigned index, const GhFrame *frame,
                     GhError *error);
  /* Gives the counts of slot `index`, which was submitted. Sets the figures
   * of *result that are not zero; histograms are not its business. */
  GhStatus (*collect)(GhEngine *engine, unsigned index, bool wait,
                      GhCounted *counted, GhResult *result, GhError *error);
  /* Blocks until nothing is being counted any more. NULL: nothing ever is. From
   * any thread. */
  void (*drain)(GhEngine *engine);
  void (*close)(GhEngine *engine);
} GhEngineOps;

/* First member of each engine. Slots are used in turn: frame n is in slot
 * n % depth. */
struct GhEngine {
  const GhEngineOps *ops;
  unsigned depth;
  unsigned bins;
  char device[128];
  GhJob jobs[GH_MAX_DEPTH]; /* of each slot */
  atomic_uint submitted;    /* frames; written by the submitting thread */
  atomic_uint collected;    /* frames; written by the collecting thread */
};

extern const GhEngineOps gh_cpu_engine;
extern const GhEngineOps gh_cuda_engine;

/* The counts of cell `index` among those that follow each other at `cells`. */
static inline GhCounts *
gh_cell_counts(const GhCounts *cells, unsigned counters, uint32_t index)
{
  return (GhCounts *)((uint32_t *)cells +
                      (size_t)index * GH_COUNTS_WORDS(counters));
}

static inline uint32_t *
gh_counters_of(const GhCounts *counts)
{
  return (uint32_t *)(counts + 1);
}

/* Bytes of the counts of all cells of a job. */
static inline size_t
gh_job_counts_size(const GhJob *job)
{
  return 4 * (size_t)job->cells.n * GH_COUNTS_WORDS(job->counters);
}

/* Writes a cause and returns status, for `return gh_fail(...)`. */
__attribute__((format(printf, 3, 4))) GhStatus
gh_fail(GhError *error, GhStatus status, const char *format, ...);
