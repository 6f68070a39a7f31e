/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels, by the names under which kernels.c finds them. */

#include "histogram.cuh"
#include "kernel.cuh"

#define COUNT(...) histogram<__VA_ARGS__>

KERNEL(gh_u8_global, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, GlobalTable)))
KERNEL(gh_u8_tables, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, WarpTables)))
KERNEL(gh_u8_lanes, GH_LANES_THREADS, (COUNT(uint8_t, RowWalk, LaneColumns)))
KERNEL(gh_u8_lanes_flat, GH_LANES_THREADS,
       (COUNT(uint8_t, FlatWalk, LaneColumns)))
KERNEL(gh_u32_global, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, GlobalTable)))
KERNEL(gh_u32_tables, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, WarpTables)))
KERNEL(gh_u32_lanes, GH_LANES_THREADS, (COUNT(uint32_t, FlatWalk, LaneCopies)))
