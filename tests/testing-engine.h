/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the tests of the engines share: the engine under test, the plain count,
 * and random frames in memory that must not be left. */

#pragma once

#include "engine.h"

#include <gst/check/gstcheck.h>

/* The engine that GPUHISTOGRAM_TEST_ENGINE names; see testing.h. */
GhEngineKind test_engine_kind(void);

GhEngine *test_engine_open(guint depth, guint bins, guint n_threads);
void test_engine_submit(GhEngine *engine, const GhFrame *frame);
void test_engine_collect(GhEngine *engine, GhResult *result);

/* Bits of a sample. */
guint test_engine_depth(const GhFormat *format);

/* Counts the frame with the engine and without one, and compares each bin of
 * the whole and of its regions, and the sum of each row, with a plain loop. */
void test_engine_measure(GhEngine *engine, const GhFrame *frame, guint bins);

/* 1, or as many times as slow as GPUHISTOGRAM_TEST_SCALE says that a sanitizer
 * makes a test. */
guint test_engine_scale(void);

/* A number for each index, as good as random. */
guint64 test_engine_scramble(gsize i);

/* Whether memory of gh_count_scratch_new() is as it has to be after a call. */
gboolean test_engine_is_zero(const guint32 *scratch);

/* A generator whose seed is printed; GPUHISTOGRAM_TEST_SEED overrides it. */
GRand *test_engine_random(void);

/* Memory that ends where a page begins that may not be touched. */
typedef struct {
  guint8 *start;
  gsize size;
  gsize mapped;
} Guarded;

/* A frame of any size, stride and content, at the very end of its memory. */
void test_engine_frame(GRand *random, Guarded *guarded, GhFrame *frame);
/* Likewise, of any format that has enough levels for so many bins. */
void test_engine_frame_of(GRand *random, guint bins, Guarded *guarded,
                          GhFrame *frame);
/* Gives the frame n regions, which overlap as they will. */
void test_engine_regions(GRand *random, GhFrame *frame, GhRect *regions,
                         guint n);
/* Noise of the size and stride that are set in *frame, at the same place. */
void test_engine_noise(GRand *random, Guarded *guarded, GhFrame *frame);
void test_engine_frame_free(Guarded *guarded);

/* Runs the suite; exit status 77 where its engine is not to be had. */
int test_engine_main(int argc, char **argv, Suite *(*suite)(void),
                     const char *name);
