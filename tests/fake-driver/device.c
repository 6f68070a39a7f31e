/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fake driver and its one device. */

#include "control.h"

#include <string.h>

static const struct {
  CUdevice_attribute attribute;
  int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 99 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 100 << 10},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
};

PUBLIC CUresult CUDAAPI
cuInit(unsigned flags)
{
  return fake_begin();
}

PUBLIC CUresult CUDAAPI
cuDriverGetVersion(int *version)
{
  *version = CUDA_VERSION;
  return fake_begin();
}

PUBLIC CUresult CUDAAPI
cuGetErrorName(CUresult error, const char **name)
{
  *name = "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuGetErrorString(CUresult error, const char **text)
{
  *text = "the fake driver was told so";
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetCount(int *n)
{
  CHECK(fake_begin());
  *n = 1;
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDeviceGet(CUdevice *device, int id)
{
  CHECK(fake_begin());
  *device = id;
  return id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetName(char *name, int size, CUdevice device)
{
  CHECK(fake_begin());
  strncpy(name, "fake device", (size_t)size - 1);
  name[size - 1] = '\0';
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
  CHECK(fake_begin());
  for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
    if (attributes[i].attribute == attribute) {
      *value = attributes[i].value;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/* A device is no peer of its own. */
PUBLIC CUresult CUDAAPI
cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
  CHECK(fake_begin());
  *can = 0;
  return CUDA_SUCCESS;
}
