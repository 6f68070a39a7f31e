/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is expected of parts of a frame, by a plain count of their samples. */

#pragma once

#include "testing.h"

/* All samples of a frame, one after the other. */
typedef struct {
  GstVideoFormat format;
  guint width, height, depth;
  guint16 *levels;
} TestSamples;

/* Reads the first plane of @buffer, by the strides and offsets in force. */
void test_samples_read(TestSamples *samples, GstBuffer *buffer,
                       const GstVideoInfo *info);
void test_samples_clear(TestSamples *samples);

/* A frame whose samples may have any level that they can. */
GstBuffer *test_noise_frame(const GstVideoInfo *info, const TestLayout *layout,
                            GRand *random);

typedef struct {
  gint id;
  GstVideoRectangle part;
} TestRegion;

/* The meta lies in the frame and is exact in the part that it names. */
void test_check_part(const TestSamples *samples,
                     const GstGpuHistogramMeta *meta, guint n_bins);

/* The buffer has a meta of the whole frame, and then those of these regions in
 * that order, and no more; each is exact. */
void test_check_regions(GstBuffer *buffer, const GstVideoInfo *info,
                        guint n_bins, const TestRegion *regions, guint n);

/* Every meta of the buffer is exact, and the first is of the whole. Returns how
 * many there are beside that. */
guint test_check_any_regions(GstBuffer *buffer, const GstVideoInfo *info,
                             guint n_bins);

/* The metas of zones, and no others but the whole's before them, tile the frame
 * row by row, and add up to the whole. */
void test_check_zones(GstBuffer *buffer, const GstVideoInfo *info, guint n_bins,
                      guint columns, guint rows);

/* The sum of each row; none is missing. */
void test_check_rows(GstBuffer *buffer, const GstVideoInfo *info);

/* Pushes the frame and takes the next one that comes out. */
GstBuffer *test_fixture_pass(TestFixture *fixture, GstBuffer *buffer);

/* A histogram message says what the meta says. */
void test_check_region_message(GstMessage *message,
                               const GstGpuHistogramMeta *meta);
