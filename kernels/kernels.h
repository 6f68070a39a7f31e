/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels of one device: found, and started in a shape that fits the frame
 * and the device. The device's context is current in all calls. */

#pragma once

#include "driver.h"
#include "launch.h"

typedef enum { GH_SAMPLE_U8, GH_SAMPLE_U32 } GhSampleType;

/* Ways to start a sample type's kernels; more than there are algorithms, as
 * one of them is written twice. */
#define GH_N_KERNELS 9

typedef struct {
  const GhDriver *driver;
  CUmodule module;
  CUmodule sort_module; /* NULL where sorting was not asked for */
  CUfunction functions[GH_N_KERNELS];
  uint32_t processors;    /* multiprocessors of the device */
  uint32_t shared_block;  /* bytes that a block may have */
  uint32_t shared_device; /* bytes of one multiprocessor */
} GhKernels;

/* A frame in device memory. */
typedef struct {
  CUdeviceptr samples; /* 8 bits: anywhere; 32 bits: on 16 bytes */
  size_t pitch;        /* bytes from one row to the next; 32 bits: no gap */
  uint32_t width;      /* samples in a row; width × height < 2^32 */
  uint32_t height;
  GhSampleType type;
} GhDeviceFrame;

/* Where the counts of one launch go; see GhLaunch. There is room for
 * GH_DEVICE_COUNTS_WORDS(bins) words, and in the result for
 * GH_PACKED_COUNTS_WORDS(bins). */
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
 * Queues the counting of a frame on a stream. Samples of 32 bits may have any
 * number of bins from 2 to 65536; those that are not below it are in no bin.
 * Samples of 8 bits have 256.
 */
GhStatus gh_kernels_launch(const GhKernels *kernels, CUstream stream,
                           GhAlgorithm algorithm, const GhDeviceFrame *frame,
                           uint32_t bins, const GhDeviceResult *to,
                           GhError *error);
