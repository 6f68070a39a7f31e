/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The CUDA engine. Each slot has a stream of its own, on which one frame's
 * upload and counting follow each other; different slots overlap. The kernel
 * itself writes the result to the host's memory.
 */

#include "kernels.h"

#include <string.h>

typedef struct {
  CUstream stream;
  CUevent start;             /* before the upload */
  CUevent done;              /* after the counting */
  size_t capacity;           /* bytes of staging and of input */
  void *staging;             /* pinned: rows without padding */
  CUdeviceptr input;         /* the same on the device */
  CUdeviceptr counts;        /* on the device; zero between frames */
  GhPackedCounts *result;    /* pinned; the kernel writes it */
  CUdeviceptr result_device; /* what the device calls it */
  size_t bytes;              /* of the frame in flight */
} CudaSlot;

typedef struct {
  GhEngine base;
  const GhDriver *driver;
  CUdevice device;
  CUcontext context; /* the device's primary one; retained where not NULL */
  GhKernels kernels;
  GhAlgorithm algorithm;
  CudaSlot slots[GH_MAX_DEPTH];
} CudaEngine;

/* One driver call: true, or false with a cause in *error. */
#define TRY(name, ...) \
  gh_driver_ok(self->driver, self->driver->name(__VA_ARGS__), #name, error)

#define COUNTS_WORDS GH_DEVICE_COUNTS_WORDS(GH_LEVELS)
#define COUNTS_SIZE (4 * (size_t)COUNTS_WORDS)
#define RESULT_SIZE (4 * (size_t)GH_PACKED_COUNTS_WORDS(GH_LEVELS))

static bool
push_context(CudaEngine *self, GhError *error)
{
  return TRY(cuCtxPushCurrent_v2, self->context);
}

static void
pop_context(CudaEngine *self)
{
  CUcontext ours;

  self->driver->cuCtxPopCurrent_v2(&ours);
}

static GhStatus
find_device(CudaEngine *self, int id, GhError *error)
{
  CUresult initialised = self->driver->cuInit(0);
  int n = 0;

  if (!gh_driver_ok(self->driver, initialised, "cuInit", error))
    return initialised == CUDA_ERROR_NO_DEVICE ? GH_ABSENT : GH_FAILED;
  if (!TRY(cuDeviceGetCount, &n))
    return GH_FAILED;
  if (n == 0)
    return gh_fail(error, GH_ABSENT, "the CUDA driver sees no device");
  if (id >= n)
    return gh_fail(error, GH_FAILED,
                   "there is no CUDA device %d, only %d, numbered from 0", id,
                   n);
  return TRY(cuDeviceGet, &self->device, id < 0 ? 0 : id) ? GH_OK : GH_FAILED;
}

static bool
open_slot(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  void *result = NULL;

  if (!TRY(cuStreamCreate, &slot->stream, CU_STREAM_NON_BLOCKING) ||
      !TRY(cuEventCreate, &slot->start, CU_EVENT_DEFAULT) ||
      !TRY(cuEventCreate, &slot->done, CU_EVENT_BLOCKING_SYNC) ||
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
  slot->capacity = 0;
}

/* Grows only; once frames have reached their size nothing is allocated. */
static bool
reserve_frame_memory(CudaEngine *self, CudaSlot *slot, size_t bytes,
                     GhError *error)
{
  if (bytes <= slot->capacity)
    return true;
  release_frame_memory(self, slot);
  if (!TRY(cuMemHostAlloc, &slot->staging, bytes, 0) ||
      !TRY(cuMemAlloc_v2, &slot->input, bytes))
    return false;
  slot->capacity = bytes;
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
  if (slot->start)
    self->driver->cuEventDestroy_v2(slot->start);
  if (slot->stream)
    self->driver->cuStreamDestroy_v2(slot->stream);
}

static void
copy_rows(void *to, const GhFrame *frame)
{
  uint8_t *packed = to;

  if (frame->stride == frame->width || frame->height == 1) {
    memcpy(packed, frame->samples, (size_t)frame->width * frame->height);
    return;
  }
  for (size_t y = 0; y < frame->height; y++)
    memcpy(packed + y * frame->width, frame->samples + y * frame->stride,
           frame->width);
}

static bool
count(CudaEngine *self, CudaSlot *slot, const GhFrame *frame, GhError *error)
{
  const GhDeviceFrame input = {slot->input, frame->width, frame->width,
                               frame->height, GH_SAMPLE_U8};
  const GhDeviceResult to = {slot->counts, 0, slot->result_device};

  return gh_kernels_launch(&self->kernels, slot->stream, self->algorithm,
                           &input, GH_LEVELS, &to, error) == GH_OK;
}

static GhStatus
cuda_submit(GhEngine *engine, unsigned index, const GhFrame *frame,
            GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  CudaSlot *slot = &self->slots[index];
  GhStatus status = GH_FAILED;

  slot->bytes = (size_t)frame->width * frame->height;
  if (!push_context(self, error))
    return GH_FAILED;
  if (!reserve_frame_memory(self, slot, slot->bytes, error))
    goto out;
  copy_rows(slot->staging, frame);
  if (TRY(cuEventRecord, slot->start, slot->stream) &&
      TRY(cuMemcpyHtoDAsync_v2, slot->input, slot->staging, slot->bytes,
          slot->stream) &&
      count(self, slot, frame, error) &&
      TRY(cuEventRecord, slot->done, slot->stream))
    status = GH_OK;
out:
  pop_context(self);
  return status;
}

static void
read_result(const CudaSlot *slot, float milliseconds, GhCounts *counts,
            GhResult *result)
{
  const uint32_t *bins = (const uint32_t *)(slot->result + 1);

  for (unsigned v = 0; v < GH_LEVELS; v++)
    counts->count[v] = bins[v];
  counts->sum = slot->result->sum;
  result->bytes_uploaded = slot->bytes;
  result->bytes_copied = slot->bytes;
  result->device_ns = (uint64_t)((double)milliseconds * 1e6);
}

static GhStatus
cuda_collect(GhEngine *engine, unsigned index, bool wait, GhCounts *counts,
             GhResult *result, GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  CudaSlot *slot = &self->slots[index];
  GhStatus status = GH_FAILED;
  CUresult ready = CUDA_SUCCESS;
  float milliseconds = 0;

  if (!push_context(self, error))
    return GH_FAILED;
  if (wait) {
    if (!TRY(cuEventSynchronize, slot->done))
      goto out;
  } else {
    ready = self->driver->cuEventQuery(slot->done);
    if (ready == CUDA_ERROR_NOT_READY) {
      status = GH_NOT_YET;
      goto out;
    }
    if (!gh_driver_ok(self->driver, ready, "cuEventQuery", error))
      goto out;
  }
  if (!TRY(cuEventElapsedTime, &milliseconds, slot->start, slot->done))
    goto out;
  read_result(slot, milliseconds, counts, result);
  status = GH_OK;
out:
  pop_context(self);
  return status;
}

static void
cuda_drain(GhEngine *engine)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhError ignored;

  if (!self->context || !push_context(self, &ignored))
    return;
  for (unsigned i = 0; i < engine->depth; i++)
    if (self->slots[i].stream)
      self->driver->cuStreamSynchronize(self->slots[i].stream);
  pop_context(self);
}

static void
cuda_close(GhEngine *engine)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhError ignored;

  if (!self->context)
    return;
  if (push_context(self, &ignored)) {
    for (unsigned i = 0; i < engine->depth; i++)
      close_slot(self, &self->slots[i]);
    gh_kernels_unload(&self->kernels);
    pop_context(self);
  }
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

static GhStatus
cuda_open(GhEngine *engine, const GhSettings *settings, GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  GhStatus status = gh_driver_get(&self->driver, error);
  bool ok;

  if (status == GH_OK)
    status = find_device(self, settings->device_id, error);
  if (status != GH_OK)
    return status;
  self->algorithm = settings->algorithm;
  if (!TRY(cuDeviceGetName, engine->device, sizeof(engine->device),
           self->device) ||
      !TRY(cuDevicePrimaryCtxRetain, &self->context, self->device) ||
      !push_context(self, error))
    return GH_FAILED;
  ok =
      gh_kernels_load(&self->kernels, self->driver, self->device,
                      settings->algorithm == GH_ALGORITHM_SORT, error) == GH_OK;
  for (unsigned i = 0; ok && i < engine->depth; i++)
    ok = open_slot(self, &self->slots[i], error);
  pop_context(self);
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
