/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting samples that are not a byte each on the CPU: several ways behind one
 * interface. */

#pragma once

#include "counts.h"
#include "engine.h"

/*
 * Adds the samples of `part` to *counts, which has `counters` of them. The
 * frame's format is complete. `scratch` is of gh_count_scratch_new(), zero
 * before and afterwards, and serves one call at a time.
 */
typedef void (*GhCountWords)(const GhFrame *frame, const GhRect *part,
                             unsigned counters, uint32_t *scratch,
                             GhCounts *counts);

typedef struct {
  const char *name;
  GhCountWords count;
  unsigned least_counters; /* that it can count in ... */
  unsigned most_counters;  /* ... as a power of two */
} GhWordsWay;

typedef enum {
  GH_WORDS_REFERENCE,
  /* Up to 256 counters. */
  GH_WORDS_BYTES,
  GH_WORDS_BYTES_RUNS,
  GH_WORDS_BYTES_PAIRS,
  /* More than 256. */
  GH_WORDS_1_TABLE,
  GH_WORDS_2_TABLES,
  GH_WORDS_4_TABLES,
  GH_WORDS_8_TABLES,
  GH_WORDS_1_RUNS,
  GH_WORDS_2_RUNS,
  GH_WORDS_4_RUNS,
  GH_WORDS_8_RUNS,
  GH_N_WORDS_WAYS
} GhWordsWayName;

/* All ways, the plain reference first. They give the same counts; tests hold
 * every one against the reference. */
extern const GhWordsWay gh_words_ways[GH_N_WORDS_WAYS];

/* The sum of the samples of row y. */
uint64_t gh_words_sum_row(const GhFrame *frame, uint32_t y);
