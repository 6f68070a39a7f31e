/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The CUDA engine. Each slot has a stream of its own, on which one frame's
 * upload and counting follow each other; different slots overlap. A frame in
 * pinned memory is uploaded from where it is, one in device memory is counted
 * there. The kernel itself writes the result to the host's memory.
 */

#include "cuda-private.h"

#include <stdlib.h>
#include <string.h>

#define TIMED_EVERY 8u

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

bool
gh_cuda_record_start(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  return !slot->timed || TRY(cuEventRecord, slot->start, slot->stream);
}

static bool
record_end(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  return (!slot->timed || TRY(cuEventRecord, slot->end, slot->stream)) &&
         TRY(cuEventRecord, slot->done, slot->stream);
}

static bool
count(CudaEngine *self, CudaSlot *slot, const GhJob *job,
      const GhDeviceFrame *input, GhError *error)
{
  const GhDeviceResult to = {slot->counts.device, 0, slot->result.device};
  const GhDeviceCells cells = {job->cells.cells, slot->rects.device,
                               job->cells.n, slot->largest};

  if (gh_kernels_launch(&self->kernels, slot->stream, self->algorithm, input,
                        gh_job_n_cells(job) ? &cells : NULL, job->counters, &to,
                        error) != GH_OK)
    return false;
  return job->rows == 0 ||
         gh_kernels_sum_rows(&self->kernels, slot->stream, input,
                             slot->rows.device, error) == GH_OK;
}

static GhStatus
cuda_submit(GhEngine *engine, unsigned index, const GhFrame *frame,
            GhError *error)
{
  CudaEngine *self = (CudaEngine *)engine;
  CudaSlot *slot = &self->slots[index];
  const GhJob *job = &engine->jobs[index];
  GhDeviceFrame input = {
      .width = frame->width, .height = frame->height, .format = frame->format};
  bool good;

  if (!gh_driver_push(self->driver, self->context, error))
    return GH_FAILED;
  slot->timed = is_to_be_timed(self, frame);
  slot->queued = gh_event_now();
  good = gh_cuda_slot_prepare(self, slot, job, error) &&
         gh_cuda_place_samples(self, slot, frame, &input, error) &&
         count(self, slot, job, &input, error) && record_end(self, slot, error);
  /* Nobody will collect it, and so nobody wait for what was queued. */
  if (!good)
    self->driver->cuStreamSynchronize(slot->stream);
  gh_driver_pop(self->driver);
  return good ? GH_OK : GH_FAILED;
}

static uint64_t
pixels_of(const GhJob *job)
{
  return (uint64_t)job->cells.width * job->cells.height;
}

/* Whether the slot's work is done; with wait it is afterwards. */
static GhStatus
finish_work(CudaEngine *self, unsigned index, bool wait, GhError *error)
{
  CUevent done = self->slots[index].done;
  CUresult ready = wait ? gh_event_wait(self->driver, done, &self->pace,
                                        pixels_of(&self->base.jobs[index]),
                                        self->slots[index].queued)
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
cuda_collect(GhEngine *engine, unsigned index, bool wait, GhCounted *counted,
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
  gh_driver_pop(self->driver);
  *counted = (GhCounted){slot->result.host, slot->rows.host};
  result->bytes_uploaded = slot->uploaded;
  result->bytes_copied = slot->copied;
  result->device_ns = self->device_ns;
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
      gh_cuda_slot_close(self, &self->slots[i]);
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
  bool words = self->base.bins > 256;
  const GhFrame frame = {.samples = samples,
                         .width = sizeof(samples) / (words ? 2 : 1),
                         .height = 1,
                         .format = {words ? GH_WORDS_LE : GH_BYTES}};
  uint64_t *bins = calloc(2 * (size_t)self->base.bins, sizeof(*bins));
  GhResult result = {.whole = {.bins = bins}};
  GhResult wanted = {.whole = {.bins = bins + self->base.bins}};
  GhStatus status;

  if (!bins)
    return gh_fail(error, GH_FAILED, "out of memory");
  status = gh_engine_submit(&self->base, &frame, error);
  if (status == GH_OK)
    status = gh_engine_collect(&self->base, true, &result, error);
  gh_count_frame(&frame, self->base.bins, &wanted);
  if (status == GH_OK && (memcmp(result.whole.bins, wanted.whole.bins,
                                 self->base.bins * sizeof(*bins)) != 0 ||
                          result.whole.sum != wanted.whole.sum))
    status = gh_fail(error, GH_FAILED, "%s counted a test frame wrongly",
                     self->base.device);
  free(bins);
  /* A driver may look at the code only when it is started. */
  if (status != GH_OK)
    gh_driver_explain(self->driver, &self->device, error);
  return status;
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
    ok = gh_cuda_slot_open(self, &self->slots[i], error);
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
