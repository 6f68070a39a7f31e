/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What host and device code have to agree about. */

#pragma once

#include <stdint.h>

/*
 * Counts in device or pinned memory, followed by a uint32_t for each bin. They
 * are exact below 2^32 samples. The head fills a line of the cache, so that
 * the bins begin on one: blocks add to them a line at a time.
 */
typedef struct {
  uint64_t sum;    /* Σ samples */
  uint32_t ticket; /* blocks of the grid that are done */
  uint32_t unused[29];
} GhDeviceCounts;

#define GH_DEVICE_COUNTS_WORDS(bins) \
  ((uint32_t)(sizeof(GhDeviceCounts) / 4) + (uint32_t)(bins))

/*
 * The argument of every kernel: the frame, how the grid walks over it, and
 * where the counts go. Rows are walked in quads: pieces of 16 bytes on a
 * 16-byte boundary; what a row has before its first and after its last quad
 * is counted a sample at a time.
 */
typedef struct {
  const uint8_t *samples; /* in device memory, aligned to a sample */
  uint64_t pitch;         /* bytes from one row to the next */
  uint64_t row_size;      /* bytes of samples in a row */
  uint32_t rows;
  uint32_t row_quads;  /* most quads that a row can have, at least 1 */
  uint32_t quads;      /* rows × row_quads; of one row the whole quads */
  uint32_t step_rows;  /* threads of the grid, as whole rows of quads ... */
  uint32_t step_quads; /* ... and what is left, below row_quads */

  uint32_t bins;      /* of the whole range; sample v is in bin v */
  uint32_t tile_bins; /* that one block counts; blockIdx.y is the tile */
  uint32_t copies;    /* of a block's table: one a warp, or one a lane */

  GhDeviceCounts *counts; /* all zero */
  GhDeviceCounts *next;   /* others for the kernel to zero, or NULL */
  GhDeviceCounts *result; /* where the grid's last block moves the counts,
                             leaving zeros; NULL leaves them in counts */
} GhLaunch;

/* Threads of a block. */
#define GH_LANES_THREADS 512
#define GH_TABLES_THREADS 256
#define GH_SORT_THREADS 256

/* Samples that a block sorts at a time. */
#define GH_SORT_SAMPLES (GH_SORT_THREADS * 16)
