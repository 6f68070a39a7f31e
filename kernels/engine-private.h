/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an engine has to provide, and what all of them share. */

#pragma once

#include "engine.h"

#include <stdatomic.h>

/* What an engine reports for one frame, before grouping into bins. */
typedef struct {
  uint64_t count[GH_LEVELS]; /* samples of each grey level */
  uint64_t sum;              /* Σ samples, not made from the counts */
} GhCounts;

typedef struct {
  /* Fills a zeroed engine of `size` bytes. After a failure the caller calls
   * close, so close takes an engine in any state of completion. */
  size_t size;
  GhStatus (*open)(GhEngine *engine, const GhSettings *settings,
                   GhError *error);
  /* Starts counting into slot `index`, which is free. Waits for the device only
   * where gh_engine_submit() says so. */
  GhStatus (*submit)(GhEngine *engine, unsigned index, const GhFrame *frame,
                     GhError *error);
  /* Gives the counts of slot `index`, which was submitted. Sets the figures
   * of *result that are not zero; bins, pixels and sums are not its business.
   */
  GhStatus (*collect)(GhEngine *engine, unsigned index, bool wait,
                      GhCounts *counts, GhResult *result, GhError *error);
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
  uint64_t pixels[GH_MAX_DEPTH]; /* of the frame in each slot */
  atomic_uint submitted;         /* frames; written by the submitting thread */
  atomic_uint collected;         /* frames; written by the collecting thread */
};

extern const GhEngineOps gh_cpu_engine;
extern const GhEngineOps gh_cuda_engine;

/* Writes a cause and returns status, for `return gh_fail(...)`. */
__attribute__((format(printf, 3, 4))) GhStatus
gh_fail(GhError *error, GhStatus status, const char *format, ...);
