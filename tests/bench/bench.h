/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files of gpuhistogram-bench share. */

#pragma once

#include "content.h"
#include "kernels.h"
#include "peers.h"

#include <stdio.h>

/* Inputs together are larger than the second cache of any device. */
#define ROTATION ((size_t)384 << 20)
#define MAX_CALLS 400
#define MAX_BINS 65536
#define ZONE_COLUMNS 8u
#define ZONES 48u
/* Bytes of the counts of all launches: of as many zones, or of MAX_BINS. */
#define COUNTS_SIZE \
  (4 * (size_t)MAX_CALLS * ZONES * GH_DEVICE_COUNTS_WORDS(256, false))
#define RESULT_SIZE (4 * (size_t)GH_COUNTS_WORDS(MAX_BINS))

typedef struct {
  const char *name;
  uint32_t width;
  uint32_t height;
} BenchSize;

/* What is wanted; NULL and 0 for everything. */
typedef struct {
  const char *size;
  const char *content;
  const char *algorithm;
  const char *frames;
  uint32_t bins;
  unsigned repeats;
  bool check_only;
  size_t sample_size; /* bytes */
  FILE *csv;
} BenchWish;

extern BenchWish bench_wish;

typedef struct {
  const GhDriver *driver;
  BenchPeers *peers;
  GhKernels kernels;
  CUstream stream;
  uint8_t *host; /* pinned: one frame */
  CUdeviceptr memory;
  size_t memory_size;
  CUdeviceptr counts; /* one after the other, for one launch each */
  GhCounts *result;   /* pinned */
  uint32_t *library_counts;
  CUdeviceptr library_memory;

  /* What is being timed. */
  BenchSize size;
  size_t sample_size;
  uint32_t levels; /* of the samples */
  uint32_t bins;
  const GhDeviceCells *cells; /* NULL: the whole frame */
  GhAlgorithm algorithm;
  unsigned shape;
  bool hands_over;
  unsigned calls;
  size_t stride; /* bytes from one input to the next */
  double floor;
} Bench;

/* Bytes of the current frame. */
size_t bench_frame_size(const Bench *bench);

/* Input `i` of the rotation, and the counts of launch `i`. */
GhDeviceFrame bench_frame(const Bench *bench, unsigned i);
CUdeviceptr bench_counts(const Bench *bench, unsigned i);

/* frames.c: every way of counting, every content and size that is wanted.
 * False where counts are wrong. */
bool bench_run_bytes(Bench *bench);
bool bench_run_halves(Bench *bench);
bool bench_run_words(Bench *bench);
bool bench_run_file(Bench *bench);

/* zones.c: the zones of a grid, as exposure metering has it, for the current
 * size; and adding up what was counted in them, in place of the first one's. */
GhDeviceCells bench_zones(const Bench *bench, GhRect rects[ZONES]);
void bench_add_zones(Bench *bench);

/* trips.c: wall-clock microseconds of one call of trip(), at most 401 times. */
BenchTime bench_time_trip(void (*trip)(Bench *bench, void *data), Bench *bench,
                          void *data, unsigned trips);
void bench_run_trips(Bench *bench);

/* One frame through an engine, from submit to its result; `data` says which. */
typedef struct {
  GhEngine *engine;
  uint8_t *samples;
} BenchTrip;

void bench_engine_trip(Bench *bench, void *data);
void bench_run_ceilings(Bench *bench);

extern const BenchSize bench_sizes[];
extern const size_t bench_n_sizes;
