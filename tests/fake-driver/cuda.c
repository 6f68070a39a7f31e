/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions of the driver that the CUDA engine calls. */

#include "fake-driver.h"
#include "launch.h"
#include "objects.h"
#include "stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The header gives this name to a later version of the function. */
#undef cuEventElapsedTime

#define PUBLIC __attribute__((visibility("default")))
#define MOST_CONTEXTS 8

struct CUctx_st {
  int unused;
};

struct CUfunc_st {
  const char *name;
};

static struct CUctx_st primary;
static struct CUfunc_st functions[] = {
    {"gh_u8_global"},     {"gh_u8_tables"}, {"gh_u8_lanes"},
    {"gh_u8_lanes_flat"}, {"gh_u8_sort"},   {"gh_u32_global"},
    {"gh_u32_tables"},    {"gh_u32_lanes"}, {"gh_u32_sort"}};

static _Thread_local CUcontext contexts[MOST_CONTEXTS];
static _Thread_local unsigned n_contexts;

static atomic_uint calls;
static atomic_uint retained;
static atomic_uint lost; /* went with their context, without an excuse */
static atomic_int push_failed;
static atomic_uint fail_call;
static atomic_int fail_code;
static atomic_int fail_ever;

PUBLIC void fake_driver_fail(unsigned call, int code, int ever);
PUBLIC unsigned fake_driver_calls(void);
PUBLIC void fake_driver_delay(unsigned microseconds);
PUBLIC unsigned fake_driver_objects(void);

__attribute__((constructor)) static void
read_environment(void)
{
  const char *delay = getenv("FAKE_DRIVER_DELAY");

  if (delay)
    fake_stream_set_delay((unsigned)strtoul(delay, NULL, 10));
}

void
fake_driver_fail(unsigned call, int code, int ever)
{
  atomic_store(&fail_code, code);
  atomic_store(&fail_ever, ever);
  atomic_store(&calls, 0);
  atomic_store(&lost, 0);
  atomic_store(&push_failed, 0);
  atomic_store(&fail_call, call);
}

unsigned
fake_driver_calls(void)
{
  return atomic_load(&calls);
}

void
fake_driver_delay(unsigned microseconds)
{
  fake_stream_set_delay(microseconds);
}

unsigned
fake_driver_objects(void)
{
  return fake_object_count() + atomic_load(&retained) + atomic_load(&lost);
}

/* Counts the call, and says how it ends. */
static CUresult
begin(void)
{
  unsigned call = atomic_fetch_add(&calls, 1) + 1;
  unsigned failing = atomic_load(&fail_call);

  if (failing &&
      (call == failing || (call > failing && atomic_load(&fail_ever))))
    return (CUresult)atomic_load(&fail_code);
  return CUDA_SUCCESS;
}

/* The same for calls that need a current context. */
static CUresult
begin_in_context(void)
{
  CUresult result = begin();

  return result == CUDA_SUCCESS && n_contexts == 0 ? CUDA_ERROR_INVALID_CONTEXT
                                                   : result;
}

#define BEGIN(how)             \
  do {                         \
    CUresult begun = how();    \
    if (begun != CUDA_SUCCESS) \
      return begun;            \
  } while (0)

static CUresult
made(void *object, FakeFree release)
{
  return object && fake_object_add(object, release) ? CUDA_SUCCESS
                                                    : CUDA_ERROR_OUT_OF_MEMORY;
}

static void
free_stream(void *stream)
{
  fake_stream_free(stream);
}

static void
free_event(void *event)
{
  fake_event_free(event);
}

PUBLIC CUresult CUDAAPI
cuInit(unsigned flags)
{
  return begin();
}

PUBLIC CUresult CUDAAPI
cuDriverGetVersion(int *version)
{
  *version = CUDA_VERSION;
  return begin();
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
  BEGIN(begin);
  *n = 1;
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDeviceGet(CUdevice *device, int id)
{
  BEGIN(begin);
  *device = id;
  return id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetName(char *name, int size, CUdevice device)
{
  BEGIN(begin);
  strncpy(name, "fake device", (size_t)size - 1);
  name[size - 1] = '\0';
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
  BEGIN(begin);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 4;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 99 << 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = 100 << 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

PUBLIC CUresult CUDAAPI
cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
  BEGIN(begin);
  *context = &primary;
  atomic_fetch_add(&retained, 1);
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDevicePrimaryCtxRelease(CUdevice device)
{
  /* Nobody can free anything in a context that cannot be made current; what
   * is left then goes with the context. */
  if (atomic_fetch_sub(&retained, 1) == 1 && fake_object_remove_all() > 0 &&
      !atomic_load(&push_failed))
    atomic_store(&lost, 1);
  return begin();
}

PUBLIC CUresult CUDAAPI
cuCtxPushCurrent(CUcontext context)
{
  CUresult result = begin();

  if (result != CUDA_SUCCESS) {
    atomic_store(&push_failed, 1);
    return result;
  }
  if (n_contexts == MOST_CONTEXTS)
    return CUDA_ERROR_INVALID_CONTEXT;
  contexts[n_contexts++] = context;
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuCtxPopCurrent(CUcontext *context)
{
  if (n_contexts == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  *context = contexts[--n_contexts];
  return begin();
}

PUBLIC CUresult CUDAAPI
cuCtxGetCurrent(CUcontext *context)
{
  *context = n_contexts ? contexts[n_contexts - 1] : NULL;
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuModuleLoadData(CUmodule *module, const void *image)
{
  BEGIN(begin_in_context);
  *module = malloc(1);
  return made(*module, free);
}

PUBLIC CUresult CUDAAPI
cuModuleUnload(CUmodule module)
{
  fake_object_remove(module);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
  BEGIN(begin_in_context);
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    if (strcmp(functions[i].name, name) == 0) {
      *function = &functions[i];
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}

PUBLIC CUresult CUDAAPI
cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                   int value)
{
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuMemAlloc(CUdeviceptr *memory, size_t size)
{
  void *host;

  BEGIN(begin_in_context);
  host = aligned_alloc(256, (size + 255) / 256 * 256);
  *memory = (CUdeviceptr)host;
  return made(host, free);
}

PUBLIC CUresult CUDAAPI
cuMemFree(CUdeviceptr memory)
{
  fake_object_remove((void *)memory);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
  BEGIN(begin_in_context);
  *memory = malloc(size);
  return made(*memory, free);
}

PUBLIC CUresult CUDAAPI
cuMemFreeHost(void *memory)
{
  fake_object_remove(memory);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuMemHostGetDevicePointer(CUdeviceptr *device, void *memory, unsigned flags)
{
  BEGIN(begin_in_context);
  *device = (CUdeviceptr)memory;
  return CUDA_SUCCESS;
}

typedef struct {
  void *to;
  const void *from; /* NULL: zeroes */
  size_t size;
} Copy;

static void
run_copy(void *data)
{
  const Copy *copy = data;

  if (copy->from)
    memcpy(copy->to, copy->from, copy->size);
  else
    memset(copy->to, 0, copy->size);
}

static CUresult
push(CUstream stream, FakeRun run, const void *data, size_t size)
{
  return fake_stream_push(stream, run, data, size) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                  CUstream stream)
{
  const Copy copy = {(void *)to, from, size};

  BEGIN(begin_in_context);
  return push(stream, run_copy, &copy, sizeof(copy));
}

PUBLIC CUresult CUDAAPI
cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream)
{
  const Copy copy = {(void *)to, NULL, 4 * n};

  BEGIN(begin_in_context);
  if (value != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  return push(stream, run_copy, &copy, sizeof(copy));
}

typedef struct {
  GhLaunch launch;
  int words; /* samples of 32 bits */
} Kernel;

static void
count_row(const Kernel *kernel, const uint8_t *row)
{
  GhDeviceCounts *counts = kernel->launch.counts;
  uint32_t *bins = (uint32_t *)(counts + 1);
  size_t size = kernel->words ? 4 : 1;

  for (uint64_t at = 0; at + size <= kernel->launch.row_size; at += size) {
    uint32_t sample = row[at];

    if (kernel->words)
      memcpy(&sample, row + at, size);
    if (sample < kernel->launch.bins)
      bins[GH_DEVICE_COUNTS_BIN(sample)]++;
    counts->sum += sample;
  }
}

static void
pack(const GhDeviceCounts *from, uint32_t bins, GhPackedCounts *to)
{
  to->sum = from->sum;
  for (uint32_t b = 0; b < bins; b++)
    ((uint32_t *)(to + 1))[b] =
        ((const uint32_t *)(from + 1))[GH_DEVICE_COUNTS_BIN(b)];
}

/* What every kernel does, by its argument alone. */
static void
run_kernel(void *data)
{
  const Kernel *kernel = data;
  const GhLaunch *launch = &kernel->launch;
  size_t size = 4 * (size_t)GH_DEVICE_COUNTS_WORDS(launch->bins);

  for (uint64_t y = 0; y < launch->rows; y++)
    count_row(kernel, launch->samples + y * launch->pitch);
  if (launch->next)
    memset(launch->next, 0, size);
  if (launch->result) {
    pack(launch->counts, launch->bins, launch->result);
    memset(launch->counts, 0, size);
  }
}

PUBLIC CUresult CUDAAPI
cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
               unsigned grid_z, unsigned block_x, unsigned block_y,
               unsigned block_z, unsigned shared, CUstream stream,
               void **arguments, void **extra)
{
  Kernel kernel;

  BEGIN(begin_in_context);
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || shared > 99 << 10)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(&kernel.launch, arguments[0], sizeof(kernel.launch));
  kernel.words = strncmp(function->name, "gh_u32", 6) == 0;
  return push(stream, run_kernel, &kernel, sizeof(kernel));
}

PUBLIC CUresult CUDAAPI
cuStreamCreate(CUstream *stream, unsigned flags)
{
  BEGIN(begin_in_context);
  *stream = fake_stream_new();
  return made(*stream, free_stream);
}

PUBLIC CUresult CUDAAPI
cuStreamDestroy(CUstream stream)
{
  fake_object_remove(stream);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuStreamSynchronize(CUstream stream)
{
  fake_stream_wait(stream);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuEventCreate(CUevent *event, unsigned flags)
{
  BEGIN(begin_in_context);
  *event = fake_event_new();
  return made(*event, free_event);
}

PUBLIC CUresult CUDAAPI
cuEventDestroy(CUevent event)
{
  fake_object_remove(event);
  return begin_in_context();
}

PUBLIC CUresult CUDAAPI
cuEventRecord(CUevent event, CUstream stream)
{
  BEGIN(begin_in_context);
  return fake_event_record(event, stream) ? CUDA_SUCCESS
                                          : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuEventQuery(CUevent event)
{
  BEGIN(begin_in_context);
  return fake_event_is_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

PUBLIC CUresult CUDAAPI
cuEventSynchronize(CUevent event)
{
  BEGIN(begin_in_context);
  fake_event_wait(event);
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start,
                                           CUevent end);

CUresult CUDAAPI
cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
  BEGIN(begin_in_context);
  *milliseconds =
      (float)((fake_event_time(end) - fake_event_time(start)) * 1e-6);
  return CUDA_SUCCESS;
}
