/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of the fake driver: all of it is the host's. */

#include "control.h"
#include "objects.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* Of the device's memory, for textures too. */
#define ALIGNMENT 256
#define PITCH 512

#define ROUND_UP(n, to) (((n) + (to)-1) / (to) * (to))

PUBLIC CUresult CUDAAPI
cuMemAlloc(CUdeviceptr *memory, size_t size)
{
  void *host;

  CHECK(fake_begin_in_context());
  host = aligned_alloc(ALIGNMENT, ROUND_UP(size, ALIGNMENT));
  *memory = (CUdeviceptr)host;
  return fake_object_add(FAKE_DEVICE_MEMORY, host, size, free);
}

/* There is always something behind a row, and it is not what a frame has. */
PUBLIC CUresult CUDAAPI
cuMemAllocPitch(CUdeviceptr *memory, size_t *pitch, size_t width, size_t height,
                unsigned element)
{
  void *host;

  CHECK(fake_begin_in_context());
  if (width == 0 || height == 0 ||
      (element != 4 && element != 8 && element != 16))
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = ROUND_UP(width + 1, PITCH);
  host = aligned_alloc(PITCH, *pitch * height);
  if (host)
    memset(host, 0xDB, *pitch * height);
  *memory = (CUdeviceptr)host;
  return fake_object_add(FAKE_DEVICE_MEMORY, host, *pitch * height, free);
}

/* The real one waits for the whole device. libgstcuda counts on it for the
 * default stream; who has streams of his own had better not. */
PUBLIC CUresult CUDAAPI
cuMemFree(CUdeviceptr memory)
{
  FakeMemory found;

  if (fake_memory_find((void *)memory, 1, &found))
    fake_stream_wait_default(found.context);
  return fake_object_release(FAKE_DEVICE_MEMORY, (void *)memory, __func__);
}

PUBLIC CUresult CUDAAPI
cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
  CHECK(fake_begin_in_context());
  *memory = malloc(size);
  return fake_object_add(FAKE_HOST_MEMORY, *memory, size, free);
}

PUBLIC CUresult CUDAAPI
cuMemAllocHost(void **memory, size_t size)
{
  return cuMemHostAlloc(memory, size, 0);
}

PUBLIC CUresult CUDAAPI
cuMemFreeHost(void *memory)
{
  return fake_object_release(FAKE_HOST_MEMORY, memory, __func__);
}

PUBLIC CUresult CUDAAPI
cuMemHostRegister(void *memory, size_t size, unsigned flags)
{
  CHECK(fake_begin_in_context());
  if (!memory || size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return fake_memory_register(memory, size);
}

PUBLIC CUresult CUDAAPI
cuMemHostUnregister(void *memory)
{
  int known = fake_object_remove(FAKE_REGISTERED_MEMORY, memory);

  CHECK(fake_begin_in_context());
  return known ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

PUBLIC CUresult CUDAAPI
cuMemHostGetDevicePointer(CUdeviceptr *device, void *memory, unsigned flags)
{
  FakeMemory found;

  CHECK(fake_begin_in_context());
  if (!fake_memory_find(memory, 1, &found) || found.kind == FAKE_DEVICE_MEMORY)
    return CUDA_ERROR_INVALID_VALUE;
  *device = (CUdeviceptr)memory;
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                      CUdeviceptr pointer)
{
  FakeMemory found;

  CHECK(fake_begin_in_context());
  if (!fake_memory_find((void *)pointer, 1, &found))
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)value = found.context;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)value = found.kind == FAKE_DEVICE_MEMORY ? CU_MEMORYTYPE_DEVICE
                                                          : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *(CUdeviceptr *)value = pointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *(int *)value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}
