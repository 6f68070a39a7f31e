/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The counting engine: takes frames of grey samples and gives the exact
 * histogram of each one, in the order they were submitted.
 *
 *     submit(frame 0)  submit(frame 1)          submit(frame 2) ...
 *                          collect(result 0)        collect(result 1) ...
 *
 * Threads. One thread may submit while another one collects; each of the two
 * sides is for one thread at a time. flush and close need both sides to be
 * idle. Different engines do not share anything.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GH_MAX_DEPTH 16u   /* frames in flight */
#define GH_MAX_BINS 65536u /* of a histogram */
#define GH_MAX_REGIONS 4096u

/* Outcome of a call. Only the last two come with a text in GhError. */
typedef enum {
  GH_OK = 0,
  GH_NOT_YET, /* collect: the oldest frame is still being counted */
  GH_NO_SLOT, /* submit: depth frames are in flight; collect one first */
  GH_EMPTY,   /* collect: nothing is in flight */
  GH_ABSENT,  /* open: no driver, no device, or not built: a state, no fault */
  GH_FAILED   /* the engine is of no further use; close it */
} GhStatus;

/* The cause of GH_ABSENT or GH_FAILED: one sentence without a full stop,
 * naming the call and the driver's own words where a driver call failed. */
typedef struct {
  char text[256];
} GhError;

/* Where samples are. Those in memory other than ordinary memory have to stay as
 * they are until the frame was collected, or gh_engine_finish_reading() has
 * returned. */
typedef enum {
  GH_MEMORY_HOST,   /* ordinary memory */
  GH_MEMORY_PINNED, /* of gh_pinned_alloc(), or of gh_pinned_register() */
  GH_MEMORY_DEVICE  /* device memory of the engine's context; for CUDA alone */
} GhMemory;

/* When samples in device memory are there to be read. */
typedef enum {
  GH_READY,               /* now */
  GH_READY_AFTER_STREAM,  /* after what is queued on a stream by now */
  GH_READY_AFTER_CONTEXT, /* after what is queued on any stream by now */
} GhReady;

/* What samples lie in. */
typedef enum {
  GH_BYTES,
  GH_WORDS_LE,  /* 16 bits, little endian ... */
  GH_WORDS_BE,  /* ... and big endian */
  GH_TENS_LE32, /* 10 bits; three in 32 bits, little endian, the first in the
                   lowest; then 2 unused bits */
  GH_TENS_LE40  /* 10 bits; four in 5 bytes, as a little-endian number */
} GhPacking;

/* How to get a sample: shift away the lower bits of its byte or word, and take
 * `depth` bits; those above are ignored. All zero: 8 bits, a byte each. */
typedef struct {
  GhPacking packing;
  unsigned step;  /* bytes from a byte or word to that of the next sample; 0 =
                     its size. Of no meaning to samples of 10 bits, packed */
  unsigned shift; /* likewise */
  unsigned depth; /* bits of a sample, 1 to 16; 0 = all of the byte or word */
} GhFormat;

/* A part of a frame, in samples; not empty. */
typedef struct {
  uint32_t x, y;
  uint32_t width, height;
} GhRect;

/* One frame: height rows of width samples. */
typedef struct {
  const uint8_t *samples; /* first sample of the first row, any alignment */
  size_t stride;          /* bytes from one row to the next; may be anything
                             where height is 1 */
  uint32_t width;         /* samples in a row, at least 1 */
  uint32_t height;        /* rows, at least 1; width × height < 2^32 */
  GhMemory memory;
  GhReady ready;
  void *stream; /* the CUstream of GH_READY_AFTER_STREAM */
  GhFormat format;
  const GhRect *regions; /* (nullable): parts to be counted beside the whole
                            frame, inside of it; they may overlap. Needed until
                            submit returns */
  uint32_t n_regions;    /* up to GH_MAX_REGIONS */
  bool rows;             /* the sum of each row is wanted, too */
} GhFrame;

/* What was counted in a frame, or in a part of it. */
typedef struct {
  uint64_t *bins;  /* in: room for the engine's bins counts, owned by the
                      caller; out: samples in each bin */
  uint64_t pixels; /* its width × height */
  uint64_t sum;    /* Σ samples, reduced from the samples themselves */
  /* What the sum can be by the counts, before they were grouped into bins. The
   * same where each grey level was counted. */
  uint64_t least_sum;
  uint64_t most_sum;
} GhHistogram;

typedef struct {
  GhHistogram whole;       /* of the frame */
  GhHistogram *regions;    /* in: room for those of the frame, if it has any */
  uint64_t *row_sums;      /* in (nullable): room for the frame's height; out:
                              Σ samples of each row, if the frame wants them */
  uint64_t bytes_uploaded; /* over the bus to the device */
  uint64_t bytes_copied;   /* into staging memory on the host */
  uint64_t device_ns; /* upload and counting, in nanoseconds: of this frame,
                         or of the last of its size that was timed */
} GhResult;

typedef enum { GH_ENGINE_CPU, GH_ENGINE_CUDA } GhEngineKind;

/* How the CUDA engine counts. All give the same result. */
typedef enum {
  GH_ALGORITHM_AUTO,   /* the fastest one for the frame and the device */
  GH_ALGORITHM_GLOBAL, /* one atomic in device memory a sample */
  GH_ALGORITHM_BLOCK,  /* a table a block in shared memory */
  GH_ALGORITHM_WARP,   /* a table a warp */
  GH_ALGORITHM_LANE,   /* a column of the table a lane */
  GH_ALGORITHM_SORT    /* sort, then count runs */
} GhAlgorithm;

#define GH_N_ALGORITHMS 6

typedef struct {
  unsigned depth; /* frames in flight, 1 to GH_MAX_DEPTH */
  unsigned bins;  /* power of two, 2 to GH_MAX_BINS, and not above the number
                     of grey levels of any frame, 2^depth; each holds
                     equally many of these */
  unsigned n_threads; /* of the CPU engine; 0 = as many as cores; no meaning to
                         CUDA */
  int device_id;      /* of the CUDA engine, as the driver numbers them; -1 =
                         the first one; no meaning to the CPU */
  GhAlgorithm algorithm; /* of the CUDA engine */
  void *context; /* (nullable): CUcontext for the CUDA engine to work in, which
                    outlives it; then device_id has no meaning */
} GhSettings;

typedef struct GhEngine GhEngine;

/*
 * Opens an engine. On GH_OK *engine is a new engine, to be closed with
 * gh_engine_close(); otherwise it is NULL and *error says why. Opening the
 * CUDA engine loads the driver, retains the device's primary context and
 * counts a tiny frame, so that whatever is wrong shows here and not later;
 * this blocks for up to a second. Each thread of a CPU engine takes 256 KiB of
 * memory. The calling thread's current context is as before afterwards, here
 * and in every call below.
 */
GhStatus gh_engine_open(GhEngine **engine, GhEngineKind kind,
                        const GhSettings *settings, GhError *error);

/*
 * Starts counting a frame. Samples in ordinary memory are no longer needed when
 * the call returns. The CUDA engine copies these into pinned memory, and queues
 * the work; it waits for the device only where a frame is larger than any
 * before and memory has to be made, and for GH_READY_AFTER_CONTEXT. The CPU
 * engine counts them here and now. Returns GH_OK, GH_NO_SLOT (nothing was done)
 * or GH_FAILED: this frame is not read any more, the engine takes no more
 * frames, and those in flight can still be collected.
 */
GhStatus gh_engine_submit(GhEngine *engine, const GhFrame *frame,
                          GhError *error);

/*
 * Takes the result of the oldest frame in flight. With wait it blocks until
 * that frame's own work is done, without it a frame that is not ready gives
 * GH_NOT_YET. The room for results must be set. Returns GH_OK, GH_NOT_YET,
 * GH_EMPTY or GH_FAILED (*result is then undefined).
 */
GhStatus gh_engine_collect(GhEngine *engine, bool wait, GhResult *result,
                           GhError *error);

/* Blocks until the device reads no frame any more that was submitted so far:
 * for who has to give up its memory without collecting it. From any thread. */
void gh_engine_finish_reading(GhEngine *engine);

/* Drops all frames in flight. Blocks until the device is done with them. */
void gh_engine_flush(GhEngine *engine);

/* Frames that may be in flight: the depth it was opened with. */
unsigned gh_engine_depth(const GhEngine *engine);

/* What counts, for people: the device's name. Valid until close. */
const char *gh_engine_device(const GhEngine *engine);

/* Closes *engine, dropping what is in flight, and sets it to NULL. Takes an
 * engine that failed, and NULL. Blocks until the device is done. */
void gh_engine_close(GhEngine **engine);

/*
 * Counts one frame in the calling thread, without an engine, sample by sample:
 * the reference for all engines. Cannot fail. Gives the same result as every
 * engine of as many bins, but for bounds of the sums that may be wider.
 */
void gh_count_frame(const GhFrame *frame, unsigned bins, GhResult *result);

/* Whether what was counted agrees with itself: Σ bins = pixels, and the sum,
 * which was reached on another way, is one that the counts allow. */
bool gh_histogram_is_consistent(const GhHistogram *histogram, unsigned bins);
