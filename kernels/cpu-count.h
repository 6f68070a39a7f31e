/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting samples of a byte each on the CPU: several ways behind one
 * interface. */

#pragma once

#include "engine.h"

#define GH_BYTE_LEVELS 256u

typedef struct {
  uint64_t count[GH_BYTE_LEVELS]; /* samples of each grey level */
  uint64_t sum;                   /* Σ samples, not made from the counts */
} GhByteCounts;

/*
 * Counts the samples of `frame` and adds them to *counts. `scratch` is of
 * gh_count_scratch_new() and serves one call at a time; NULL will do for a way
 * that does not need it.
 */
typedef void (*GhCount)(const GhFrame *frame, uint32_t *scratch,
                        GhByteCounts *counts);

typedef struct {
  const char *name;
  GhCount count;
  bool needs_scratch;
} GhCountWay;

/* The names of those that gh_count_choose() takes. */
typedef enum {
  GH_COUNT_REFERENCE,
  GH_COUNT_1_TABLE,
  GH_COUNT_2_TABLES,
  GH_COUNT_4_TABLES,
  GH_COUNT_TABLES,
  GH_COUNT_RUNS,
  GH_COUNT_PAIRS,
  GH_N_COUNT_WAYS
} GhCountWayName;

/* All ways, the plain reference first. They give the same counts; tests hold
 * every one against the reference. */
extern const GhCountWay gh_count_ways[GH_N_COUNT_WAYS];

/* Memory to count in, or NULL: 65536 words, a counter for each pair of samples.
 * They are zero, as they are after each call. To be freed with free(). */
uint32_t *gh_count_scratch_new(void);

/* The way of the pairs, which has a file of its own. */
void gh_count_pairs(const GhFrame *frame, uint32_t *scratch,
                    GhByteCounts *counts);

/* The same step by step, for rows that are nowhere a frame: each row, and in
 * the end the pairs, whose counters are zero again then. */
void gh_pairs_count_row(const uint8_t *row, size_t width, uint32_t *pairs,
                        GhByteCounts *counts);
void gh_pairs_fold(uint32_t *pairs, GhByteCounts *counts);
