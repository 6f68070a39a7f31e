/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the kernels are measured against, on the same frames: ceilings that no
 * histogram can pass, and the libraries that people would use instead. */

#pragma once

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BenchPeers BenchPeers;

/* NULL with a line on stderr where CUDA does not work. Makes the first
 * device's primary context current. */
BenchPeers *bench_peers_open(void);
void bench_peers_close(BenchPeers *peers);

/* Reads all bytes and adds them up, in one launch of the given shape; the
 * quickest shape is the floor. With `hand_over` the grid's last block takes the
 * sum to where it belongs, without it the sum stays where the blocks added it
 * up. `size` is a multiple of 16; calls that follow each other are numbered. */
#define BENCH_READ_SHAPES 5
void bench_read(BenchPeers *peers, CUstream stream, unsigned shape,
                unsigned call, int hand_over, CUdeviceptr samples, size_t size);

void bench_empty(CUstream stream);

/* CUB's DeviceHistogram over n samples of 1, 2 or 4 bytes, values below
 * `levels`, of which each bin has equally many. The counts are uint32_t in
 * device memory. False where it fails. */
int bench_cub(BenchPeers *peers, CUstream stream, CUdeviceptr samples, size_t n,
              size_t sample_size, uint32_t levels, uint32_t bins,
              CUdeviceptr counts);

/* CUB's device-wide sort, then run lengths, of bytes. */
int bench_cub_sort(BenchPeers *peers, CUstream stream, CUdeviceptr samples,
                   size_t n);

/* NPP's HistogramEven over bytes; 256 int32_t. False where it was not built. */
int bench_npp(BenchPeers *peers, CUstream stream, CUdeviceptr samples,
              uint32_t width, uint32_t height, CUdeviceptr counts);

/* Pinned memory of the host, and device memory. */
void *bench_host_alloc(size_t size);
CUdeviceptr bench_device_alloc(size_t size);
void bench_host_free(void *memory);
void bench_device_free(CUdeviceptr memory);
int bench_copy(CUdeviceptr to, const void *from, size_t size);
int bench_copy_back(void *to, CUdeviceptr from, size_t size);
void bench_copy_async(CUdeviceptr to, const void *from, size_t size,
                      CUstream stream);
void bench_copy_device(CUdeviceptr to, CUdeviceptr from, size_t size,
                       CUstream stream);
void bench_zero(CUdeviceptr memory, size_t size);

/* Device microseconds of one call: the median over `repeats` replays of a
 * graph that holds `calls` calls of work(data, i), for i below `calls`, or two
 * of them where one takes long; the spread, from the 10th to the 90th
 * percentile; and the median where the calls are launched one by one instead,
 * as a stream of frames is. Negative where one fails. */
typedef struct {
  double median;
  double low;
  double high;
  double launched;
} BenchTime;

BenchTime bench_time(CUstream stream, unsigned calls, unsigned repeats,
                     int (*work)(void *data, unsigned i), void *data);

CUstream bench_stream(void);
int bench_wait(CUstream stream);

#ifdef __cplusplus
}
#endif
