/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The parts of gpuhistogram-bench-element: a source makes the buffers of one
 * case, a stream takes them through one element, and a run times that.
 * One case runs at a time; all functions belong to the main thread.
 */

#pragma once

#include "content.h"

#include <gst/video/video.h>

#define BENCH_HISTOGRAM "gpuhistogram"

/* How the frames come. */
typedef enum {
  BENCH_WAY_POOL,         /* from the pool that the element proposes */
  BENCH_WAY_ORDINARY,     /* another GstMemory each time, out of the cache */
  BENCH_WAY_RECYCLED,     /* from a pool of system memory */
  BENCH_WAY_UNREGISTERED, /* the same, with register-memory off */
  BENCH_WAY_CUDA,         /* from a pool of the device's memory */
} BenchWay;

typedef struct {
  const gchar *element; /* name of its factory */
  const gchar *engine;
  const gchar *format;
  gint width, height; /* pixels */
  BenchWay way;
  const BenchContent *content;
  gint async_depth; /* 0 = as the element has it */
  gint n_frames;    /* to be timed; 0 = those of a second */
  gboolean messages;
  /* Each frame is written before it goes in, with a level of its own, and its
   * meta is checked when it comes out. */
  gboolean verify;
} BenchCase;

typedef enum {
  BENCH_DONE,
  BENCH_SKIPPED, /* the case is not possible here */
  BENCH_FAILED,
} BenchOutcome;

typedef struct {
  guint64 n_frames;
  gdouble seconds;
  gdouble cpu;              /* seconds, over all threads */
  guint64 uploaded, copied; /* bytes */
  gchar *engine, *device;   /* empty where the element does not say */
  gchar *reason;            /* of the choice of the engine */
} BenchFigures;

/* Unless BENCH_DONE, @why is (transfer full) and @figures is not set. */
BenchOutcome bench_case_run(const BenchCase *what, BenchFigures *figures,
                            gchar **why);

void bench_figures_clear(BenchFigures *figures);

/* Level that the numberth frame is filled with in order to be verified. The
 * period is a prime, so that no pool gives a buffer its old level again. */
#define BENCH_FLAT_LEVEL(number) ((guint8)((number) % 251))

typedef struct BenchSource BenchSource;

/* @pad is the one that the buffers will be pushed from, after @caps. NULL with
 * @why, (transfer none), and @outcome where there are no such buffers. */
BenchSource *bench_source_new(const BenchCase *what, GstPad *pad, GstCaps *caps,
                              BenchOutcome *outcome, const gchar **why);

void bench_source_free(BenchSource *source);

/* (transfer full) (nullable): the numberth buffer, from 0. May wait until one
 * comes back. */
GstBuffer *bench_source_next(BenchSource *source, guint64 number);

/* (transfer full) (nullable): a pool of the device's memory. */
GstBufferPool *bench_cuda_pool_new(const gchar **why);

/* Lets @element use the context of that memory. */
void bench_cuda_share_context(GstElement *element);

typedef struct BenchStream BenchStream;

/* Starts the element and sends all that precedes the first buffer. NULL with
 * @why, (transfer full), and @outcome where that does not work. */
BenchStream *bench_stream_new(const BenchCase *what, GstCaps *caps,
                              BenchOutcome *outcome, gchar **why);

void bench_stream_free(BenchStream *stream);

GstElement *bench_stream_get_element(BenchStream *stream);

/* (transfer none): our pad before the element. */
GstPad *bench_stream_get_pad(BenchStream *stream);

/* Pushes the next buffer of @source; FALSE where the flow ends. */
gboolean bench_stream_push(BenchStream *stream, BenchSource *source);

guint64 bench_stream_get_n_pushed(BenchStream *stream);

/* Waits until all buffers have come out; FALSE after ten seconds. */
gboolean bench_stream_wait(BenchStream *stream);

/* Sends EOS and waits for it, up to ten seconds. NULL if all that went in came
 * out, and with the right meta if that is verified; or what is wrong, (transfer
 * full). */
gchar *bench_stream_finish(BenchStream *stream);
