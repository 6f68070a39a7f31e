/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels that sort. They are many times the size of the others, so they
 * are loaded only where they are asked for. */

#include "kernel.cuh"
#include "sort.cuh"

KERNEL(gh_u8_sort, GH_SORT_THREADS, sort_histogram<PlainKeys<uint8_t>>)
KERNEL(gh_u32_sort, GH_SORT_THREADS, sort_histogram<PlainKeys<uint32_t>>)
CELLS_KERNEL(gh_any_sort, GH_SORT_THREADS, sort_histogram<AnyKeys>)
