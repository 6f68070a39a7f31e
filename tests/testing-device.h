/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device with the kernels, frames on it, and the plain count that all that
 * the kernels count is compared with. */

#pragma once

#include "kernels.h"
#include "testing-engine.h"

#define TEST_DEVICE_MAX_BINS 65536
#define TEST_DEVICE_MEMORY (8 << 20)
#define TEST_DEVICE_COUNTS_BYTES      \
  (4 * (gsize)TEST_DEVICE_MAX_CELLS * \
   GH_DEVICE_COUNTS_WORDS(TEST_DEVICE_MAX_BINS, false))

/* A device with the kernels, and memory for one frame. */
typedef struct {
  const GhDriver *driver;
  CUcontext context;
  CUdevice device;
  CUstream stream;
  GhKernels kernels;
  CUdeviceptr memory;
  CUdeviceptr counts;
  CUdeviceptr next;
  GhCounts *result; /* pinned; of each cell */
  GhRect *cells;    /* pinned */
  guint8 *samples;  /* pinned; what is in memory */
} TestDevice;

/* The frame that is counted, as it lies in memory. */
typedef struct {
  gsize offset;
  gsize pitch;
  guint width;
  guint height;
  guint bins;      /* 0: 256 bins of 8-bit samples */
  GhFormat format; /* 16-bit samples; step 0: those of 32 bits, or of 8 */
  guint n_cells;   /* columns that are counted apart; 0: the whole frame */
} TestDeviceFrame;

#define TEST_DEVICE_MAX_CELLS 8

gboolean test_device_open(TestDevice *device);
void test_device_close(TestDevice *device);

/* Noise of different widths, so that some bins are hot. */
void test_device_fill_bytes(TestDevice *device, GRand *random);

/* Of 32 bits, some of which are in none of the bins. */
void test_device_fill_words(TestDevice *device, GRand *random, guint bins);

/* Queues that what is in samples gets to the device's memory: all of it, or the
 * first bytes. */
void test_device_upload(TestDevice *device);
void test_device_upload_part(TestDevice *device, gsize bytes);

void test_device_launch(TestDevice *device, const TestDeviceFrame *layout,
                        GhAlgorithm algorithm, const GhDeviceResult *to);
void test_device_finish(TestDevice *device);

/* What is in the result is what a plain count finds. */
void test_device_check_counts(const TestDevice *device,
                              const TestDeviceFrame *layout,
                              GhAlgorithm algorithm);

/* All algorithms, each checked. Each leaves the counts at zero for the one
 * after. */
void test_device_check(TestDevice *device, const TestDeviceFrame *layout);
