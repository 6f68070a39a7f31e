/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The CUDA engine. Each slot has a stream of its own, on which one frame's
 * upload and counting follow each other; different slots overlap. A frame in
 * pinned memory is uploaded from where it is, one in device memory is counted
 * there. The kernel itself writes the result to the host's memory.
 */

#include "event-wait.h"
#include "kernels.h"
#include "workers.h"

#include <string.h>

typedef struct {
  CUstream stream;
  CUevent done;              /* after the counting */
  CUevent start;             /* the same with a time: before the upload ... */
  CUevent end;               /* ... and after the counting */
  uint64_t queued;           /* when; see GhPace */
  bool timed;                /* these are recorded for the frame in flight */
  void *staging;             /* pinned: rows without padding */
  size_t staging_size;       /* bytes */
  CUdeviceptr input;         /* an uploaded frame */
  size_t input_size;         /* bytes */
  CUdeviceptr counts;        /* on the device; zero between frames */
  GhPackedCounts *result;    /* pinned; the kernel writes it */
  CUdeviceptr result_device; /* what the device calls it */
  size_t uploaded;           /* bytes of the frame in flight ... */
  size_t copied;             /* ... and of it into staging */
} CudaSlot;

typedef struct {
  GhEngine base;
  const GhDriver *driver;
  CUdevice device;
  CUcontext context; /* the user's, or the device's primary one */
  bool retained;     /* the primary one is */
  GhKernels kernels;
  GhAlgorithm algorithm;
  GhWorkers *copiers; /* into staging */
  unsigned n_copiers;
  uint64_t timed_pixels; /* of the frames that are timed; the submitting
                            thread's */
  unsigned untimed;      /* frames since the last one that is */
  uint64_t device_ns;    /* of the last one; the collecting thread's */
  GhPace pace;           /* the collecting thread's */
  CudaSlot slots[GH_MAX_DEPTH];
} CudaEngine;

/* One thread does not copy as fast as the bus uploads; more than four fill the
 * bus, and smaller frames are copied before another thread wakes up. */
#define MOST_COPIERS 4u
#define SHARED_COPY_FROM ((size_t)1 << 20) /* bytes */

#define TIMED_EVERY 8u

/* One driver call: true, or false with a cause in *error. */
#define TRY(name, ...) \
  gh_driver_ok(self->driver, self->driver->name(__VA_ARGS__), #name, error)

#define COUNTS_WORDS GH_DEVICE_COUNTS_WORDS(GH_LEVELS)
#define COUNTS_SIZE (4 * (size_t)COUNTS_WORDS)
#define RESULT_SIZE (4 * (size_t)GH_PACKED_COUNTS_WORDS(GH_LEVELS))

static bool
open_slot(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  void *result = NULL;

  if (!TRY(cuStreamCreate, &slot->stream, CU_STREAM_NON_BLOCKING) ||
      !TRY(cuEventCreate, &slot->start, CU_EVENT_DEFAULT) ||
      !TRY(cuEventCreate, &slot->end, CU_EVENT_DEFAULT) ||
      !TRY(cuEventCreate, &slot->done, CU_EVENT_DISABLE_TIMING) ||
      !TRY(cuMemAlloc_v2, &slot->counts, COUNTS_SIZE) ||
      !TRY(cuMemsetD32Async, slot->counts, 0, COUNTS_WORDS, slot->stream) ||
      !TRY(cuMemHostAlloc, &result, RESULT_SIZE, CU_MEMHOSTALLOC_DEVICEMAP))
    return false;
  slot->result = result;
  return TRY(cuMemHostGetDevicePointer_v2, &slot->result_device, result, 0);
}

static void
release_frame_memory(CudaEngine *self, CudaSlot *slot)
{
  if (slot->staging)
    self->driver->cuMemFreeHost(slot->staging);
  if (slot->input)
    self->driver->cuMemFree_v2(slot->input);
  slot->staging = NULL;
  slot->input = 0;
  slot->staging_size = slot->input_size = 0;
}

/* Both grow only; once frames have reached their size nothing is allocated. */
static bool
reserve_staging(CudaEngine *self, CudaSlot *slot, size_t bytes, GhError *error)
{
  if (bytes <= slot->staging_size)
    return true;
  if (slot->staging)
    self->driver->cuMemFreeHost(slot->staging);
  slot->staging = NULL;
  slot->staging_size = 0;
  if (!TRY(cuMemHostAlloc, &slot->staging, bytes, CU_MEMHOSTALLOC_PORTABLE))
    return false;
  slot->staging_size = bytes;
  return true;
}

static bool
reserve_input(CudaEngine *self, CudaSlot *slot, size_t bytes, GhError *error)
{
  if (bytes <= slot->input_size)
    return true;
  if (slot->input)
    self->driver->cuMemFree_v2(slot->input);
  slot->input = 0;
  slot->input_size = 0;
  if (!TRY(cuMemAlloc_v2, &slot->input, bytes))
    return false;
  slot->input_size = bytes;
  return true;
}

static void
close_slot(CudaEngine *self, CudaSlot *slot)
{
  release_frame_memory(self, slot);
  if (slot->result)
    self->driver->cuMemFreeHost(slot->result);
  if (slot->counts)
    self->driver->cuMemFree_v2(slot->counts);
  if (slot->done)
    self->driver->cuEventDestroy_v2(slot->done);
  if (slot->end)
    self->driver->cuEventDestroy_v2(slot->end);
  if (slot->start)
    self->driver->cuEventDestroy_v2(slot->start);
  if (slot->stream)
    self->driver->cuStreamDestroy_v2(slot->stream);
}

typedef struct {
  const GhFrame *frame;
  uint8_t *to;
  unsigned shares;
} Copy;

/* Rows from share / shares to (share + 1) / shares. */
static void
copy_share(void *data, unsigned share)
{
  const Copy *copy = data;
  const GhFrame *frame = copy->frame;
  size_t first = (size_t)frame->height * share / copy->shares;
  size_t end = (size_t)frame->height * (share + 1) / copy->shares;
  const uint8_t *from = frame->samples + first * frame->stride;
  uint8_t *to = copy->to + first * frame->width;

  if (frame->stride == frame->width) {
    memcpy(to, from, (end - first) * frame->width);
    return;
  }
  for (size_t y = first; y < end; y++) {
    memcpy(to, from, frame->width);
    from += frame->stride;
    to += frame->width;
  }
}

/* Once there is something for them to do; without them one thread copies. */
static void
start_copiers(CudaEngine *self)
{
  unsigned cores = gh_workers_cores();
  GhError ignored;

  if (self->n_copiers > 0)
    return;
  self->n_copiers = cores < MOST_COPIERS ? cores : MOST_COPIERS;
  if (gh_workers_start(&self->copiers, self->n_copiers, &ignored) != GH_OK)
    self->n_copiers = 1;
}

static void
copy_rows(CudaEngine *self, void *to, const GhFrame *frame)
{
  Copy copy = {frame, to, 1};

  if ((size_t)frame->width * frame->height < SHARED_COPY_FROM) {
    copy_share(&copy, 0);
    return;
  }
  start_copiers(self);
  copy.shares = self->n_copiers;
  if (self->copiers)
    gh_workers_run(self->copiers, copy_share, &copy);
  else
    copy_share(&copy, 0);
}

/* An event that has a time takes the driver as long as the rest of a wait, so
 * only some of the frames of a size get them. */
static bool
is_to_be_timed(CudaEngine *self, const GhFrame *frame)
{
  uint64_t pixels = (uint64_t)frame->width * frame->height;
  bool timed = pixels != self->timed_pixels || ++self->untimed == TIMED_EVERY;

  self->timed_pixels = pixels;
  if (timed)
    self->untimed = 0;
  return timed;
}

static bool
record_start(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  return !slot->timed || TRY(cuEventRecord, slot->start, slot->stream);
}

static bool
record_end(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  return (!slot->timed || TRY(cuEventRecord, slot->end, slot->stream)) &&
         TRY(cuEventRecord, slot->done, slot->stream);
}

/* Queues the upload of `bytes`, after the start. */
static bool
upload(CudaEngine *self, CudaSlot *slot, const void *from, size_t bytes,
       GhError *error)
{
  slot->uploaded = bytes;
  return reserve_input(self, slot, bytes, error) &&
         record_start(self, slot, error) &&
         TRY(cuMemcpyHtoDAsync_v2, slot->input, from, bytes, slot->stream);
}

static bool
upload_copy(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
            GhDeviceFrame *input, GhError *error)
{
  size_t bytes = (size_t)frame->width * frame->height;

  if (!reserve_staging(self, slot, bytes, error))
    return false;
  copy_rows(self, slot->staging, frame);
  slot->copied = bytes;
  if (!upload(self, slot, slot->staging, bytes, error))
    return false;
  input->samples = slot->input;
  input->pitch = frame->width;
  return true;
}

/* With what lies between the rows, as one piece. */
static bool
upload_pinned(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
              GhDeviceFrame *input, GhError *error)
{
  size_t bytes = frame->stride * (frame->height - 1) + frame->width;

  if (!upload(self, slot, frame->samples, bytes, error))
    return false;
  input->samples = slot->input;
  input->pitch = frame->stride;
  return true;
}

static bool
wait_for_samples(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
                 GhError *error)
{
  switch (frame->ready) {
  case GH_READY_AFTER_STREAM:
    if (!TRY(cuEventRecord, slot->done, frame->stream) ||
        !TRY(cuStreamWaitEvent, slot->stream, slot->done, 0))
      return false;
    break;
  case GH_READY_AFTER_CONTEXT:
    if (!TRY(cuCtxSynchronize, ))
      return false;
    break;
  default:
    break;
  }
  return record_start(self, slot, error);
}

/* Has the samples on the device, at the latest when the stream gets there. */
static bool
place_samples(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
              GhDeviceFrame *input, GhError *error)
{
  slot->uploaded = slot->copied = 0;
  switch (frame->memory) {
  case GH_MEMORY_DEVICE:
    input->samples = (CUdeviceptr)(uintptr_t)frame->samples;
    input->pitch = frame->stride;
    return wait_for_samples(self, slot, frame, error);
  case GH_MEMORY_PINNED:
    /* More padding than samples would cost more than a copy. */
    if (frame->stride / 2 <= frame->width || frame->height == 1)
      return upload_pinned(self, slot, frame, input, error);
    break;
  default:
    break;
  }
  return upload_copy(self, slot, frame, input, error);
}

static bool
count(CudaEngine *self, CudaSlot *slot, const GhDeviceFrame *input,
      GhError *error)
{
  const GhDeviceResult to = {slot->counts, 0, slot->result_device};

  return gh_kernels_launch(&self->kernels, slot->stream, self->algorithm, input,
                           GH_LEVELS, &to, error) == GH_OK;
}

static GhStatus
cuda_submit(GhEngine *engine, unsigned index, const GhFrame *frame,
            GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  CudaSlot *slot = &self->slots[index];
  GhDeviceFrame input = {0, 0, frame->width, frame->height, GH_SAMPLE_U8};
  bool good;

  if (!gh_driver_push(self->driver, self->context, error))
    return GH_FAILED;
  slot->timed = is_to_be_timed(self, frame);
  slot->queued = gh_event_now();
  good = place_samples(self, slot, frame, &input, error) &&
         count(self, slot, &input, error) && record_end(self, slot, error);
  /* Nobody will collect it, and so nobody wait for what was queued. */
  if (!good)
    self->driver->cuStreamSynchronize(slot->stream);
  gh_driver_pop(self->driver);
  return good ? GH_OK : GH_FAILED;
}

static void
read_result(const CudaSlot *slot, uint64_t device_ns, GhCounts *counts,
            GhResult *result)
{
  const uint32_t *bins = (const uint32_t *)(slot->result + 1);

  for (unsigned v = 0; v < GH_LEVELS; v++)
    counts->count[v] = bins[v];
  counts->sum = slot->result->sum;
  result->bytes_uploaded = slot->uploaded;
  result->bytes_copied = slot->copied;
  result->device_ns = device_ns;
}

/* Whether the slot's work is done; with wait it is afterwards. */
static GhStatus
finish_work(CudaEngine *self, unsigned index, bool wait, GhError *error)
{
  CUevent done = self->slots[index].done;
  CUresult ready =
      wait ? gh_event_wait(self->driver, done, &self->pace,
                           self->base.pixels[index], self->slots[index].queued)
           : self->driver->cuEventQuery(done);

  if (ready == CUDA_ERROR_NOT_READY)
    return GH_NOT_YET;
  return gh_driver_ok(self->driver, ready, "cuEventQuery", error) ? GH_OK
                                                                  : GH_FAILED;
}

/* Has the time of the frame, or of the last one that was timed, in
 * device_ns. */
static bool
read_time(CudaEngine *self, const CudaSlot *slot, GhError *error)
{
  float milliseconds = 0;

  if (!slot->timed)
    return true;
  if (!TRY(cuEventElapsedTime, &milliseconds, slot->start, slot->end))
    return false;
  self->device_ns = (uint64_t)((double)milliseconds * 1e6);
  return true;
}

static GhStatus
cuda_collect(GhEngine *engine, unsigned index, bool wait, GhCounts *counts,
             GhResult *result, GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  CudaSlot *slot = &self->slots[index];
  GhStatus status;

  if (!gh_driver_push(self->driver, self->context, error))
    return GH_FAILED;
  status = finish_work(self, index, wait, error);
  if (status == GH_OK && !read_time(self, slot, error))
    status = GH_FAILED;
  if (status == GH_OK)
    read_result(slot, self->device_ns, counts, result);
  gh_driver_pop(self->driver);
  return status;
}

static void
cuda_drain(GhEngine *engine)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhError ignored;

  if (!self->context || !gh_driver_push(self->driver, self->context, &ignored))
    return;
  for (unsigned i = 0; i < engine->depth; i++)
    if (self->slots[i].stream)
      self->driver->cuStreamSynchronize(self->slots[i].stream);
  gh_driver_pop(self->driver);
}

static void
cuda_close(GhEngine *engine)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhError ignored;

  gh_workers_stop(&self->copiers);
  if (!self->context)
    return;
  if (gh_driver_push(self->driver, self->context, &ignored)) {
    for (unsigned i = 0; i < engine->depth; i++)
      close_slot(self, &self->slots[i]);
    gh_kernels_unload(&self->kernels);
    gh_driver_pop(self->driver);
  }
  if (self->retained)
    self->driver->cuDevicePrimaryCtxRelease_v2(self->device);
}

/* Counts a frame whose counts are known: a device that cannot do the work
 * shows it now. */
static GhStatus
count_trial_frame(CudaEngine *self, GhError *error)
{
  static const uint8_t samples[] = {0, 1, 2, 3, 4, 5,  6,  7,  8,
                                    9, 9, 9, 9, 9, 10, 11, 12, 255};
  const GhFrame frame = {samples, sizeof(samples), sizeof(samples), 1};
  uint64_t bins[GH_LEVELS], expected[GH_LEVELS];
  GhResult wanted = {.bins = expected}, result = {.bins = bins};
  GhCounts counts;
  GhStatus status = cuda_submit(&self->base, 0, &frame, error);

  if (status == GH_OK)
    status = cuda_collect(&self->base, 0, true, &counts, &result, error);
  if (status != GH_OK)
    return status;
  gh_count_frame(&frame, GH_LEVELS, &wanted);
  if (memcmp(counts.count, expected, sizeof(expected)) != 0 ||
      counts.sum != wanted.sum)
    return gh_fail(error, GH_FAILED, "%s counted a test frame wrongly",
                   self->base.device);
  return GH_OK;
}

/* The context to work in, and its device. */
static GhStatus
find_context(CudaEngine *self, const GhSettings *settings, GhError *error)
{
  GhStatus status = gh_driver_get(&self->driver, error);
  bool good;

  if (status != GH_OK)
    return status;
  if (settings->context) {
    self->context = settings->context;
    if (!gh_driver_push(self->driver, self->context, error))
      return GH_FAILED;
    good = TRY(cuCtxGetDevice, &self->device);
    gh_driver_pop(self->driver);
    return good ? GH_OK : GH_FAILED;
  }
  status = gh_driver_retain(self->driver, settings->device_id, &self->device,
                            &self->context, error);
  self->retained = status == GH_OK;
  return status;
}

static GhStatus
cuda_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhStatus status = find_context(self, settings, error);
  bool ok;

  if (status != GH_OK)
    return status;
  self->algorithm = settings->algorithm;
  if (!TRY(cuDeviceGetName, engine->device, sizeof(engine->device),
           self->device) ||
      !gh_driver_push(self->driver, self->context, error))
    return GH_FAILED;
  ok =
      gh_kernels_load(&self->kernels, self->driver, self->device,
                      settings->algorithm == GH_ALGORITHM_SORT, error) == GH_OK;
  for (unsigned i = 0; ok && i < engine->depth; i++)
    ok = open_slot(self, &self->slots[i], error);
  gh_driver_pop(self->driver);
  return ok ? count_trial_frame(self, error) : GH_FAILED;
}

const GhEngineOps gh_cuda_engine = {
    .size = sizeof(CudaEngine),
    .open = cuda_open,
    .submit = cuda_submit,
    .collect = cuda_collect,
    .drain = cuda_drain,
    .close = cuda_close,
};
