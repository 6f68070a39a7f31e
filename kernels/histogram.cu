/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels, by the names under which kernels.c finds them. */

#include "histogram.cuh"
#include "sort.cuh"

/* CUDA 11.7 brought it, for these architectures. */
#if __CUDA_ARCH__ >= 700 && \
    __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define ARGUMENT const __grid_constant__ GhLaunch
#else
#define ARGUMENT const GhLaunch
#endif

#define KERNEL(name, threads, function)                                       \
  extern "C" __global__ void __launch_bounds__(threads) name(ARGUMENT launch) \
  {                                                                           \
    function(launch);                                                         \
  }

#define COUNT(...) histogram<__VA_ARGS__>

KERNEL(gh_u8_global, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, GlobalTable)))
KERNEL(gh_u8_tables, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, WarpTables)))
KERNEL(gh_u8_lanes, GH_LANES_THREADS, (COUNT(uint8_t, RowWalk, LaneColumns)))
KERNEL(gh_u8_lanes_flat, GH_LANES_THREADS,
       (COUNT(uint8_t, FlatWalk, LaneColumns)))
KERNEL(gh_u8_sort, GH_SORT_THREADS, sort_histogram<uint8_t>)
KERNEL(gh_u32_global, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, GlobalTable)))
KERNEL(gh_u32_tables, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, WarpTables)))
KERNEL(gh_u32_lanes, GH_LANES_THREADS, (COUNT(uint32_t, FlatWalk, LaneCopies)))
KERNEL(gh_u32_sort, GH_SORT_THREADS, sort_histogram<uint32_t>)
