/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels, by the names under which kernels.c finds them. */

#include "cell.cuh"
#include "kernel.cuh"

#define COUNT(...) histogram<__VA_ARGS__>
#define COUNT_CELL(...) histogram_of_cell<__VA_ARGS__>

/* Whole frames of bytes. */
KERNEL(gh_u8_global, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, GlobalTable)))
KERNEL(gh_u8_tables, GH_TABLES_THREADS, (COUNT(uint8_t, RowWalk, WarpTables)))
KERNEL(gh_u8_lanes, GH_LANES_THREADS, (COUNT(uint8_t, RowWalk, LaneColumns)))
KERNEL(gh_u8_lanes_flat, GH_LANES_THREADS,
       (COUNT(uint8_t, FlatWalk, LaneColumns)))

/* Cells of them. */
CELLS_KERNEL(gh_cells_u8_global, GH_TABLES_THREADS,
             (COUNT_CELL(uint8_t, RowWalk, GlobalTable)))
CELLS_KERNEL(gh_cells_u8_tables, GH_TABLES_THREADS,
             (COUNT_CELL(uint8_t, RowWalk, WarpTables)))
CELLS_KERNEL(gh_cells_u8_lanes, GH_LANES_THREADS,
             (COUNT_CELL(uint8_t, RowWalk, LaneColumns)))

/* Frames and cells of 16-bit words, on two bytes. */
CELLS_KERNEL(gh_u16_global, GH_TABLES_THREADS,
             (COUNT_CELL(uint16_t, RowWalk, GlobalTable)))
CELLS_KERNEL(gh_u16_tables, GH_TABLES_THREADS,
             (COUNT_CELL(uint16_t, RowWalk, WarpTables)))
CELLS_KERNEL(gh_u16_lanes, GH_LANES_THREADS,
             (COUNT_CELL(uint16_t, RowWalk, LaneColumns)))
CELLS_KERNEL(gh_u16_copies, GH_LANES_THREADS,
             (COUNT_CELL(uint16_t, RowWalk, LaneCopies)))

/* Frames and cells of whatever else. */
CELLS_KERNEL(gh_any_global, GH_TABLES_THREADS, histogram_of_any<GlobalTable>)
CELLS_KERNEL(gh_any_tables, GH_TABLES_THREADS, histogram_of_any<WarpTables>)
CELLS_KERNEL(gh_any_copies, GH_LANES_THREADS, histogram_of_any<LaneCopies>)

/* Whole arrays of 32 bits, for comparison with others. */
KERNEL(gh_u32_global, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, GlobalTable)))
KERNEL(gh_u32_tables, GH_TABLES_THREADS,
       (COUNT(uint32_t, FlatWalk, WarpTables)))
KERNEL(gh_u32_lanes, GH_LANES_THREADS, (COUNT(uint32_t, FlatWalk, LaneCopies)))

KERNEL(gh_row_sums, GH_TABLES_THREADS, sum_rows)
