/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame in ordinary memory is copied into pinned memory and uploaded from
 * there, one in pinned memory from where it is; one in device memory stays. */

#include "cuda-private.h"

#include <string.h>

/* One thread does not copy as fast as the bus uploads; more than four fill the
 * bus, and smaller frames are copied before another thread wakes up. */
#define MOST_COPIERS 4u
#define SHARED_COPY_FROM ((size_t)1 << 20) /* bytes */

typedef struct {
  const GhFrame *frame;
  uint8_t *to;
  size_t row_bytes;
  size_t pitch; /* bytes from one row to the next, there */
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
  uint8_t *to = copy->to + first * copy->pitch;

  if (frame->stride == copy->pitch && end > first) {
    memcpy(to, from, (end - first - 1) * copy->pitch + copy->row_bytes);
    return;
  }
  for (size_t y = first; y < end; y++) {
    memcpy(to, from, copy->row_bytes);
    from += frame->stride;
    to += copy->pitch;
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
copy_rows(CudaEngine *self, Copy *copy)
{
  if (copy->pitch * copy->frame->height < SHARED_COPY_FROM) {
    copy_share(copy, 0);
    return;
  }
  start_copiers(self);
  copy->shares = self->n_copiers;
  if (self->copiers)
    gh_workers_run(self->copiers, copy_share, copy);
  else
    copy_share(copy, 0);
}

/* Queues the upload of `bytes`, after the start. */
static bool
upload(CudaEngine *self, CudaSlot *slot, const void *from, size_t bytes,
       GhDeviceFrame *input, GhError *error)
{
  slot->uploaded = bytes;
  if (!gh_cuda_slot_reserve_input(self, slot, bytes, error) ||
      !gh_cuda_record_start(self, slot, error))
    return false;
  input->samples = slot->input.device;
  return TRY(cuMemcpyHtoDAsync_v2, input->samples, from, bytes, slot->stream);
}

/* Bytes of a row without a gap: a whole number of samples, as kernels that read
 * words need them. */
static size_t
tight_pitch(const GhFormat *format, size_t row_bytes)
{
  return format->step > 1
             ? (row_bytes + format->step - 1) / format->step * format->step
             : row_bytes;
}

static bool
upload_copy(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
            GhDeviceFrame *input, GhError *error)
{
  Copy copy = {.frame = frame,
               .row_bytes = gh_row_bytes(&frame->format, frame->width),
               .shares = 1};
  size_t bytes;

  copy.pitch = tight_pitch(&frame->format, copy.row_bytes);
  bytes = copy.pitch * (frame->height - 1) + copy.row_bytes;
  if (!gh_cuda_slot_reserve_staging(self, slot, bytes, error))
    return false;
  copy.to = slot->staging.host;
  copy_rows(self, &copy);
  slot->copied = bytes;
  input->pitch = copy.pitch;
  return upload(self, slot, copy.to, bytes, input, error);
}

/* With what lies between the rows, as one piece. */
static bool
upload_pinned(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
              GhDeviceFrame *input, GhError *error)
{
  size_t bytes = frame->stride * (frame->height - 1) +
                 gh_row_bytes(&frame->format, frame->width);

  input->pitch = frame->stride;
  return upload(self, slot, frame->samples, bytes, input, error);
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
  return gh_cuda_record_start(self, slot, error);
}

bool
gh_cuda_place_samples(CudaEngine *self, CudaSlot *slot, const GhFrame *frame,
                      GhDeviceFrame *input, GhError *error)
{
  size_t row_bytes = gh_row_bytes(&frame->format, frame->width);

  slot->uploaded = slot->copied = 0;
  switch (frame->memory) {
  case GH_MEMORY_DEVICE:
    input->samples = (CUdeviceptr)(uintptr_t)frame->samples;
    input->pitch = frame->stride;
    return wait_for_samples(self, slot, frame, error);
  case GH_MEMORY_PINNED:
    /* More padding than samples would cost more than a copy. */
    if (frame->stride / 2 <= row_bytes || frame->height == 1)
      return upload_pinned(self, slot, frame, input, error);
    break;
  default:
    break;
  }
  return upload_copy(self, slot, frame, input, error);
}
