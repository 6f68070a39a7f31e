/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cells of a frame, each counted by blocks of its own; and samples of every
 * kind, one by one. */

#pragma once

#include "histogram.cuh"
#include "sample.h"

/* How the grid walks over a cell that did not come along. */
__device__ static GhCell
read_cell(const GhLaunch &launch)
{
  GhCell cell = {launch.cells[blockIdx.z], {0, 0, 0, 0}};
  uint64_t row_size = (uint64_t)cell.rect.width * launch.format.step;

  cell.walk = gh_walk(gh_row_quads(row_size), gridDim.x * blockDim.x);
  return cell;
}

/* Memory of the cell, where all of it begins at `first`. */
template <typename Type>
__device__ static Type *
part_of(Type *first, uint64_t words)
{
  return reinterpret_cast<Type *>(reinterpret_cast<uint32_t *>(first) +
                                  blockIdx.z * words);
}

/* What a block has to do for the cell that it belongs to, as if that were the
 * whole frame. */
__device__ static GhLaunch
launch_of_cell(const GhCellsLaunch &all)
{
  const GhLaunch &launch = all.launch;
  uint64_t words = GH_DEVICE_COUNTS_WORDS(launch.bins, launch.apart);
  GhLaunch own = launch;

  if (launch.n_cells == 0)
    return own;
  const GhCell cell = launch.cells ? read_cell(launch) : all.cells[blockIdx.z];
  const GhRect rect = cell.rect;

  own.samples += rect.y * launch.pitch + (uint64_t)rect.x * launch.format.step;
  own.row_size = (uint64_t)rect.width * launch.format.step;
  own.rows = rect.height;
  own.walk = cell.walk;
  own.quads = own.rows * own.walk.row_quads;
  own.first = rect.x;
  own.width = rect.width;
  own.counts = part_of(launch.counts, words);
  if (launch.next)
    own.next = part_of(launch.next, words);
  if (launch.result)
    own.result = part_of(launch.result, GH_COUNTS_WORDS(launch.bins));
  return own;
}

template <typename Sample, typename Walk, typename Table>
__device__ static void
histogram_of_cell(const GhCellsLaunch &all)
{
  histogram<Sample, Walk, Table>(launch_of_cell(all));
}

/* The start of a row for gh_sample(), which counts from the frame's first
 * column on. */
__device__ static const uint8_t *
row_of_cell(const GhLaunch &own, uint32_t row)
{
  return own.samples - (uint64_t)own.first * own.format.step + row * own.pitch;
}

/* For samples that are of no other kind. */
template <typename Table>
__device__ static void
histogram_of_any(const GhCellsLaunch &all)
{
  __shared__ unsigned long long sums[32];
  const GhLaunch own = launch_of_cell(all);
  uint32_t n = own.rows * own.width, step = gridDim.x * blockDim.x;
  unsigned long long sum = 0;
  Table table(own);

  table.clear(own);
  clear_next(own);
  __syncthreads();
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    uint32_t row = (uint32_t)i / own.width, x = (uint32_t)i % own.width;
    uint32_t sample =
        gh_sample(&own.format, row_of_cell(own, row), own.first + x);
    uint32_t bin = (sample >> own.shift) - tile_first(own);

    sum += sample;
    table.add_below(bin, tile_size(own));
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  table.merge(own);
  add_sum(own, sums);
  hand_over(own);
}

/* A warp a row. */
__device__ static void
sum_rows(const GhLaunch &launch)
{
  uint32_t warps = gridDim.x * (blockDim.x / 32), lane = threadIdx.x % 32;
  uint32_t row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;

  for (; row < launch.rows; row += warps) {
    const uint8_t *start = launch.samples + row * launch.pitch;
    unsigned long long sum = 0;

    for (uint32_t x = lane; x < launch.width; x += 32)
      sum += gh_sample(&launch.format, start, x);
    sum = sum_of_warp(sum);
    if (lane == 0)
      launch.row_sums[row] = sum;
  }
}
