/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A few threads that do one job together, again and again. */

#pragma once

#include "engine.h"

typedef struct GhWorkers GhWorkers;

/* One worker's share of the job: index is 0 to n - 1. */
typedef void (*GhWork)(void *job, unsigned index);

/* Cores that this process may use, at least 1. */
unsigned gh_workers_cores(void);

/* Starts n - 1 threads; the caller of gh_workers_run() is the nth worker.
 * Returns GH_OK and *workers, or GH_FAILED and NULL. */
GhStatus gh_workers_start(GhWorkers **workers, unsigned n, GhError *error);

/* Calls work(job, i) once for every i below n, spread over the threads, and
 * blocks until all have returned. One caller at a time. */
void gh_workers_run(GhWorkers *workers, GhWork work, void *job);

/* Ends the threads and sets *workers to NULL. Takes NULL. */
void gh_workers_stop(GhWorkers **workers);
