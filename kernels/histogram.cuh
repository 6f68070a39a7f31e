/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One launch does the whole work of a frame: it counts, adds up, hands the
 * result over and leaves memory ready for the next launch. */

#pragma once

#include "tables.cuh"
#include "walk.cuh"

/* How the samples of a quad are counted and summed up. Sum holds the sum of all
 * that one thread can get. IN_FLIGHT quads are on their way from memory while a
 * thread counts as many. */
template <typename Sample> struct Quad;

template <> struct Quad<uint8_t> {
  typedef uint32_t Sum; /* 2^24 samples: 2^32 over the threads of a block */
  static const int IN_FLIGHT = 2;

  template <typename Table>
  __device__ static void
  count(const GhLaunch &, Table *table, const uint4 &quad, Sum *sum)
  {
    word(table, quad.x, sum);
    word(table, quad.y, sum);
    word(table, quad.z, sum);
    word(table, quad.w, sum);
  }
  template <typename Table>
  __device__ static void
  one(const GhLaunch &, Table *table, uint8_t sample, Sum *sum)
  {
    table->add(sample);
    *sum += sample;
  }

private:
  template <typename Table>
  __device__ static void
  word(Table *table, uint32_t word, Sum *sum)
  {
    table->add_word(word);
#if __CUDA_ARCH__ >= 610
    *sum = __dp4a(word, 0x01010101u, *sum);
#else
    *sum += __vsadu4(word, 0);
#endif
  }
};

/* Two samples a word; a block leaves those of other tiles' bins alone. */
template <> struct Quad<uint16_t> {
  typedef uint64_t Sum;
  static const int IN_FLIGHT = 2;

  template <typename Table>
  __device__ static void
  count(const GhLaunch &launch, Table *table, const uint4 &quad, Sum *sum)
  {
    uint32_t part = 0; /* of 8 samples */

    word(launch, table, quad.x, &part);
    word(launch, table, quad.y, &part);
    word(launch, table, quad.z, &part);
    word(launch, table, quad.w, &part);
    *sum += part;
  }
  template <typename Table>
  __device__ static void
  one(const GhLaunch &launch, Table *table, uint16_t sample, Sum *sum)
  {
    uint32_t part = 0;

    half(launch, table, in_order(launch, sample), &part);
    *sum += part;
  }

private:
  __device__ static uint32_t
  in_order(const GhLaunch &launch, uint32_t word)
  {
    return launch.format.packing == GH_WORDS_BE ? __byte_perm(word, 0, 0x2301)
                                                : word;
  }
  /* The lower half of `word`. */
  template <typename Table>
  __device__ static void
  half(const GhLaunch &launch, Table *table, uint32_t word, uint32_t *sum)
  {
    uint32_t sample =
        word >> launch.format.shift & ((1u << launch.format.depth) - 1);
    uint32_t bin = sample >> launch.shift;

    *sum += sample;
    if constexpr (Table::WHOLE)
      table->add(bin);
    else
      table->add_below(bin - tile_first(launch), tile_size(launch));
  }
  template <typename Table>
  __device__ static void
  word(const GhLaunch &launch, Table *table, uint32_t word, uint32_t *sum)
  {
    word = in_order(launch, word);
    half(launch, table, word, sum);
    half(launch, table, word >> 16, sum);
  }
};

template <> struct Quad<uint32_t> {
  typedef uint64_t Sum;
  static const int IN_FLIGHT = 3;

  template <typename Table>
  __device__ static void
  count(const GhLaunch &launch, Table *table, const uint4 &quad, Sum *sum)
  {
    one(launch, table, quad.x, sum);
    one(launch, table, quad.y, sum);
    one(launch, table, quad.z, sum);
    one(launch, table, quad.w, sum);
  }
  template <typename Table>
  __device__ static void
  one(const GhLaunch &launch, Table *table, uint32_t sample, Sum *sum)
  {
    table->add_below(sample - tile_first(launch), tile_size(launch));
    *sum += sample;
  }
};

/* The sum has two steps, before and after the barrier that ends the counting:
 * warps, then one warp for the block. */
__device__ static unsigned long long
sum_of_warp(unsigned long long sum)
{
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  return sum;
}

__device__ static void
add_sum(const GhLaunch &launch, const unsigned long long *sums)
{
  uint32_t warps = blockDim.x / 32, lane = threadIdx.x % 32;
  unsigned long long sum;

  /* The last warp has the least to do in most merges. */
  if (threadIdx.x / 32 != warps - 1 || blockIdx.y > 0)
    return;
  sum = sum_of_warp(lane < warps ? sums[lane] : 0);
  if (lane == 0 && sum > 0)
    atomicAdd(reinterpret_cast<unsigned long long *>(&launch.counts->sum), sum);
}

/* Zeroes what the next launch adds to. */
__device__ static void
clear_next(const GhLaunch &launch)
{
  uint32_t *bins = reinterpret_cast<uint32_t *>(launch.next + 1);
  uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;

  if (!launch.next || blockIdx.y > 0)
    return;
  for (uint32_t b = first; b < launch.bins; b += gridDim.x * blockDim.x)
    bins[GH_DEVICE_COUNTS_BIN(b, launch.apart)] = 0;
  if (first == 0)
    launch.next->sum = 0;
}

/* The block that takes the last ticket sees the counts of all others and moves
 * them to the result, which may be memory of the host. */
__device__ static void
hand_over(const GhLaunch &launch)
{
  const uint32_t BATCH = 8;
  uint32_t *to = reinterpret_cast<uint32_t *>(launch.result + 1);
  __shared__ bool last;

  if (!launch.result)
    return;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(&launch.counts->ticket, 1u) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (!last)
    return;
  __threadfence();
  for (uint32_t b = threadIdx.x; b < launch.bins; b += BATCH * blockDim.x) {
    uint32_t n[BATCH];

    /* Together, as each comes from far away. */
#pragma unroll
    for (uint32_t i = 0; i < BATCH; i++)
      if (b + i * blockDim.x < launch.bins)
        n[i] = __ldcg(grid_count(launch, b + i * blockDim.x));
#pragma unroll
    for (uint32_t i = 0; i < BATCH; i++)
      if (b + i * blockDim.x < launch.bins) {
        to[b + i * blockDim.x] = n[i];
        *grid_count(launch, b + i * blockDim.x) = 0;
      }
  }
  if (threadIdx.x == 0) {
    launch.result->sum = __ldcg(&launch.counts->sum);
    launch.counts->sum = 0;
    launch.counts->ticket = 0;
  }
}

template <typename Sample, typename Walk, typename Table>
__device__ static void
histogram(const GhLaunch &launch)
{
  __shared__ unsigned long long sums[32];
  const int QUADS = Quad<Sample>::IN_FLIGHT;
  const uint32_t step = gridDim.x * blockDim.x * QUADS;
  uint4 now[QUADS], coming[QUADS];
  bool has_now[QUADS], has_coming[QUADS];
  typename Quad<Sample>::Sum sum = 0;
  Table table(launch);
  Walk walk(launch);

#pragma unroll
  for (int i = 0; i < QUADS; i++)
    has_now[i] = walk.load(&now[i]);
  table.clear(launch);
  clear_next(launch);
  __syncthreads();

  /* The same rounds for all threads of a block. */
  for (uint32_t n = blockIdx.x * blockDim.x; n < launch.quads; n += step) {
#pragma unroll
    for (int i = 0; i < QUADS; i++)
      has_coming[i] = walk.load(&coming[i]);
#pragma unroll
    for (int i = 0; i < QUADS; i++)
      if (has_now[i])
        Quad<Sample>::count(launch, &table, now[i], &sum);
#pragma unroll
    for (int i = 0; i < QUADS; i++) {
      now[i] = coming[i];
      has_now[i] = has_coming[i];
    }
  }
  Walk::template edges<Sample>(launch, [&](Sample sample) {
    Quad<Sample>::one(launch, &table, sample, &sum);
  });

  unsigned long long warp_sum = sum_of_warp(sum);

  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = warp_sum;
  __syncthreads();
  table.merge(launch);
  add_sum(launch, sums);
  hand_over(launch);
}
