/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies between the host's memory and what the fake driver calls the
 * device's. */

#include "control.h"
#include "objects.h"
#include "stream.h"

#include <stdint.h>
#include <string.h>

typedef struct {
  uint8_t *start;
  size_t pitch;
  int registered;
} Side;

typedef struct {
  Side to, from; /* from nothing: zeroes */
  size_t width;  /* bytes of a row */
  size_t height;
} Copy;

static size_t
extent(const Copy *copy, const Side *side)
{
  return (copy->height - 1) * side->pitch + copy->width;
}

/* Remembers memory that has to stay registered until the copy is done. */
static void
note_registered(const Copy *copy, Side *side)
{
  FakeMemory memory;

  side->registered =
      side->start &&
      fake_memory_find(side->start, extent(copy, side), &memory) &&
      memory.kind == FAKE_REGISTERED_MEMORY;
}

static void
check_registered(const Copy *copy, const Side *side)
{
  FakeMemory memory;

  if (side->registered &&
      !fake_memory_find(side->start, extent(copy, side), &memory))
    fake_fault("memory was unregistered before its copy was done");
}

static void
run_copy(void *data)
{
  const Copy *copy = data;

  if (!fake_work_begin())
    return;
  check_registered(copy, &copy->to);
  check_registered(copy, &copy->from);
  for (size_t y = 0; y < copy->height; y++) {
    uint8_t *to = copy->to.start + y * copy->to.pitch;

    if (copy->from.start)
      memcpy(to, copy->from.start + y * copy->from.pitch, copy->width);
    else
      memset(to, 0, copy->width);
  }
  fake_work_end();
}

static CUresult
push(Copy *copy, CUstream stream)
{
  if (copy->width == 0 || copy->height == 0)
    return CUDA_SUCCESS;
  note_registered(copy, &copy->to);
  note_registered(copy, &copy->from);
  return fake_stream_push(stream, run_copy, copy, sizeof(*copy))
             ? CUDA_SUCCESS
             : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                  CUstream stream)
{
  Copy copy = {{(uint8_t *)to}, {(uint8_t *)from}, size, 1};

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  CHECK(fake_memory_check((void *)to, size));
  return push(&copy, stream);
}

PUBLIC CUresult CUDAAPI
cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
  Copy copy = {{to}, {(uint8_t *)from}, size, 1};

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  CHECK(fake_memory_check((void *)from, size));
  return push(&copy, stream);
}

PUBLIC CUresult CUDAAPI
cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream)
{
  Copy copy = {{(uint8_t *)to}, {NULL}, 4 * n, 1};

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  CHECK(fake_memory_check((void *)to, 4 * n));
  if (value != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  return push(&copy, stream);
}

/* One side of a copy as cuMemcpy2D gets it. */
typedef struct {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  size_t x, y, pitch;
} Place;

static CUresult
place_to_side(const Place *place, const Copy *copy, Side *side)
{
  int on_host = place->type == CU_MEMORYTYPE_HOST;

  if (!on_host && place->type != CU_MEMORYTYPE_DEVICE &&
      place->type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (place->pitch < place->x + copy->width)
    return CUDA_ERROR_INVALID_VALUE;
  side->start = on_host ? (uint8_t *)place->host : (uint8_t *)place->device;
  side->start += place->y * place->pitch + place->x;
  side->pitch = place->pitch;
  return place->type == CU_MEMORYTYPE_DEVICE
             ? fake_memory_check(side->start, extent(copy, side))
             : CUDA_SUCCESS;
}

static CUresult
read_copy(const CUDA_MEMCPY2D *from, Copy *copy)
{
  const Place source = {from->srcMemoryType, from->srcHost, from->srcDevice,
                        from->srcXInBytes,   from->srcY,    from->srcPitch};
  const Place target = {from->dstMemoryType, from->dstHost, from->dstDevice,
                        from->dstXInBytes,   from->dstY,    from->dstPitch};

  *copy = (Copy){.width = from->WidthInBytes, .height = from->Height};
  if (copy->width == 0 || copy->height == 0)
    return CUDA_SUCCESS;
  CHECK(place_to_side(&source, copy, &copy->from));
  return place_to_side(&target, copy, &copy->to);
}

/* The real one need not wait either where no side is the host's: what works on
 * the copy then has to be ordered after the default stream. */
PUBLIC CUresult CUDAAPI
cuMemcpy2D(const CUDA_MEMCPY2D *how)
{
  CUstream stream = NULL;
  Copy copy;

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  CHECK(read_copy(how, &copy));
  CHECK(push(&copy, stream));
  if (how->srcMemoryType != CU_MEMORYTYPE_DEVICE ||
      how->dstMemoryType != CU_MEMORYTYPE_DEVICE)
    fake_stream_wait(stream);
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuMemcpy2DAsync(const CUDA_MEMCPY2D *how, CUstream stream)
{
  Copy copy;

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  CHECK(read_copy(how, &copy));
  return push(&copy, stream);
}
