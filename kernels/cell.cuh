/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cells of a frame, each counted by blocks of its own; and samples of every
 * kind, one by one. */

#pragma once

#include "histogram.cuh"

/* How the grid walks over a cell that did not come along. */
__device__ static GhCell
read_cell(const GhLaunch &launch)
{
  uint32_t threads = gridDim.x * blockDim.x;
  GhCell cell = {launch.cells[blockIdx.z], 0, 0, 0, 0};

  cell.row_quads = max(cell.rect.width * launch.format.step / 16, 1u);
  cell.step_rows = threads / cell.row_quads;
  cell.step_quads = threads % cell.row_quads;
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
  own.row_quads = cell.row_quads;
  own.row_inverse = cell.row_inverse;
  own.quads = own.rows * own.row_quads;
  own.step_rows = cell.step_rows;
  own.step_quads = cell.step_quads;
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

/* Sample x of a row. Read byte by byte, as it may lie anywhere. */
__device__ static uint32_t
read_sample(const GhFormat &format, const uint8_t *row, uint32_t x)
{
  uint32_t group = 0, in_group = 0;
  const uint8_t *at = row + (uint64_t)x * format.step;

  switch (format.packing) {
  case GH_BYTES:
    return at[0] >> format.shift & ((1u << format.depth) - 1);
  case GH_WORDS_BE:
    return (at[1] | at[0] << 8) >> format.shift & ((1u << format.depth) - 1);
  case GH_TENS_LE32:
    group = x / 3 * 4;
    in_group = x % 3;
    break;
  case GH_TENS_LE40:
    group = x / 4 * 5;
    in_group = x % 4;
    break;
  default:
    return (at[0] | at[1] << 8) >> format.shift & ((1u << format.depth) - 1);
  }
  at = row + group + in_group;
  return (at[0] | at[1] << 8) >> (in_group * 2) & 0x3ff;
}

/* The start of a row for read_sample(), which counts from the frame's first
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
        read_sample(own.format, row_of_cell(own, row), own.first + x);
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
      sum += read_sample(launch.format, start, x);
    sum = sum_of_warp(sum);
    if (lane == 0)
      launch.row_sums[row] = sum;
  }
}
