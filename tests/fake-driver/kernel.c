/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Modules of the fake driver, and what its kernels do. */

#include "control.h"
#include "launch.h"
#include "objects.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

struct CUfunc_st {
  const char *name;
};

static struct CUfunc_st functions[] = {
    {"gh_u8_global"},     {"gh_u8_tables"}, {"gh_u8_lanes"},
    {"gh_u8_lanes_flat"}, {"gh_u8_sort"},   {"gh_u32_global"},
    {"gh_u32_tables"},    {"gh_u32_lanes"}, {"gh_u32_sort"}};

PUBLIC CUresult CUDAAPI
cuModuleLoadData(CUmodule *module, const void *image)
{
  CHECK(fake_begin_in_context());
  *module = malloc(1);
  return fake_object_add(FAKE_MODULE, *module, 0, free);
}

PUBLIC CUresult CUDAAPI
cuModuleUnload(CUmodule module)
{
  return fake_object_release(FAKE_MODULE, module);
}

PUBLIC CUresult CUDAAPI
cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_object_check(FAKE_MODULE, module));
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
  return fake_begin_in_context();
}

typedef struct {
  GhLaunch launch;
  int words;      /* samples of 32 bits */
  int registered; /* the samples are in memory that has to stay so */
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

static size_t
counts_size(const GhLaunch *launch)
{
  return 4 * (size_t)GH_DEVICE_COUNTS_WORDS(launch->bins);
}

static size_t
samples_size(const GhLaunch *launch)
{
  return launch->rows == 0
             ? 0
             : (launch->rows - 1) * launch->pitch + launch->row_size;
}

/* What every kernel does, by its argument alone. */
static void
run_kernel(void *data)
{
  const Kernel *kernel = data;
  const GhLaunch *launch = &kernel->launch;
  FakeMemory memory;

  if (kernel->registered &&
      !fake_memory_find(launch->samples, samples_size(launch), &memory))
    fake_fault("memory was unregistered before its kernel was done");
  for (uint64_t y = 0; y < launch->rows; y++)
    count_row(kernel, launch->samples + y * launch->pitch);
  if (launch->next)
    memset(launch->next, 0, counts_size(launch));
  if (launch->result) {
    pack(launch->counts, launch->bins, launch->result);
    memset(launch->counts, 0, counts_size(launch));
  }
}

/* The device would come to know it only while it runs. */
static CUresult
check_addresses(const GhLaunch *launch)
{
  size_t result = 4 * (size_t)GH_PACKED_COUNTS_WORDS(launch->bins);

  if (samples_size(launch) > 0)
    CHECK(fake_memory_check(launch->samples, samples_size(launch)));
  CHECK(fake_memory_check(launch->counts, counts_size(launch)));
  if (launch->next)
    CHECK(fake_memory_check(launch->next, counts_size(launch)));
  return launch->result ? fake_memory_check(launch->result, result)
                        : CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
               unsigned grid_z, unsigned block_x, unsigned block_y,
               unsigned block_z, unsigned shared, CUstream stream,
               void **arguments, void **extra)
{
  Kernel kernel;
  FakeMemory memory;

  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || shared > 99 << 10)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(&kernel.launch, arguments[0], sizeof(kernel.launch));
  if (check_addresses(&kernel.launch) != CUDA_SUCCESS)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  kernel.words = strncmp(function->name, "gh_u32", 6) == 0;
  kernel.registered = fake_memory_find(kernel.launch.samples, 1, &memory) &&
                      memory.kind == FAKE_REGISTERED_MEMORY;
  return fake_stream_push(stream, run_kernel, &kernel, sizeof(kernel))
             ? CUDA_SUCCESS
             : CUDA_ERROR_OUT_OF_MEMORY;
}
