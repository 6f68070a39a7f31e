/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wall-clock time of whole round trips, and what the bus and memory can do. */

#include "bench.h"

#include <stdlib.h>
#include <time.h>

static double
now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int
compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Wall-clock microseconds of one call that waits for its end. */
BenchTime
bench_time_trip(void (*trip)(Bench *bench, void *data), Bench *bench,
                void *data, unsigned trips)
{
  enum { MOST = 401 };
  static double times[MOST];
  unsigned warm_up = trips / 8 + 1;

  for (unsigned i = 0; i < warm_up + trips; i++) {
    double start = now();

    trip(bench, data);
    if (i >= warm_up)
      times[i - warm_up] = now() - start;
  }
  qsort(times, trips, sizeof(times[0]), compare_times);
  return (BenchTime){times[trips / 2], times[trips / 10],
                     times[trips - 1 - trips / 10], -1};
}

static void
empty_trip(Bench *bench, void *data)
{
  (void)data;
  bench_empty(bench->stream);
  bench_wait(bench->stream);
}

/* A frame that is on the device: launch, result in the host's memory. */
static void
resident_trip(Bench *bench, void *data)
{
  GhDeviceFrame frame = bench_frame(bench, 0);
  GhDeviceResult to = {bench_counts(bench, 0), 0,
                       (CUdeviceptr)(uintptr_t)bench->result};
  GhError error;

  (void)data;
  gh_kernels_launch(&bench->kernels, bench->stream, GH_ALGORITHM_AUTO, &frame,
                    NULL, 256, &to, &error);
  bench_wait(bench->stream);
}

void
bench_engine_trip(Bench *bench, void *data)
{
  const BenchTrip *trip = data;
  GhFrame frame = {trip->samples, bench->size.width, bench->size.width,
                   bench->size.height};
  uint64_t bins[256];
  GhResult result = {.whole = {.bins = bins}};
  GhError error;

  gh_engine_submit(trip->engine, &frame, &error);
  gh_engine_collect(trip->engine, true, &result, &error);
}

void
bench_run_trips(Bench *bench)
{
  const GhSettings settings = {.depth = 2, .bins = 256, .device_id = 0};
  double empty = bench_time_trip(empty_trip, bench, NULL, 401).median;
  BenchTrip trip = {NULL, bench->host};
  GhError error;

  printf("\nround trips, wall clock: empty launch and wait %.2f us\n", empty);
  bench_zero(bench->counts, COUNTS_SIZE);
  gh_engine_open(&trip.engine, GH_ENGINE_CUDA, &settings, &error);
  bench->sample_size = 1;
  for (unsigned s = 0; s < 4; s++) {
    double resident;

    bench->size = bench_sizes[s];
    resident = bench_time_trip(resident_trip, bench, NULL, 401).median;
    printf("%-6s on the device %8.2f us (%.2f of the empty launch), from "
           "ordinary memory %8.2f us\n",
           bench->size.name, resident, resident / empty,
           trip.engine
               ? bench_time_trip(bench_engine_trip, bench, &trip, 101).median
               : -1);
  }
  gh_engine_close(&trip.engine);
}

static int
copy_step(void *data, unsigned i)
{
  Bench *bench = data;
  size_t half = bench->memory_size / 2 / 256 * 256;

  (void)i;
  bench_copy_device(bench->memory, bench->memory + half, half, bench->stream);
  return 1;
}

static int
upload_step(void *data, unsigned i)
{
  Bench *bench = data;

  (void)i;
  bench_copy_async(bench->memory, bench->host, (size_t)256 << 20,
                   bench->stream);
  return 1;
}

void
bench_run_ceilings(Bench *bench)
{
  BenchTime copy =
      bench_time(bench->stream, 1, bench_wish.repeats, copy_step, bench);
  BenchTime up =
      bench_time(bench->stream, 1, bench_wish.repeats, upload_step, bench);

  printf("ceilings: device copy %.0f GB/s (read and write), pinned upload "
         "%.1f GB/s\n",
         (double)bench->memory_size / copy.median * 1e-3,
         (double)((size_t)256 << 20) / up.median * 1e-3);
}
