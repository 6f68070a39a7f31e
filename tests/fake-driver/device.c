/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fake driver and its one device. */

#include "control.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  CUdevice_attribute attribute;
  int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 99 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 100 << 10},
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
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");

  CHECK(fake_begin());
  return visible && (visible[0] == '\0' || visible[0] == '-')
             ? CUDA_ERROR_NO_DEVICE
             : CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDriverGetVersion(int *version)
{
  *version = fake_version();
  return fake_begin();
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

static CUresult
find_attribute(CUdevice_attribute attribute, int *value)
{
  for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
    if (attributes[i].attribute == attribute) {
      *value = attributes[i].value;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
  CHECK(fake_begin());
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = fake_capability() / 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = fake_capability() % 10;
    return CUDA_SUCCESS;
  default:
    return find_attribute(attribute, value);
  }
}

/* A device is no peer of its own. */
PUBLIC CUresult CUDAAPI
cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
  CHECK(fake_begin());
  *can = 0;
  return CUDA_SUCCESS;
}
