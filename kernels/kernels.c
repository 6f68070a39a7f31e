/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernels.h"

#include "fatbin.h"

#include <stdio.h>
#include <string.h>

/* How a kernel is started. */
typedef struct {
  const char *name;
  uint32_t threads;       /* of a block */
  uint32_t small_threads; /* the same where all have something to do at once */
  uint32_t thread_quads;  /* that make one more thread worth it */
  uint32_t blocks;        /* on a multiprocessor, at most */
} Kernel;

/* In the order of GhAlgorithm, for each sample type; then the kernels for
 * frames without gaps. Numbers of blocks are measured; see NOTES.md. */
#define TABLES GH_TABLES_THREADS, GH_TABLES_THREADS
#define LANES GH_LANES_THREADS, GH_LANES_THREADS / 2
#define SORT GH_SORT_THREADS, GH_SORT_THREADS
static const Kernel table[GH_N_KERNELS] = {
    {"gh_u8_global", TABLES, 1, 8},    {"gh_u8_tables", TABLES, 1, 8},
    {"gh_u8_lanes", LANES, 1, 1},      {"gh_u8_sort", SORT, 1, 4},
    {"gh_u32_global", TABLES, 1, 8},   {"gh_u32_tables", TABLES, 1, 8},
    {"gh_u32_lanes", LANES, 1, 1},     {"gh_u32_sort", SORT, 4, 4},
    {"gh_u8_lanes_flat", LANES, 1, 1},
};

enum { KERNEL_GLOBAL, KERNEL_TABLES, KERNEL_LANES, KERNEL_SORT };
enum { KERNELS_U8 = 0, KERNELS_U32 = 4, KERNEL_U8_LANES_FLAT = 8 };

/* Shared memory that the kernels have beside their tables. */
#define STATIC_SHARED 1024

#define TRY(name, ...)                                                     \
  gh_driver_ok(kernels->driver, kernels->driver->name(__VA_ARGS__), #name, \
               error)

/* The usual cause of a failure is code for other devices or for a newer
 * driver, so the cause says which these are. */
static void
explain_load(const GhDriver *driver, CUdevice device, GhError *error)
{
  int major = 0, minor = 0, version = 0;
  size_t length = strlen(error->text);

  driver->cuDeviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  driver->cuDeviceGetAttribute(
      &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  driver->cuDriverGetVersion(&version);
  snprintf(error->text + length, sizeof(error->text) - length,
           " on compute capability %d.%d with a driver for CUDA %d.%d, built "
           "with CUDA %d.%d",
           major, minor, version / 1000, version % 1000 / 10,
           CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

static bool
read_device(GhKernels *kernels, CUdevice device, GhError *error)
{
  int processors = 0, block = 0, all = 0;

  if (!TRY(cuDeviceGetAttribute, &processors,
           CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) ||
      !TRY(cuDeviceGetAttribute, &block,
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) ||
      !TRY(cuDeviceGetAttribute, &all,
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device))
    return false;
  kernels->processors = (uint32_t)processors;
  kernels->shared_block = (uint32_t)block - STATIC_SHARED;
  kernels->shared_device = (uint32_t)all;
  return true;
}

static bool
find_function(GhKernels *kernels, unsigned index, GhError *error)
{
  bool sorts = index % 4 == KERNEL_SORT;
  CUmodule module = sorts ? kernels->sort_module : kernels->module;
  CUfunction *function = &kernels->functions[index];

  if (!module)
    return true;
  if (!TRY(cuModuleGetFunction, function, module, table[index].name))
    return false;
  return sorts || TRY(cuFuncSetAttribute, *function,
                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      (int)kernels->shared_block);
}

GhStatus
gh_kernels_load(GhKernels *kernels, const GhDriver *driver, CUdevice device,
                bool sort, GhError *error)
{
  kernels->driver = driver;
  if (!read_device(kernels, device, error))
    return GH_FAILED;
  if (!TRY(cuModuleLoadData, &kernels->module, gh_histogram_fatbin) ||
      (sort && !TRY(cuModuleLoadData, &kernels->sort_module, gh_sort_fatbin))) {
    explain_load(driver, device, error);
    return GH_FAILED;
  }
  for (unsigned i = 0; i < GH_N_KERNELS; i++)
    if (!find_function(kernels, i, error))
      return GH_FAILED;
  return GH_OK;
}

void
gh_kernels_unload(GhKernels *kernels)
{
  if (kernels->sort_module)
    kernels->driver->cuModuleUnload(kernels->sort_module);
  if (kernels->module)
    kernels->driver->cuModuleUnload(kernels->module);
  kernels->sort_module = NULL;
  kernels->module = NULL;
}

/* Rows as the grid walks over them; rows without a gap are one long row. */
static GhStatus
set_rows(GhLaunch *launch, const GhDeviceFrame *frame, GhError *error)
{
  uint32_t sample = frame->type == GH_SAMPLE_U32 ? 4 : 1;
  uint64_t row_size = (uint64_t)frame->width * sample;
  uint64_t quads;

  launch->samples = (const uint8_t *)(uintptr_t)frame->samples;
  launch->pitch = frame->pitch;
  launch->rows = frame->height;
  if (launch->pitch == row_size || frame->height == 1) {
    row_size *= frame->height;
    launch->rows = 1;
  }
  launch->row_size = row_size;
  launch->row_quads = row_size < 16 ? 1 : (uint32_t)(row_size / 16);
  quads = launch->rows == 1 ? row_size / 16
                            : (uint64_t)launch->rows * launch->row_quads;
  /* Threads look up to a few grids past the end. */
  if (quads > UINT32_MAX / 2 || (launch->rows > 1 && row_size > UINT32_MAX))
    return gh_fail(error, GH_FAILED, "cannot count %u rows of %u samples",
                   frame->height, frame->width);
  launch->quads = (uint32_t)quads;
  return GH_OK;
}

static bool
is_flat(const GhLaunch *launch)
{
  return launch->rows == 1 && (uintptr_t)launch->samples % 16 == 0;
}

/* The largest power of two that is not above n. */
static uint32_t
power_of_two_below(uint32_t n)
{
  uint32_t power = 1;

  while (power <= n / 2)
    power *= 2;
  return power;
}

/* A block's tables: as many copies as are wanted and fit; where not even one
 * does, tiles of the bins. Returns their size in bytes. */
static uint32_t
set_tables(GhLaunch *launch, uint32_t bins, uint32_t wanted, uint32_t room)
{
  uint32_t words = room / 4;
  uint32_t fit;

  launch->bins = bins;
  launch->tile_bins = bins;
  if (wanted == 0)
    return 0;
  launch->tile_bins = bins <= words ? bins : power_of_two_below(words);
  fit = power_of_two_below(words / launch->tile_bins);
  launch->copies = wanted < fit ? wanted : fit;
  return (launch->copies * launch->tile_bins * 4 + 15) / 16 * 16;
}

/* Which kernel, and how many copies of a table it wants. */
static unsigned
choose(GhAlgorithm algorithm, bool flat, GhSampleType type, uint32_t *copies)
{
  unsigned base = type == GH_SAMPLE_U32 ? KERNELS_U32 : KERNELS_U8;

  switch (algorithm) {
  case GH_ALGORITHM_GLOBAL:
    *copies = 0;
    return base + KERNEL_GLOBAL;
  case GH_ALGORITHM_BLOCK:
    *copies = 1;
    return base + KERNEL_TABLES;
  case GH_ALGORITHM_WARP:
    *copies = GH_TABLES_THREADS / 32;
    return base + KERNEL_TABLES;
  case GH_ALGORITHM_SORT:
    *copies = 0;
    return base + KERNEL_SORT;
  default:
    *copies = 32;
    return flat && type == GH_SAMPLE_U8 ? (unsigned)KERNEL_U8_LANES_FLAT
                                        : base + KERNEL_LANES;
  }
}

/* Blocks of a tile, and their threads: as many as have something to do and run
 * at the same time. */
static void
choose_grid(const GhKernels *kernels, const Kernel *kernel, uint32_t quads,
            uint32_t shared, uint32_t *blocks, uint32_t *threads)
{
  uint32_t fit = kernels->shared_device / (shared + STATIC_SHARED);
  uint32_t most = kernel->blocks < fit ? kernel->blocks : fit;
  uint32_t block_quads, useful;

  most *= kernels->processors;
  *threads = quads / kernel->small_threads < most ? kernel->small_threads
                                                  : kernel->threads;
  block_quads = *threads * kernel->thread_quads;
  useful = quads < 1 ? 1 : (quads + block_quads - 1) / block_quads;
  *blocks = useful < most ? useful : most;
}

GhStatus
gh_kernels_launch(const GhKernels *kernels, CUstream stream,
                  GhAlgorithm algorithm, const GhDeviceFrame *frame,
                  uint32_t bins, const GhDeviceResult *to, GhError *error)
{
  GhLaunch launch = {
      .counts = (GhDeviceCounts *)(uintptr_t)to->counts,
      .next = (GhDeviceCounts *)(uintptr_t)to->next,
      .result = (GhPackedCounts *)(uintptr_t)to->result,
  };
  void *arguments[] = {&launch};
  uint32_t copies, shared, blocks, threads, tiles;
  const Kernel *kernel;
  unsigned index;
  GhStatus status = set_rows(&launch, frame, error);

  if (status != GH_OK)
    return status;
  if (frame->type == GH_SAMPLE_U32 && !is_flat(&launch))
    return gh_fail(
        error, GH_FAILED,
        "samples of 32 bits have to follow each other from a 16-byte "
        "boundary on");
  index = choose(algorithm, is_flat(&launch), frame->type, &copies);
  kernel = &table[index];
  shared = set_tables(&launch, bins, copies, kernels->shared_block);
  choose_grid(kernels, kernel, launch.quads, shared, &blocks, &threads);
  launch.step_rows = blocks * threads / launch.row_quads;
  launch.step_quads = blocks * threads % launch.row_quads;
  tiles = (bins + launch.tile_bins - 1) / launch.tile_bins;
  return TRY(cuLaunchKernel, kernels->functions[index], blocks, tiles, 1,
             threads, 1, 1, shared, stream, arguments, NULL)
             ? GH_OK
             : GH_FAILED;
}
