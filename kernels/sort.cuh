/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Counting by sorting: a block sorts a tile of samples, so that equal ones lie
 * side by side, and adds each run's length to its bin with one atomic. The sort
 * and the scan are CUB's.
 */

#pragma once

#include "cell.cuh"

#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>

#define SORT_ITEMS (GH_SORT_SAMPLES / GH_SORT_THREADS)

struct Latest {
  __device__ int
  operator()(int a, int b) const
  {
    return a > b ? a : b;
  }
};

struct Differ {
  template <typename Sample>
  __device__ bool
  operator()(const Sample &a, const Sample &b) const
  {
    return a != b;
  }
};

template <typename Sample> struct SortTypes {
  typedef cub::BlockRadixSort<Sample, GH_SORT_THREADS, SORT_ITEMS> Sort;
  typedef cub::BlockDiscontinuity<Sample, GH_SORT_THREADS> Ends;
  typedef cub::BlockScan<int, GH_SORT_THREADS> Scan;

  union Storage {
    typename Sort::TempStorage sort;
    typename Ends::TempStorage ends;
    typename Scan::TempStorage scan;
  };
};

/* What sorts: samples as they are, ... */
template <typename Sample> struct PlainKeys {
  typedef Sample Key;
  typedef GhLaunch Launch;

  __device__ static GhLaunch
  launch_of(const GhLaunch &launch)
  {
    return launch;
  }
  __device__ static uint64_t
  count(const GhLaunch &own)
  {
    return own.row_size / sizeof(Sample) * own.rows;
  }
  /* Sample number `index` of the frame, row after row. */
  __device__ static Key
  key_at(const GhLaunch &own, uint64_t index, unsigned long long *sum)
  {
    uint32_t width = (uint32_t)(own.row_size / sizeof(Sample));
    uint64_t row = own.rows == 1 ? 0 : index / width;
    uint64_t column = index - row * width;
    Sample sample =
        reinterpret_cast<const Sample *>(own.samples + row * own.pitch)[column];

    *sum += sample;
    return sample;
  }
};

/* ... or the bins of samples of any kind, of a cell. */
struct AnyKeys {
  typedef uint16_t Key;
  typedef GhCellsLaunch Launch;

  __device__ static GhLaunch
  launch_of(const GhCellsLaunch &all)
  {
    return launch_of_cell(all);
  }
  __device__ static uint64_t
  count(const GhLaunch &own)
  {
    return (uint64_t)own.rows * own.width;
  }
  __device__ static Key
  key_at(const GhLaunch &own, uint64_t index, unsigned long long *sum)
  {
    uint32_t row = (uint32_t)index / own.width;
    uint32_t x = (uint32_t)index % own.width;
    uint32_t sample =
        gh_sample(&own.format, row_of_cell(own, row), own.first + x);

    *sum += sample;
    return (Key)(sample >> own.shift);
  }
};

/* Adds the runs of a sorted tile to the grid's bins. Each run has one last
 * sample, whose position tells its length with that of its first one. Samples
 * from `valid` on are no samples. */
template <typename Sample>
__device__ static void
add_runs(const GhLaunch &launch, Sample (&sorted)[SORT_ITEMS], uint32_t valid,
         typename SortTypes<Sample>::Storage *storage)
{
  typedef SortTypes<Sample> Types;
  int first[SORT_ITEMS], last[SORT_ITEMS];

  typename Types::Ends(storage->ends)
      .FlagHeadsAndTails(first, last, sorted, Differ());
  __syncthreads();
  for (int i = 0; i < SORT_ITEMS; i++)
    first[i] = first[i] ? (int)threadIdx.x * SORT_ITEMS + i : 0;
  typename Types::Scan(storage->scan).InclusiveScan(first, first, Latest());
  __syncthreads();
  for (int i = 0; i < SORT_ITEMS; i++) {
    uint32_t at = threadIdx.x * SORT_ITEMS + i;
    bool ends = at < valid && (last[i] || at == valid - 1);

    if (ends && sorted[i] < launch.bins)
      add_to_grid(launch, sorted[i], at + 1 - (uint32_t)first[i]);
  }
}

template <typename Keys>
__device__ static void
sort_histogram(const typename Keys::Launch &launch)
{
  typedef typename Keys::Key Key;
  typedef SortTypes<Key> Types;
  __shared__ typename Types::Storage storage;
  __shared__ unsigned long long sums[32];
  const GhLaunch own = Keys::launch_of(launch);
  uint64_t n = Keys::count(own);
  uint64_t step = (uint64_t)gridDim.x * GH_SORT_SAMPLES;
  unsigned long long sum = 0;

  clear_next(own);
  for (uint64_t tile = (uint64_t)blockIdx.x * GH_SORT_SAMPLES; tile < n;
       tile += step) {
    uint32_t valid = (uint32_t)min(n - tile, (uint64_t)GH_SORT_SAMPLES);
    Key keys[SORT_ITEMS];

    /* What is missing in the last tile sorts behind everything. */
    for (int i = 0; i < SORT_ITEMS; i++) {
      uint32_t at = i * GH_SORT_THREADS + threadIdx.x;

      keys[i] = at < valid ? Keys::key_at(own, tile + at, &sum) : ~(Key)0;
    }
    typename Types::Sort(storage.sort).Sort(keys);
    __syncthreads();
    add_runs(own, keys, valid, &storage);
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  add_sum(own, sums);
  hand_over(own);
}
