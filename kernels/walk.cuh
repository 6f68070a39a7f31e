/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How the threads of a grid share the samples of a frame. A walk gives a
 * thread its quads in turn, and calls a function for the samples outside of
 * quads. All threads take their turns together: load() past the end gives
 * nothing.
 */

#pragma once

#include "launch.h"

/* Each quad is read once, so it need not stay in the first cache. Volatile, as
 * the compiler would move a load to where its result is needed. */
__device__ static uint4
load_quad(const uint4 *from)
{
  uint4 quad;

#if __CUDA_ARCH__ >= 700
#define LOAD_ONCE "ld.global.nc.L1::no_allocate.v4.u32"
#else
#define LOAD_ONCE "ld.global.nc.v4.u32"
#endif
  asm volatile(LOAD_ONCE " {%0, %1, %2, %3}, [%4];"
               : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w)
               : "l"(from));
  return quad;
}

/* For samples that follow each other without a gap from a 16-byte boundary
 * on. */
class FlatWalk
{
public:
  __device__ explicit FlatWalk(const GhLaunch &launch)
      : quads(reinterpret_cast<const uint4 *>(launch.samples)),
        at(blockIdx.x * blockDim.x + threadIdx.x), end(launch.quads)
  {
  }

  /* Loads the next quad; false where there is none. */
  __device__ bool
  load(uint4 *to)
  {
    bool full = at < end;

    if (full)
      *to = load_quad(quads + at);
    at += gridDim.x * blockDim.x;
    return full;
  }

  template <typename Sample, typename Count>
  __device__ static void
  edges(const GhLaunch &launch, Count count)
  {
    uint64_t at = launch.quads * 16ull + threadIdx.x * sizeof(Sample);

    if (blockIdx.x == 0 && at < launch.row_size)
      count(*reinterpret_cast<const Sample *>(launch.samples + at));
  }

private:
  const uint4 *quads;
  uint32_t at; /* below 2^28 and the threads of some grids */
  uint32_t end;
};

/* For rows of any pitch and alignment. The step from one quad to the next is
 * the same for all, so there is a division at the start and none on the way. */
class RowWalk
{
public:
  __device__ explicit RowWalk(const GhLaunch &launch) : launch(launch)
  {
    uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;

    row = launch.walk.row_inverse ? __umulhi(first, launch.walk.row_inverse)
                                  : first / launch.walk.row_quads;
    quad = first - row * launch.walk.row_quads;
  }

  __device__ bool
  load(uint4 *to)
  {
    const uint8_t *start = launch.samples + row * launch.pitch;
    uint32_t offset = head_of(start) + quad * 16;
    bool full = row < launch.rows && offset + 16 <= (uint32_t)launch.row_size;

    if (full)
      *to = load_quad(reinterpret_cast<const uint4 *>(start + offset));
    row += launch.walk.step_rows;
    quad += launch.walk.step_quads;
    if (quad >= launch.walk.row_quads) {
      quad -= launch.walk.row_quads;
      row++;
    }
    return full;
  }

  /* A warp takes a row, its lanes the bytes: at most 15 on either side. */
  template <typename Sample, typename Count>
  __device__ static void
  edges(const GhLaunch &launch, Count count)
  {
    uint32_t warps = gridDim.x * (blockDim.x / 32);
    uint32_t lane = threadIdx.x % 32;
    uint32_t row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    uint32_t size = (uint32_t)launch.row_size;

    if (((uint64_t)launch.samples | launch.pitch | launch.row_size) % 16 == 0)
      return;
    for (; row < launch.rows; row += warps) {
      const uint8_t *start = launch.samples + row * launch.pitch;
      uint32_t head = min(head_of(start), size);
      uint32_t tail = head + (size - head) / 16 * 16;
      uint32_t at = (lane < 16 ? 0 : tail) + lane % 16 * sizeof(Sample);

      if (at < (lane < 16 ? head : size))
        count(*reinterpret_cast<const Sample *>(start + at));
    }
  }

private:
  /* Bytes before the first 16-byte boundary. */
  __device__ static uint32_t
  head_of(const uint8_t *start)
  {
    return -(uint32_t) reinterpret_cast<uint64_t>(start) % 16;
  }

  const GhLaunch &launch;
  uint32_t row;
  uint32_t quad;
};
