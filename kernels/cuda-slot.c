/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda-private.h"

#include <string.h>

static void
release(CudaEngine *self, CudaMemory *memory)
{
  if (memory->host)
    self->driver->cuMemFreeHost(memory->host);
  else if (memory->device)
    self->driver->cuMemFree_v2(memory->device);
  *memory = (CudaMemory){0};
}

static bool
reserve_device(CudaEngine *self, CudaMemory *memory, size_t bytes,
               GhError *error)
{
  if (bytes <= memory->size)
    return true;
  release(self, memory);
  if (!TRY(cuMemAlloc_v2, &memory->device, bytes))
    return false;
  memory->size = bytes;
  return true;
}

static bool
reserve_pinned(CudaEngine *self, CudaMemory *memory, size_t bytes,
               GhError *error)
{
  const unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;

  if (bytes <= memory->size)
    return true;
  release(self, memory);
  if (!TRY(cuMemHostAlloc, &memory->host, bytes, flags) ||
      !TRY(cuMemHostGetDevicePointer_v2, &memory->device, memory->host, 0))
    return false;
  memory->size = bytes;
  return true;
}

/* Work that was queued on the slot's stream before. */
static bool
reserve_zeroed(CudaEngine *self, CudaSlot *slot, CudaMemory *memory,
               size_t bytes, GhError *error)
{
  size_t rounded = (bytes + 3) / 4 * 4;

  return bytes <= memory->size ||
         (reserve_device(self, memory, rounded, error) &&
          TRY(cuMemsetD32Async, memory->device, 0, rounded / 4, slot->stream));
}

bool
gh_cuda_slot_reserve_staging(CudaEngine *self, CudaSlot *slot, size_t bytes,
                             GhError *error)
{
  return reserve_pinned(self, &slot->staging, bytes, error);
}

/* Kernels that read words may read a byte after the last sample. */
bool
gh_cuda_slot_reserve_input(CudaEngine *self, CudaSlot *slot, size_t bytes,
                           GhError *error)
{
  return reserve_zeroed(self, slot, &slot->input, bytes + 1, error);
}

/* Of memory that is not pinned the driver has a copy when the call returns. */
static bool
place_cells(CudaEngine *self, CudaSlot *slot, const GhCells *cells,
            GhError *error)
{
  size_t bytes = cells->n * sizeof(*cells->cells);

  if (slot->rects_version == cells->version)
    return true;
  if (cells->n > GH_FEW_CELLS &&
      (!reserve_device(self, &slot->rects, bytes, error) ||
       !TRY(cuMemcpyHtoDAsync_v2, slot->rects.device, cells->cells, bytes,
            slot->stream)))
    return false;
  slot->largest = 0;
  for (uint32_t i = 0; i < cells->n; i++) {
    uint64_t samples = (uint64_t)cells->cells[i].width * cells->cells[i].height;

    slot->largest = samples > slot->largest ? samples : slot->largest;
  }
  slot->rects_version = cells->version;
  return true;
}

bool
gh_cuda_slot_prepare(CudaEngine *self, CudaSlot *slot, const GhJob *job,
                     GhError *error)
{
  bool apart = gh_counts_apart(job->counters, gh_job_n_cells(job));
  size_t counts =
      4 * (size_t)job->cells.n * GH_DEVICE_COUNTS_WORDS(job->counters, apart);

  if (!reserve_zeroed(self, slot, &slot->counts, counts, error) ||
      !reserve_pinned(self, &slot->result, gh_job_counts_size(job), error))
    return false;
  if (job->rows > 0 &&
      !reserve_pinned(self, &slot->rows, job->rows * sizeof(uint64_t), error))
    return false;
  return gh_job_n_cells(job) == 0 ||
         place_cells(self, slot, &job->cells, error);
}

bool
gh_cuda_slot_open(CudaEngine *self, CudaSlot *slot, GhError *error)
{
  return TRY(cuStreamCreate, &slot->stream, CU_STREAM_NON_BLOCKING) &&
         TRY(cuEventCreate, &slot->start, CU_EVENT_DEFAULT) &&
         TRY(cuEventCreate, &slot->end, CU_EVENT_DEFAULT) &&
         TRY(cuEventCreate, &slot->done, CU_EVENT_DISABLE_TIMING);
}

void
gh_cuda_slot_close(CudaEngine *self, CudaSlot *slot)
{
  release(self, &slot->rects);
  release(self, &slot->rows);
  release(self, &slot->result);
  release(self, &slot->counts);
  release(self, &slot->input);
  release(self, &slot->staging);
  if (slot->end)
    self->driver->cuEventDestroy_v2(slot->end);
  if (slot->start)
    self->driver->cuEventDestroy_v2(slot->start);
  if (slot->done)
    self->driver->cuEventDestroy_v2(slot->done);
  if (slot->stream)
    self->driver->cuStreamDestroy_v2(slot->stream);
}
