/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What host and device code have to agree about. */

#pragma once

#include <stdint.h>

#define GH_BLOCK_WARPS 8
#define GH_BLOCK_THREADS (32 * GH_BLOCK_WARPS)
#define GH_DEVICE_LEVELS 256
#define GH_KERNEL_U8 "gh_histogram_u8"

/* The kernel adds to it; it has to be zeroed before. */
typedef struct {
  uint32_t count[GH_DEVICE_LEVELS]; /* exact below 2^32 samples */
  uint64_t sum;
} GhDeviceCounts;
