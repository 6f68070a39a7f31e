/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The CUDA driver, opened at run time: nothing links to it.
 *
 * Entry points are asked for by the versioned names that the types belong to,
 * so that a newer toolkit does not quietly ask for a newer driver.
 */

#pragma once

#include "engine-private.h"

#include <cuda.h>
#include <cudaTypedefs.h>

/* clang-format off */
#define GH_DRIVER_FUNCTIONS(X)                                                 \
  X(cuInit, PFN_cuInit_v2000)                                                  \
  X(cuDriverGetVersion, PFN_cuDriverGetVersion_v2020)                          \
  X(cuGetErrorName, PFN_cuGetErrorName_v6000)                                  \
  X(cuGetErrorString, PFN_cuGetErrorString_v6000)                              \
  X(cuDeviceGetCount, PFN_cuDeviceGetCount_v2000)                              \
  X(cuDeviceGet, PFN_cuDeviceGet_v2000)                                        \
  X(cuDeviceGetName, PFN_cuDeviceGetName_v2000)                                \
  X(cuDeviceGetAttribute, PFN_cuDeviceGetAttribute_v2000)                      \
  X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)              \
  X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000)        \
  X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                           \
  X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                             \
  X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                                  \
  X(cuCtxSynchronize, PFN_cuCtxSynchronize_v2000)                              \
  X(cuModuleLoadData, PFN_cuModuleLoadData_v2000)                              \
  X(cuModuleUnload, PFN_cuModuleUnload_v2000)                                  \
  X(cuModuleGetFunction, PFN_cuModuleGetFunction_v2000)                        \
  X(cuFuncSetAttribute, PFN_cuFuncSetAttribute_v9000)                          \
  X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                       \
  X(cuMemFree_v2, PFN_cuMemFree_v3020)                                         \
  X(cuMemHostAlloc, PFN_cuMemHostAlloc_v2020)                                  \
  X(cuMemFreeHost, PFN_cuMemFreeHost_v2000)                                    \
  X(cuMemHostGetDevicePointer_v2, PFN_cuMemHostGetDevicePointer_v3020)         \
  X(cuMemHostRegister_v2, PFN_cuMemHostRegister_v6050)                         \
  X(cuMemHostUnregister, PFN_cuMemHostUnregister_v4000)                        \
  X(cuMemcpyHtoDAsync_v2, PFN_cuMemcpyHtoDAsync_v3020)                         \
  X(cuMemsetD32Async, PFN_cuMemsetD32Async_v3020)                              \
  X(cuLaunchKernel, PFN_cuLaunchKernel_v4000)                                  \
  X(cuStreamCreate, PFN_cuStreamCreate_v2000)                                  \
  X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                             \
  X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                        \
  X(cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020)                            \
  X(cuEventCreate, PFN_cuEventCreate_v2000)                                    \
  X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                               \
  X(cuEventRecord, PFN_cuEventRecord_v2000)                                    \
  X(cuEventQuery, PFN_cuEventQuery_v2000)                                      \
  X(cuEventElapsedTime, PFN_cuEventElapsedTime_v2000)
/* clang-format on */

/* The header gives these names to later versions of the functions. */
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuEventElapsedTime

typedef struct {
#define X(name, type) type name;
  GH_DRIVER_FUNCTIONS(X)
#undef X
} GhDriver;

/*
 * Opens the driver library, once in a process; it stays open until the process
 * ends. Does not initialise the driver. Returns GH_OK and *driver; GH_ABSENT
 * where there is no driver, GH_FAILED where it is too old: the next call then
 * tries again. Any thread.
 */
GhStatus gh_driver_get(const GhDriver **driver, GhError *error);

/*
 * Initialises the driver, finds a device by its number, or the first one for a
 * negative number, and retains its primary context. GH_ABSENT where the driver
 * sees no device. *context is set where, and only where, it is to be released.
 */
GhStatus gh_driver_retain(const GhDriver *driver, int id, CUdevice *device,
                          CUcontext *context, GhError *error);

/* Makes a context the calling thread's current one, until it is popped. */
bool gh_driver_push(const GhDriver *driver, CUcontext context, GhError *error);
void gh_driver_pop(const GhDriver *driver);

/* Whether a driver call succeeded; otherwise *error names `call`, the
 * driver's name for the code and its text. */
bool gh_driver_ok(const GhDriver *driver, CUresult result, const char *call,
                  GhError *error);

/*
 * Adds to the cause in *error what a device that cannot be used mostly suffers
 * from: code for other devices or for a newer driver. Says which compute
 * capability `device` has, where it is not NULL, which CUDA the driver is for,
 * and which one this was built with.
 */
void gh_driver_explain(const GhDriver *driver, const CUdevice *device,
                       GhError *error);
