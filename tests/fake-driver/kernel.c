/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Modules of the fake driver, and what its kernels do. */

#include "control.h"
#include "image.h"
#include "launch.h"
#include "objects.h"
#include "sample.h"
#include "stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

PUBLIC void fake_driver_miscount(int wrong);

static atomic_int miscounts;

void
fake_driver_miscount(int wrong)
{
  atomic_store(&miscounts, wrong);
}

struct CUfunc_st {
  const char *name;
};

static struct CUfunc_st functions[] = {
    {"gh_u8_global"},       {"gh_u8_tables"},      {"gh_u8_lanes"},
    {"gh_u8_lanes_flat"},   {"gh_u8_sort"},        {"gh_cells_u8_global"},
    {"gh_cells_u8_tables"}, {"gh_cells_u8_lanes"}, {"gh_u16_global"},
    {"gh_u16_tables"},      {"gh_u16_lanes"},      {"gh_u16_copies"},
    {"gh_any_global"},      {"gh_any_tables"},     {"gh_any_copies"},
    {"gh_any_sort"},        {"gh_u32_global"},     {"gh_u32_tables"},
    {"gh_u32_lanes"},       {"gh_u32_sort"},       {"gh_row_sums"}};

PUBLIC CUresult CUDAAPI
cuModuleLoadData(CUmodule *module, const void *image)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_image_check(image));
  *module = malloc(1);
  return fake_object_add(FAKE_MODULE, *module, 0, free);
}

PUBLIC CUresult CUDAAPI
cuModuleUnload(CUmodule module)
{
  return fake_object_release(FAKE_MODULE, module, __func__);
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
  GhCell few[GH_FEW_CELLS];
  uint32_t n_cells; /* blocks of the grid in the direction of the cells */
  int size;         /* bytes of a sample, 0 where only its format tells */
  int sums_rows;
  int registered; /* the samples are in memory that has to stay so */
} Kernel;

static size_t
counts_size(const GhLaunch *launch)
{
  return 4 * (size_t)GH_DEVICE_COUNTS_WORDS(launch->bins, launch->apart);
}

static size_t
result_size(const GhLaunch *launch)
{
  return 4 * (size_t)GH_COUNTS_WORDS(launch->bins);
}

/* What a kernel takes for the whole frame: rows may have become one. */
static GhRect
whole_of(const Kernel *kernel)
{
  const GhLaunch *launch = &kernel->launch;

  return (GhRect){0, 0,
                  kernel->size ? (uint32_t)(launch->row_size / kernel->size)
                               : launch->width,
                  launch->rows};
}

static uint32_t
read_sample(const Kernel *kernel, const uint8_t *row, uint32_t x)
{
  uint32_t word;

  if (kernel->size != 4)
    return gh_sample(&kernel->launch.format, row, x);
  memcpy(&word, row + 4 * (size_t)x, 4);
  return word;
}

static void
count_cell(const Kernel *kernel, const GhRect *cell, GhDeviceCounts *counts)
{
  const GhLaunch *launch = &kernel->launch;
  uint32_t *bins = (uint32_t *)(counts + 1);

  for (uint64_t y = cell->y; y < (uint64_t)cell->y + cell->height; y++) {
    const uint8_t *row = launch->samples + y * launch->pitch;

    for (uint32_t x = cell->x; x < cell->x + cell->width; x++) {
      uint32_t sample = read_sample(kernel, row, x);
      uint32_t bin = sample >> launch->shift;

      if (bin < launch->bins)
        bins[GH_DEVICE_COUNTS_BIN(bin, launch->apart)]++;
      counts->sum += sample;
    }
  }
}

static void
sum_rows(const GhLaunch *launch)
{
  for (uint64_t y = 0; y < launch->rows; y++) {
    const uint8_t *row = launch->samples + y * launch->pitch;

    launch->row_sums[y] = 0;
    for (uint32_t x = 0; x < launch->width; x++)
      launch->row_sums[y] += gh_sample(&launch->format, row, x);
  }
}

static void
pack(const GhDeviceCounts *from, const GhLaunch *launch, GhCounts *to)
{
  const uint32_t *bins = (const uint32_t *)(from + 1);

  to->sum = from->sum + (atomic_load(&miscounts) ? 1 : 0);
  for (uint32_t b = 0; b < launch->bins; b++)
    ((uint32_t *)(to + 1))[b] = bins[GH_DEVICE_COUNTS_BIN(b, launch->apart)];
}

static GhRect
cell_of(const Kernel *kernel, uint32_t index)
{
  if (kernel->launch.n_cells == 0)
    return whole_of(kernel);
  return kernel->launch.cells ? kernel->launch.cells[index]
                              : kernel->few[index].rect;
}

static void
run_cell(const Kernel *kernel, uint32_t index)
{
  const GhLaunch *launch = &kernel->launch;
  size_t place = index * counts_size(launch);
  GhRect cell = cell_of(kernel, index);
  GhDeviceCounts *counts = (void *)((uint8_t *)launch->counts + place);

  count_cell(kernel, &cell, counts);
  if (launch->next)
    memset((uint8_t *)launch->next + place, 0, counts_size(launch));
  if (launch->result) {
    pack(counts, launch,
         (void *)((uint8_t *)launch->result + index * result_size(launch)));
    memset(counts, 0, counts_size(launch));
  }
}

static size_t
row_bytes(const Kernel *kernel)
{
  return kernel->size && kernel->launch.n_cells == 0
             ? kernel->launch.row_size
             : gh_row_bytes(&kernel->launch.format, kernel->launch.width);
}

/* Rows that became one have no more of them to skip. */
static size_t
samples_size(const Kernel *kernel)
{
  const GhLaunch *launch = &kernel->launch;

  return launch->rows == 0
             ? 0
             : (launch->rows - 1) * launch->pitch + row_bytes(kernel);
}

/* What every kernel does, by its argument alone. */
static void
run_kernel(void *data)
{
  const Kernel *kernel = data;
  FakeMemory memory;

  if (!fake_work_begin())
    return;
  if (kernel->registered &&
      !fake_memory_find(kernel->launch.samples, samples_size(kernel), &memory))
    fake_fault("memory was unregistered before its kernel was done");
  if (kernel->sums_rows)
    sum_rows(&kernel->launch);
  for (uint32_t i = 0; i < kernel->n_cells && !kernel->sums_rows; i++)
    run_cell(kernel, i);
  fake_work_end();
}

/* The device would come to know it only while it runs. */
static CUresult
check_addresses(const Kernel *kernel)
{
  const GhLaunch *launch = &kernel->launch;
  size_t n = kernel->n_cells;

  if (samples_size(kernel) > 0)
    CHECK(fake_memory_check(launch->samples, samples_size(kernel)));
  if (kernel->sums_rows)
    return fake_memory_check(launch->row_sums, launch->rows * 8);
  if (launch->cells)
    CHECK(fake_memory_check(launch->cells, n * sizeof(*launch->cells)));
  CHECK(fake_memory_check(launch->counts, n * counts_size(launch)));
  if (launch->next)
    CHECK(fake_memory_check(launch->next, n * counts_size(launch)));
  return launch->result
             ? fake_memory_check(launch->result, n * result_size(launch))
             : CUDA_SUCCESS;
}

static int
sample_size(const char *name)
{
  if (strncmp(name, "gh_u32", 6) == 0)
    return 4;
  if (strncmp(name, "gh_u16", 6) == 0)
    return 2;
  return strncmp(name, "gh_u8", 5) == 0 ? 1 : 0;
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
  if (kernel.launch.n_cells > 0 && !kernel.launch.cells)
    memcpy(kernel.few, ((const GhCellsLaunch *)arguments[0])->cells,
           sizeof(kernel.few));
  kernel.n_cells = grid_z;
  kernel.size = sample_size(function->name);
  kernel.sums_rows = strcmp(function->name, "gh_row_sums") == 0;
  if (check_addresses(&kernel) != CUDA_SUCCESS)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  kernel.registered = fake_memory_find(kernel.launch.samples, 1, &memory) &&
                      memory.kind == FAKE_REGISTERED_MEMORY;
  return fake_stream_push(stream, run_kernel, &kernel, sizeof(kernel))
             ? CUDA_SUCCESS
             : CUDA_ERROR_OUT_OF_MEMORY;
}
