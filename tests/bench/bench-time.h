/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdlib.h>
#include <time.h>

#define BENCH_REPEATS 41

static inline double
bench_now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int
bench_compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Sorts them. */
static inline double
bench_median(double times[BENCH_REPEATS])
{
  qsort(times, BENCH_REPEATS, sizeof(times[0]), bench_compare_times);
  return times[BENCH_REPEATS / 2];
}
