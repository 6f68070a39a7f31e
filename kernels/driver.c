/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

static const struct {
  const char *name;
  size_t offset; /* in GhDriver */
} functions[] = {
#define X(name, type) {#name, offsetof(GhDriver, name)},
    GH_DRIVER_FUNCTIONS(X)
#undef X
};

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
  for (size_t i = 0;
       i < sizeof(functions) / sizeof(functions[0]) && status == GH_OK; i++)
    status = resolve(library, functions[i].name,
                     (char *)&driver + functions[i].offset, error);
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
  /* Without the version that some of the symbols end with. */
  const int length = (int)strcspn(call, "_");
  const char *name = NULL, *text = NULL;

  if (result == CUDA_SUCCESS)
    return true;
  /* It need not have a name for each code. */
  if (cuda->cuGetErrorName(result, &name) != CUDA_SUCCESS ||
      cuda->cuGetErrorString(result, &text) != CUDA_SUCCESS)
    gh_fail(error, GH_FAILED, "%.*s gave error %d", length, call, (int)result);
  else
    gh_fail(error, GH_FAILED, "%.*s gave %s (%s)", length, call, name, text);
  return false;
}

__attribute__((format(printf, 2, 3))) static void
append_cause(GhError *error, const char *format, ...)
{
  size_t length = strlen(error->text);
  va_list args;

  va_start(args, format);
  vsnprintf(error->text + length, sizeof(error->text) - length, format, args);
  va_end(args);
}

/* Where the driver does not even say this, there is nothing to add. */
void
gh_driver_explain(const GhDriver *cuda, const CUdevice *device, GhError *error)
{
  int major, minor, version;

  if (device &&
      cuda->cuDeviceGetAttribute(&major,
                                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                 *device) == CUDA_SUCCESS &&
      cuda->cuDeviceGetAttribute(&minor,
                                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                 *device) == CUDA_SUCCESS)
    append_cause(error, " on compute capability %d.%d", major, minor);
  if (cuda->cuDriverGetVersion(&version) == CUDA_SUCCESS)
    append_cause(error,
                 " with a driver for CUDA %d.%d%s; this was built with CUDA "
                 "%d.%d",
                 version / 1000, version % 1000 / 10,
                 version < CUDA_VERSION ? ", an older one" : "",
                 CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

static GhStatus
find_device(const GhDriver *cuda, int id, CUdevice *device, GhError *error)
{
  CUresult initialised = cuda->cuInit(0);
  int n = 0;

  if (!gh_driver_ok(cuda, initialised, "cuInit", error)) {
    if (initialised == CUDA_ERROR_NO_DEVICE)
      return GH_ABSENT;
    gh_driver_explain(cuda, NULL, error);
    return GH_FAILED;
  }
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
