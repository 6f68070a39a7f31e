/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What host and device code have to agree about. */

#pragma once

#include "counts.h"
#include "sample.h"

/*
 * Where the blocks of a grid add up what they counted: followed by a uint32_t
 * for each bin, exact below 2^32 samples. All blocks come at the same time, and
 * the second cache takes additions to different parts of it side by side but
 * those to one part in turn. So few bins that all blocks add to lie apart: 8 of
 * them, a sector of the cache, begin 256 bytes after the 8 before.
 */
typedef struct {
  uint64_t sum;    /* Σ samples */
  uint32_t ticket; /* blocks of the grid that are done */
  uint32_t unused[61];
} GhDeviceCounts;

#define GH_APART_BINS 1024u /* at most; more of them are enough to share */

/* Place of a bin, in words behind the GhDeviceCounts. */
#define GH_DEVICE_COUNTS_BIN(bin, apart) \
  ((apart) ? (bin) / 8 * 64 + (bin) % 8 : (bin))
#define GH_DEVICE_COUNTS_WORDS(bins, apart)   \
  ((uint32_t)(sizeof(GhDeviceCounts) / 4) +   \
   ((apart) ? ((uint32_t)(bins) + 7) / 8 * 64 \
            : ((uint32_t)(bins) + 1) / 2 * 2))

/*
 * How the threads of a grid walk over rows. Rows are walked in quads: pieces of
 * 16 bytes on a 16-byte boundary; what a row has before its first and after its
 * last quad is counted a sample at a time.
 */
typedef struct {
  uint32_t row_quads;   /* most quads that a row can have, at least 1 */
  uint32_t row_inverse; /* 2^32 / row_quads, rounded up, where the upper word of
                           a product with it divides exactly; else 0 */
  uint32_t step_rows;   /* threads of the grid, as whole rows of quads ... */
  uint32_t step_quads;  /* ... and what is left, below row_quads */
} GhWalk;

/* The row_quads of rows of so many bytes. */
GH_ON_DEVICE static inline uint32_t
gh_row_quads(uint64_t row_size)
{
  return row_size < 16 ? 1 : (uint32_t)(row_size / 16);
}

/* The walk of so many threads, with row_inverse 0. */
GH_ON_DEVICE static inline GhWalk
gh_walk(uint32_t row_quads, uint32_t threads)
{
  GhWalk walk = {row_quads, 0, threads / row_quads, threads % row_quads};

  return walk;
}

/* The argument of every kernel: the frame, how the grid walks over it, and
 * where the counts go. */
typedef struct {
  const uint8_t *samples; /* in device memory, aligned to a sample */
  uint64_t pitch;         /* bytes from one row to the next */
  uint64_t row_size;      /* bytes of samples in a row */
  uint32_t rows;
  uint32_t quads; /* rows × row_quads; of one row the whole quads */
  GhWalk walk;

  /* For samples that are not a byte each. */
  GhFormat format; /* complete */
  uint32_t width;  /* samples in a row, where rows are not taken for one */
  uint32_t first;  /* the first one of them that is counted */
  uint32_t shift;  /* bin = sample >> shift */

  /* For kernels that count cells, blockIdx.z each. */
  uint32_t n_cells;    /* 0: one, which is all */
  const GhRect *cells; /* where they are more than GH_FEW_CELLS */

  uint32_t bins;      /* of the whole range */
  uint32_t tile_bins; /* that one block counts; blockIdx.y is the tile */
  uint32_t copies;    /* of a block's table: one a warp, or one a lane */
  uint32_t apart;     /* whether the bins lie apart in the counts */

  /* Of each cell, one after the other. */
  GhDeviceCounts *counts; /* all zero */
  GhDeviceCounts *next;   /* others for the kernel to zero, or NULL */
  GhCounts *result;   /* where the last block moves the counts, leaving zeros;
                         NULL leaves them in counts */
  uint64_t *row_sums; /* of each row, for the kernel that does only that */
} GhLaunch;

/* For kernels that count cells: few of them come along, as reading them from
 * memory would take as long as a small frame. */
#define GH_FEW_CELLS 64u

typedef struct {
  GhRect rect;
  GhWalk walk;
} GhCell;

typedef struct {
  GhLaunch launch;
  GhCell cells[GH_FEW_CELLS];
} GhCellsLaunch;

/* Threads of a block. */
#define GH_LANES_THREADS 1024
#define GH_TABLES_THREADS 256
#define GH_SORT_THREADS 256

/* Samples that a block sorts at a time. */
#define GH_SORT_SAMPLES (GH_SORT_THREADS * 16)
