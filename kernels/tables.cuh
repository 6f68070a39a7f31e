/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where a block counts. Each algorithm is one of these classes; histogram()
 * does the rest. A class gives a thread its place (constructor), zeroes the
 * block's tables (clear), counts the bin of a sample (add), if it is below a
 * number (add_below), or the four bytes of a word (add_word), and adds the
 * tables up in the grid's counts (merge).
 * Between clear, add and merge there is a barrier. WHOLE tables have all the
 * bins; others may have a tile of them.
 */

#pragma once

#include "launch.h"

extern __shared__ __align__(16) uint8_t gh_shared[];

__device__ static uint32_t *
shared_word(uint32_t index)
{
  return reinterpret_cast<uint32_t *>(gh_shared) + index;
}

/* First of the bins of this block's tile. */
__device__ static uint32_t
tile_first(const GhLaunch &launch)
{
  return blockIdx.y * launch.tile_bins;
}

__device__ static uint32_t
tile_size(const GhLaunch &launch)
{
  return min(launch.tile_bins, launch.bins - tile_first(launch));
}

/* The grid's count of a bin. */
__device__ static uint32_t *
grid_count(const GhLaunch &launch, uint32_t bin)
{
  return reinterpret_cast<uint32_t *>(launch.counts + 1) +
         GH_DEVICE_COUNTS_BIN(bin, launch.apart);
}

__device__ static void
clear_shared(uint32_t words)
{
  uint4 *quads = reinterpret_cast<uint4 *>(gh_shared);

  for (uint32_t i = threadIdx.x; i < (words + 3) / 4; i += blockDim.x)
    quads[i] = make_uint4(0, 0, 0, 0);
}

/* Bins of the tile that nobody hit cost no atomic. */
__device__ static void
add_to_grid(const GhLaunch &launch, uint32_t bin, uint32_t n)
{
  if (n > 0)
    atomicAdd(grid_count(launch, tile_first(launch) + bin), n);
}

template <typename Table>
__device__ static void
add_bytes(Table *table, uint32_t word)
{
  table->add(word & 0xff);
  table->add((word >> 8) & 0xff);
  table->add((word >> 16) & 0xff);
  table->add(word >> 24);
}

/* No table: every sample is an atomic in device memory. */
class GlobalTable
{
public:
  static const bool WHOLE = true;

  __device__ explicit GlobalTable(const GhLaunch &launch) : launch(launch)
  {
  }
  __device__ void
  clear(const GhLaunch &)
  {
  }
  __device__ void
  add(uint32_t bin)
  {
    atomicAdd(grid_count(launch, bin), 1u);
  }
  __device__ void
  add_below(uint32_t bin, uint32_t bins)
  {
    if (bin < bins)
      add(bin);
  }
  __device__ void
  add_word(uint32_t word)
  {
    add_bytes(this, word);
  }
  __device__ void
  merge(const GhLaunch &)
  {
  }

private:
  const GhLaunch &launch;
};

/* `copies` tables one after the other, which the warps share evenly: one is a
 * table a block, as many as warps is a table a warp. See Podlozhnyuk,
 * "Histogram calculation in CUDA", NVIDIA 2007. */
class WarpTables
{
public:
  static const bool WHOLE = false;

  __device__ explicit WarpTables(const GhLaunch &launch)
      : first(threadIdx.x / 32 % launch.copies * launch.tile_bins)
  {
  }
  __device__ void
  clear(const GhLaunch &launch)
  {
    clear_shared(launch.copies * launch.tile_bins);
  }
  __device__ void
  add(uint32_t bin)
  {
    atomicAdd(shared_word(first + bin), 1u);
  }
  __device__ void
  add_below(uint32_t bin, uint32_t bins)
  {
    if (bin < bins)
      add(bin);
  }
  __device__ void
  add_word(uint32_t word)
  {
    add_bytes(this, word);
  }
  __device__ void
  merge(const GhLaunch &launch)
  {
    for (uint32_t b = threadIdx.x; b < tile_size(launch); b += blockDim.x) {
      uint32_t n = 0;

      for (uint32_t copy = 0; copy < launch.copies; copy++)
        n += *shared_word(copy * launch.tile_bins + b);
      add_to_grid(launch, b, n);
    }
  }

private:
  uint32_t first;
};

/*
 * The copies side by side: the counter of (bin, lane) is word bin * 32 + lane.
 * So the bank is the lane's number, no two lanes of a warp ever meet, and the
 * content of the frame does not matter. 256 bins.
 */
class LaneColumns
{
public:
  static const bool WHOLE = true;

  __device__ explicit LaneColumns(const GhLaunch &) : lane(threadIdx.x % 32 * 4)
  {
  }
  __device__ void
  clear(const GhLaunch &)
  {
    clear_shared(256 * 32);
  }
  __device__ void
  add(uint32_t bin)
  {
    count(bin << 7);
  }
  /* The shift that picks a byte also multiplies it by 128. */
  __device__ void
  add_word(uint32_t word)
  {
    count(word << 7 & 0x7f80);
    count(word >> 1 & 0x7f80);
    count(word >> 9 & 0x7f80);
    count(word >> 17 & 0x7f80);
  }
  /* A thread a bin, so that a warp adds to whole sectors. Neighbours start at
   * different quads of their rows, and so in different banks. */
  __device__ void
  merge(const GhLaunch &launch)
  {
    const uint4 *quads = reinterpret_cast<const uint4 *>(gh_shared);

    for (uint32_t b = threadIdx.x; b < launch.bins; b += blockDim.x) {
      uint32_t n = 0;

#pragma unroll
      for (uint32_t i = 0; i < 8; i++) {
        uint4 quad = quads[b * 8 + (i + b) % 8];

        n += quad.x + quad.y + quad.z + quad.w;
      }
      add_to_grid(launch, b, n);
    }
  }

private:
  __device__ void
  count(uint32_t row)
  {
    atomicAdd(reinterpret_cast<uint32_t *>(gh_shared + (row | lane)), 1u);
  }

  uint32_t lane; /* its offset in a row, in bytes */
};

/* The same for any number of bins: `copies`, a power of two up to 32, columns,
 * as many as fit. What is in none of the bins is counted in a row behind them:
 * a branch around it would take longer. */
class LaneCopies
{
public:
  static const bool WHOLE = false;

  __device__ explicit LaneCopies(const GhLaunch &launch)
      : columns(launch.copies), column((uint32_t)__cvta_generic_to_shared(
                                    shared_word(threadIdx.x % launch.copies)))
  {
  }
  __device__ void
  clear(const GhLaunch &launch)
  {
    clear_shared(columns * launch.tile_bins);
  }
  __device__ void
  add_below(uint32_t bin, uint32_t bins)
  {
    asm volatile("red.shared.add.u32 [%0], 1;"
                 :
                 : "r"(column + min(bin, bins) * (4 * columns))
                 : "memory");
  }
  __device__ void
  merge(const GhLaunch &launch)
  {
    for (uint32_t b = threadIdx.x; b < tile_size(launch); b += blockDim.x) {
      uint32_t n = 0;

      for (uint32_t i = 0; i < columns; i++)
        n += *shared_word(b * columns + (i + threadIdx.x) % columns);
      add_to_grid(launch, b, n);
    }
  }

private:
  uint32_t columns;
  uint32_t column; /* address of its first counter in shared memory */
};
