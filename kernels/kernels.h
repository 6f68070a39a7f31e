/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels of one device: found, and started in a shape that fits the frame
 * and the device. The device's context is current in all calls. */

#pragma once

#include "driver.h"
#include "launch.h"
#include "sample.h"

#define GH_N_KERNELS 20

typedef struct {
  const GhDriver *driver;
  CUmodule module;
  CUmodule sort_module;               /* NULL where sorting was not asked for */
  CUfunction functions[GH_N_KERNELS]; /* those that count */
  CUfunction row_sums;
  uint32_t processors;    /* multiprocessors of the device */
  uint32_t shared_block;  /* bytes that a block may have */
  uint32_t shared_device; /* bytes of one multiprocessor */
} GhKernels;

/* A frame in device memory. */
typedef struct {
  CUdeviceptr samples; /* any alignment; 32 bits: on 16 bytes */
  size_t pitch;        /* bytes from one row to the next; 32 bits: no gap */
  uint32_t width;      /* samples in a row; width × height < 2^32 */
  uint32_t height;
  GhFormat format; /* complete */
  bool words32;    /* samples are of 32 bits, for comparison with others, and
                      the format has no meaning */
} GhDeviceFrame;

/* The cells of a frame. */
typedef struct {
  const GhRect *rects; /* up to GH_FEW_CELLS, which need not be on the device */
  CUdeviceptr memory;  /* of the same, where they are more */
  uint32_t n;          /* up to 65535 */
  uint64_t largest;    /* samples of the largest one */
} GhDeviceCells;

/* Whether the bins of so many cells, or of the whole for 0, lie apart in the
 * counts. */
static inline bool
gh_counts_apart(uint32_t counters, uint32_t n_cells)
{
  return n_cells == 0 && counters <= GH_APART_BINS;
}

/* Where the counts of one launch go; see GhLaunch. For each cell there is room
 * for GH_DEVICE_COUNTS_WORDS(counters, gh_counts_apart()) words, and in the
 * result for
 * GH_COUNTS_WORDS(counters). */
typedef struct {
  CUdeviceptr counts; /* device memory, all zero */
  CUdeviceptr next;   /* device memory to be zeroed by the launch, or 0 */
  CUdeviceptr result; /* device or pinned memory, or 0 */
} GhDeviceResult;

/* Loads the kernels for @device; those that sort, which are large, only with
 * @sort. After a failure unload takes what there is. */
GhStatus gh_kernels_load(GhKernels *kernels, const GhDriver *driver,
                         CUdevice device, bool sort, GhError *error);

/* Takes kernels that are all zero. */
void gh_kernels_unload(GhKernels *kernels);

/*
 * Queues the counting of a frame on a stream, of the whole or of each of its
 * cells. `counters` are those of gh_counters(); samples of 32 bits, which have
 * no cells, may have any number from 2 to 65536, and those that are not below
 * it are not counted.
 */
GhStatus gh_kernels_launch(const GhKernels *kernels, CUstream stream,
                           GhAlgorithm algorithm, const GhDeviceFrame *frame,
                           const GhDeviceCells *cells, uint32_t counters,
                           const GhDeviceResult *to, GhError *error);

/* Queues the adding up of each row: `sums` is device or pinned memory for a
 * uint64_t each. */
GhStatus gh_kernels_sum_rows(const GhKernels *kernels, CUstream stream,
                             const GhDeviceFrame *frame, CUdeviceptr sums,
                             GhError *error);
