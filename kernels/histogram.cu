/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Histogram and sum of 8-bit samples.
 *
 * Each warp counts into a table of its own in shared memory; a block adds its
 * tables up and adds every bin that is not empty to the result. Tables of a
 * warp keep warps from meeting at one counter; see Podlozhnyuk, "Histogram
 * calculation in CUDA", NVIDIA 2007. The sum goes its own way: word-wise adds
 * in registers, shuffles within a warp, one atomic a warp.
 */

#include "device-counts.h"

__device__ static void
count_word(uint32_t word, uint32_t *table)
{
  atomicAdd(&table[word & 0xff], 1u);
  atomicAdd(&table[(word >> 8) & 0xff], 1u);
  atomicAdd(&table[(word >> 16) & 0xff], 1u);
  atomicAdd(&table[word >> 24], 1u);
}

/* Counts 16 samples and returns their sum. */
__device__ static uint32_t
count_quad(uint4 quad, uint32_t *table)
{
  count_word(quad.x, table);
  count_word(quad.y, table);
  count_word(quad.z, table);
  count_word(quad.w, table);
  return __vsadu4(quad.x, 0) + __vsadu4(quad.y, 0) + __vsadu4(quad.z, 0) +
         __vsadu4(quad.w, 0);
}

/* The grid's threads share all samples; returns this thread's sum. */
__device__ static uint64_t
count_samples(const uint8_t *samples, uint64_t n, uint32_t *table)
{
  const uint4 *quads = reinterpret_cast<const uint4 *>(samples);
  uint64_t n_quads = n / 16, tail = n % 16;
  uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t sum = 0;

  /* Four loads in flight hide the way to memory. */
  for (; i + 3 * stride < n_quads; i += 4 * stride) {
    uint4 a = quads[i], b = quads[i + stride];
    uint4 c = quads[i + 2 * stride], d = quads[i + 3 * stride];

    sum += count_quad(a, table) + count_quad(b, table) + count_quad(c, table) +
           count_quad(d, table);
  }
  for (; i < n_quads; i += stride)
    sum += count_quad(quads[i], table);
  if (blockIdx.x == 0 && threadIdx.x < tail) {
    uint32_t sample = samples[n_quads * 16 + threadIdx.x];

    atomicAdd(&table[sample], 1u);
    sum += sample;
  }
  return sum;
}

/* samples: n samples on a 16-byte boundary. */
extern "C" __global__ void
__launch_bounds__(GH_BLOCK_THREADS)
    gh_histogram_u8(const uint8_t *samples, uint64_t n, GhDeviceCounts *counts)
{
  __shared__ uint32_t tables[GH_BLOCK_WARPS][GH_DEVICE_LEVELS];
  uint32_t *all = &tables[0][0];
  unsigned long long sum;

  for (uint32_t i = threadIdx.x; i < GH_BLOCK_WARPS * GH_DEVICE_LEVELS;
       i += GH_BLOCK_THREADS)
    all[i] = 0;
  __syncthreads();

  sum = count_samples(samples, n, tables[threadIdx.x / 32]);
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0 && sum > 0)
    atomicAdd(reinterpret_cast<unsigned long long *>(&counts->sum), sum);
  __syncthreads();

  for (uint32_t bin = threadIdx.x; bin < GH_DEVICE_LEVELS;
       bin += GH_BLOCK_THREADS) {
    uint32_t total = 0;

    for (int warp = 0; warp < GH_BLOCK_WARPS; warp++)
      total += tables[warp][bin];
    if (total > 0)
      atomicAdd(&counts->count[bin], total);
  }
}
