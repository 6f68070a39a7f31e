/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GhDriver driver;
static bool loaded;

/* POSIX lets dlsym() return functions as objects; ISO C has no such cast. */
static GhStatus
resolve(void *library, const char *name, void *function, GhError *error)
{
  void *symbol = dlsym(library, name);

  if (!symbol)
    return gh_fail(error, GH_FAILED,
                   "the CUDA driver is too old: " LIBRARY " has no %s", name);
  memcpy(function, &symbol, sizeof(symbol));
  return GH_OK;
}

static GhStatus
load(GhError *error)
{
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  GhStatus status = GH_OK;

  if (!library)
    return gh_fail(error, GH_ABSENT, "there is no CUDA driver (%s)", dlerror());
#define X(name, type)  \
  if (status == GH_OK) \
    status = resolve(library, #name, &driver.name, error);
  GH_DRIVER_FUNCTIONS(X)
#undef X
  if (status != GH_OK)
    dlclose(library);
  return status;
}

GhStatus
gh_driver_get(const GhDriver **out, GhError *error)
{
  GhStatus status = GH_OK;

  pthread_mutex_lock(&lock);
  if (!loaded)
    status = load(error);
  if (status == GH_OK)
    loaded = true;
  pthread_mutex_unlock(&lock);
  *out = status == GH_OK ? &driver : NULL;
  return status;
}

bool
gh_driver_ok(const GhDriver *cuda, CUresult result, const char *call,
             GhError *error)
{
  const char *name = NULL, *text = NULL;

  if (result == CUDA_SUCCESS)
    return true;
  if (cuda->cuGetErrorName(result, &name) != CUDA_SUCCESS)
    name = "unknown error";
  if (cuda->cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = "no description";
  /* Without the version that some of the symbols end with. */
  gh_fail(error, GH_FAILED, "%.*s gave %s (%s)", (int)strcspn(call, "_"), call,
          name, text);
  return false;
}

static GhStatus
find_device(const GhDriver *cuda, int id, CUdevice *device, GhError *error)
{
  CUresult initialised = cuda->cuInit(0);
  int n = 0;

  if (!gh_driver_ok(cuda, initialised, "cuInit", error))
    return initialised == CUDA_ERROR_NO_DEVICE ? GH_ABSENT : GH_FAILED;
  if (!gh_driver_ok(cuda, cuda->cuDeviceGetCount(&n), "cuDeviceGetCount",
                    error))
    return GH_FAILED;
  if (n == 0)
    return gh_fail(error, GH_ABSENT, "the CUDA driver sees no device");
  if (id >= n)
    return gh_fail(error, GH_FAILED,
                   "there is no CUDA device %d, only %d, numbered from 0", id,
                   n);
  return gh_driver_ok(cuda, cuda->cuDeviceGet(device, id < 0 ? 0 : id),
                      "cuDeviceGet", error)
             ? GH_OK
             : GH_FAILED;
}

GhStatus
gh_driver_retain(const GhDriver *cuda, int id, CUdevice *device,
                 CUcontext *context, GhError *error)
{
  GhStatus status = find_device(cuda, id, device, error);

  if (status != GH_OK)
    return status;
  return gh_driver_ok(cuda, cuda->cuDevicePrimaryCtxRetain(context, *device),
                      "cuDevicePrimaryCtxRetain", error)
             ? GH_OK
             : GH_FAILED;
}

bool
gh_driver_push(const GhDriver *cuda, CUcontext context, GhError *error)
{
  return gh_driver_ok(cuda, cuda->cuCtxPushCurrent_v2(context),
                      "cuCtxPushCurrent_v2", error);
}

void
gh_driver_pop(const GhDriver *cuda)
{
  CUcontext popped;

  cuda->cuCtxPopCurrent_v2(&popped);
}
