/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the files of the CUDA engine share: cuda.c, the engine; cuda-slot.c, a
 * slot's memory; cuda-input.c, how a frame gets to where it is counted.
 */

#pragma once

#include "event-wait.h"
#include "kernels.h"
#include "workers.h"

/* Device memory, or pinned memory of the host as both sides call it. */
typedef struct {
  void *host; /* NULL: it is the device's */
  CUdeviceptr device;
  size_t size; /* bytes */
} CudaMemory;

/* All memory grows only: once frames have reached their size nothing is
 * allocated. */
typedef struct {
  CUstream stream;
  CUevent done;       /* after the counting */
  CUevent start;      /* the same with a time: before the upload ... */
  CUevent end;        /* ... and after the counting */
  uint64_t queued;    /* when; see GhPace */
  bool timed;         /* these are recorded for the frame in flight */
  CudaMemory staging; /* pinned: rows of samples */
  CudaMemory input;   /* an uploaded frame */
  CudaMemory counts;  /* GhDeviceCounts of each cell; zero between frames */
  CudaMemory result;  /* pinned: GhCounts of each cell */
  CudaMemory rows;    /* pinned: the sum of each row */
  CudaMemory rects;   /* the cells, where they are many */
  uint32_t rects_version;
  uint64_t largest; /* samples of the largest cell */
  size_t uploaded;  /* bytes of the frame in flight ... */
  size_t copied;    /* ... and of it into staging */
} CudaSlot;

typedef struct {
  GhEngine base;
  const GhDriver *driver;
  CUdevice device;
  CUcontext context; /* the user's, or the device's primary one */
  bool retained;     /* the primary one is */
  GhKernels kernels;
  GhAlgorithm algorithm;
  GhWorkers *copiers; /* into staging */
  unsigned n_copiers;
  uint64_t timed_pixels; /* of the frames that are timed; the submitting
                            thread's */
  unsigned untimed;      /* frames since the last one that is */
  uint64_t device_ns;    /* of the last one; the collecting thread's */
  GhPace pace;           /* the collecting thread's */
  CudaSlot slots[GH_MAX_DEPTH];
} CudaEngine;

/* The cells to be counted apart, 0 where there is but one. */
static inline uint32_t
gh_job_n_cells(const GhJob *job)
{
  return job->cells.n > 1 ? job->cells.n : 0;
}

/* One driver call: true, or false with a cause in *error. */
#define TRY(name, ...) \
  gh_driver_ok(self->driver, self->driver->name(__VA_ARGS__), #name, error)

/* The context is current in all calls. */

bool gh_cuda_slot_open(CudaEngine *self, CudaSlot *slot, GhError *error);

/* Takes a slot that is not wholly open. */
void gh_cuda_slot_close(CudaEngine *self, CudaSlot *slot);

/* Has memory for an uploaded frame. */
bool gh_cuda_slot_reserve_input(CudaEngine *self, CudaSlot *slot, size_t bytes,
                                GhError *error);
bool gh_cuda_slot_reserve_staging(CudaEngine *self, CudaSlot *slot,
                                  size_t bytes, GhError *error);

/* Has memory for what is counted in the slot's next frame, and its cells on
 * the device. */
bool gh_cuda_slot_prepare(CudaEngine *self, CudaSlot *slot, const GhJob *job,
                          GhError *error);

/* Has the samples on the device, at the latest when the slot's stream gets
 * there, and says where. */
bool gh_cuda_place_samples(CudaEngine *self, CudaSlot *slot,
                           const GhFrame *frame, GhDeviceFrame *input,
                           GhError *error);

/* Records when the work on a frame begins. */
bool gh_cuda_record_start(CudaEngine *self, CudaSlot *slot, GhError *error);
