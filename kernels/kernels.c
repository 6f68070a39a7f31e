/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernels.h"

#include "fatbin.h"

/* How a kernel is started. */
typedef struct {
  const char *name;
  uint32_t threads;       /* of a block */
  uint32_t small_threads; /* the same where all have something to do at once */
  uint32_t thread_quads;  /* that make one more thread worth it */
  uint32_t blocks;        /* on a multiprocessor, at most */
} Kernel;

/* Numbers of blocks are measured; see NOTES.md. */
#define TABLES GH_TABLES_THREADS, GH_TABLES_THREADS
#define LANES GH_LANES_THREADS, GH_LANES_THREADS / 2
#define SORT GH_SORT_THREADS, GH_SORT_THREADS
enum {
  U8_GLOBAL,
  U8_TABLES,
  U8_LANES,
  U8_LANES_FLAT,
  U8_SORT,
  CELLS_U8_GLOBAL,
  CELLS_U8_TABLES,
  CELLS_U8_LANES,
  U16_GLOBAL,
  U16_TABLES,
  U16_LANES,
  U16_COPIES,
  ANY_GLOBAL,
  ANY_TABLES,
  ANY_COPIES,
  ANY_SORT,
  U32_GLOBAL,
  U32_TABLES,
  U32_LANES,
  U32_SORT,
};

static const Kernel table[GH_N_KERNELS] = {
    [U8_GLOBAL] = {"gh_u8_global", TABLES, 1, 8},
    [U8_TABLES] = {"gh_u8_tables", TABLES, 1, 8},
    [U8_LANES] = {"gh_u8_lanes", LANES, 1, 1},
    [U8_LANES_FLAT] = {"gh_u8_lanes_flat", LANES, 1, 1},
    [U8_SORT] = {"gh_u8_sort", SORT, 1, 4},
    [CELLS_U8_GLOBAL] = {"gh_cells_u8_global", TABLES, 1, 8},
    [CELLS_U8_TABLES] = {"gh_cells_u8_tables", TABLES, 1, 8},
    [CELLS_U8_LANES] = {"gh_cells_u8_lanes", LANES, 1, 1},
    [U16_GLOBAL] = {"gh_u16_global", TABLES, 1, 8},
    [U16_TABLES] = {"gh_u16_tables", TABLES, 1, 8},
    [U16_LANES] = {"gh_u16_lanes", LANES, 1, 1},
    [U16_COPIES] = {"gh_u16_copies", LANES, 1, 1},
    [ANY_GLOBAL] = {"gh_any_global", TABLES, 1, 8},
    [ANY_TABLES] = {"gh_any_tables", TABLES, 1, 8},
    [ANY_COPIES] = {"gh_any_copies", LANES, 1, 1},
    [ANY_SORT] = {"gh_any_sort", SORT, 1, 4},
    [U32_GLOBAL] = {"gh_u32_global", TABLES, 1, 8},
    [U32_TABLES] = {"gh_u32_tables", TABLES, 1, 8},
    [U32_LANES] = {"gh_u32_lanes", LANES, 1, 1},
    [U32_SORT] = {"gh_u32_sort", SORT, 4, 4},
};

/* Shared memory that the kernels have beside their tables. */
#define STATIC_SHARED 1024

#define TRY(name, ...)                                                     \
  gh_driver_ok(kernels->driver, kernels->driver->name(__VA_ARGS__), #name, \
               error)

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
  bool sorts = index == U8_SORT || index == ANY_SORT || index == U32_SORT;
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

static bool
load_code(GhKernels *kernels, bool sort, GhError *error)
{
  if (!TRY(cuModuleLoadData, &kernels->module, gh_histogram_fatbin) ||
      (sort && !TRY(cuModuleLoadData, &kernels->sort_module, gh_sort_fatbin)))
    return false;
  for (unsigned i = 0; i < GH_N_KERNELS; i++)
    if (!find_function(kernels, i, error))
      return false;
  return TRY(cuModuleGetFunction, &kernels->row_sums, kernels->module,
             "gh_row_sums");
}

GhStatus
gh_kernels_load(GhKernels *kernels, const GhDriver *driver, CUdevice device,
                bool sort, GhError *error)
{
  kernels->driver = driver;
  if (!read_device(kernels, device, error))
    return GH_FAILED;
  if (load_code(kernels, sort, error))
    return GH_OK;
  gh_driver_explain(driver, &device, error);
  return GH_FAILED;
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

/* ---- What is launched ---- */

/* What the kernels can read a sample with. */
typedef enum { BYTES, WORDS, ANY, WORDS32 } Reader;

static bool
is_on_words(const GhDeviceFrame *frame)
{
  return frame->format.step == 2 && frame->samples % 2 == 0 &&
         frame->pitch % 2 == 0;
}

/* Bytes that are two apart are the lower halves of words. */
static Reader
choose_reader(const GhDeviceFrame *frame, GhFormat *format)
{
  if (frame->words32)
    return WORDS32;
  switch (format->packing) {
  case GH_BYTES:
    if (gh_format_is_bytes(format))
      return BYTES;
    if (!is_on_words(frame))
      return ANY;
    format->packing = GH_WORDS_LE;
    return WORDS;
  case GH_WORDS_LE:
  case GH_WORDS_BE:
    return is_on_words(frame) ? WORDS : ANY;
  default:
    return ANY;
  }
}

/* Rows as the grid walks over them; rows without a gap are one long row. */
static GhStatus
set_rows(GhLaunch *launch, const GhDeviceFrame *frame, Reader reader,
         GhError *error)
{
  const uint32_t sizes[] = {[BYTES] = 1, [WORDS] = 2, [ANY] = 0, [WORDS32] = 4};
  uint64_t row_size = (uint64_t)frame->width * sizes[reader];
  uint64_t quads;

  launch->samples = (const uint8_t *)(uintptr_t)frame->samples;
  launch->pitch = frame->pitch;
  launch->rows = frame->height;
  launch->width = frame->width;
  if (reader != ANY && (launch->pitch == row_size || frame->height == 1)) {
    row_size *= frame->height;
    launch->rows = 1;
  }
  launch->row_size = row_size;
  quads = launch->rows == 1 ? row_size / 16
                            : (uint64_t)launch->rows * gh_row_quads(row_size);
  /* One by one; a thread should get as many as elsewhere. */
  if (reader == ANY)
    quads = (uint64_t)frame->width * frame->height / 16;
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
 * does, tiles of the bins. A row behind the bins is for samples that are in
 * none of them. Returns their size in bytes. */
static uint32_t
set_tables(GhLaunch *launch, uint32_t bins, uint32_t wanted, uint32_t room)
{
  uint32_t words = room / 4;
  uint32_t fit;

  launch->bins = bins;
  launch->tile_bins = bins;
  if (wanted == 0)
    return 0;
  launch->tile_bins = bins < words ? bins : power_of_two_below(words - 1);
  fit = power_of_two_below(words / (launch->tile_bins + 1));
  launch->copies = wanted < fit ? wanted : fit;
  return (launch->copies * (launch->tile_bins + 1) * 4 + 15) / 16 * 16;
}

/* ---- Which kernel ---- */

static unsigned
choose_lanes(Reader reader, bool cells, bool flat, uint32_t bins)
{
  switch (reader) {
  case BYTES:
    if (cells)
      return CELLS_U8_LANES;
    return flat ? U8_LANES_FLAT : U8_LANES;
  case WORDS:
    return bins == 256 ? U16_LANES : U16_COPIES;
  case ANY:
    return ANY_COPIES;
  default:
    return U32_LANES;
  }
}

/* Those that differ in their table alone stand in the same order. */
static unsigned
choose_tables(Reader reader, bool cells, bool global)
{
  const unsigned first[] = {[BYTES] = cells ? CELLS_U8_GLOBAL : U8_GLOBAL,
                            [WORDS] = U16_GLOBAL,
                            [ANY] = ANY_GLOBAL,
                            [WORDS32] = U32_GLOBAL};

  return first[reader] + (global ? 0 : 1);
}

static unsigned
choose_sort(Reader reader, bool cells)
{
  if (reader == WORDS32)
    return U32_SORT;
  return reader == BYTES && !cells ? U8_SORT : ANY_SORT;
}

/* And how many copies of a table it wants. */
static unsigned
choose(GhAlgorithm algorithm, Reader reader, bool cells, bool flat,
       uint32_t bins, uint32_t *copies)
{
  switch (algorithm) {
  case GH_ALGORITHM_GLOBAL:
    *copies = 0;
    return choose_tables(reader, cells, true);
  case GH_ALGORITHM_BLOCK:
    *copies = 1;
    return choose_tables(reader, cells, false);
  case GH_ALGORITHM_WARP:
    *copies = GH_TABLES_THREADS / 32;
    return choose_tables(reader, cells, false);
  case GH_ALGORITHM_SORT:
    *copies = 0;
    return choose_sort(reader, cells);
  default:
    *copies = 32;
    return choose_lanes(reader, cells, flat, bins);
  }
}

/* ---- The grid ---- */

/* Blocks of a tile, and their threads: as many as have something to do and run
 * at the same time. */
static void
choose_grid(const GhKernels *kernels, const Kernel *kernel, uint32_t quads,
            uint32_t tiles, uint32_t shared, uint32_t *blocks,
            uint32_t *threads)
{
  uint32_t fit = kernels->shared_device / (shared + STATIC_SHARED);
  uint32_t most = kernel->blocks < fit ? kernel->blocks : fit;
  uint32_t block_quads, useful;

  /* Tiles side by side, so that the second cache has what the others read. */
  most = most * kernels->processors / tiles;
  most = most < 1 ? 1 : most;
  *threads = quads / kernel->small_threads < most ? kernel->small_threads
                                                  : kernel->threads;
  block_quads = *threads * kernel->thread_quads;
  useful = quads < 1 ? 1 : (quads + block_quads - 1) / block_quads;
  *blocks = useful < most ? useful : most;
}

/* Each cell gets as many blocks as the largest one needs. All of them are more
 * than the device runs at a time only where cells are of very different sizes.
 */
static void
choose_grid_of_cells(const GhKernels *kernels, const Kernel *kernel,
                     const GhDeviceFrame *frame, const GhDeviceCells *cells,
                     uint32_t shared, uint32_t *blocks, uint32_t *threads)
{
  uint64_t samples = (uint64_t)frame->width * frame->height;
  uint32_t fit = kernels->shared_device / (shared + STATIC_SHARED);
  uint32_t most = kernel->blocks * (kernel->threads / kernel->small_threads);
  uint64_t share, useful;

  most = (most < fit ? most : fit) * kernels->processors;
  *threads = kernel->small_threads;
  share = most * cells->largest / samples;
  /* Fewer, with some more quads for each thread, add up in less time. */
  useful = cells->largest / (*threads * (uint64_t)40 * kernel->thread_quads);
  share = share < useful ? share : useful;
  *blocks = share < 1 ? 1 : (uint32_t)share;
}

static GhStatus
set_launch(GhLaunch *launch, const GhDeviceFrame *frame, uint32_t bins,
           bool sort, Reader *reader, GhError *error)
{
  launch->format = frame->format;
  *reader = choose_reader(frame, &launch->format);
  /* Words are sorted by the kernel for all the others. */
  if (sort && *reader == WORDS)
    *reader = ANY;
  if (*reader != WORDS32)
    launch->shift = gh_counter_shift(frame->format.depth, bins);
  if (set_rows(launch, frame, *reader, error) != GH_OK)
    return GH_FAILED;
  if (*reader != WORDS32 || is_flat(launch))
    return GH_OK;
  return gh_fail(error, GH_FAILED,
                 "samples of 32 bits have to follow each other from a 16-byte "
                 "boundary on");
}

/* The upper word of a product with row_inverse is exact where both the row's
 * quads and the threads' numbers are small. */
static GhWalk
walk_of(uint64_t row_size, uint32_t threads)
{
  uint32_t row_quads = gh_row_quads(row_size);
  uint64_t inverse = (((uint64_t)1 << 32) + row_quads - 1) / row_quads;
  GhWalk walk = gh_walk(row_quads, threads);

  if (inverse <= UINT32_MAX && (uint64_t)row_quads * threads <= UINT32_MAX)
    walk.row_inverse = (uint32_t)inverse;
  return walk;
}

static void
place_cells(GhCellsLaunch *all, const GhDeviceCells *cells, uint32_t threads)
{
  uint64_t step = all->launch.format.step;

  if (cells->n > GH_FEW_CELLS) {
    all->launch.cells = (const GhRect *)(uintptr_t)cells->memory;
    return;
  }
  for (uint32_t i = 0; i < cells->n; i++) {
    all->cells[i].rect = cells->rects[i];
    all->cells[i].walk = walk_of(cells->rects[i].width * step, threads);
  }
}

GhStatus
gh_kernels_launch(const GhKernels *kernels, CUstream stream,
                  GhAlgorithm algorithm, const GhDeviceFrame *frame,
                  const GhDeviceCells *cells, uint32_t bins,
                  const GhDeviceResult *to, GhError *error)
{
  GhCellsLaunch all;
  GhLaunch *launch = &all.launch;
  void *arguments[] = {&all};
  uint32_t copies, shared, blocks, threads, tiles;
  const Kernel *kernel;
  unsigned index;
  Reader reader;

  /* Not the cells, which are large and mostly there are none. */
  *launch = (GhLaunch){.counts = (GhDeviceCounts *)(uintptr_t)to->counts,
                       .next = (GhDeviceCounts *)(uintptr_t)to->next,
                       .result = (GhCounts *)(uintptr_t)to->result,
                       .n_cells = cells ? cells->n : 0,
                       .apart = gh_counts_apart(bins, cells ? cells->n : 0)};
  if (set_launch(launch, frame, bins, algorithm == GH_ALGORITHM_SORT, &reader,
                 error) != GH_OK)
    return GH_FAILED;
  index = choose(algorithm, reader, cells, is_flat(launch), bins, &copies);
  kernel = &table[index];
  shared = set_tables(launch, bins, copies, kernels->shared_block);
  tiles = (bins + launch->tile_bins - 1) / launch->tile_bins;
  if (cells)
    choose_grid_of_cells(kernels, kernel, frame, cells, shared, &blocks,
                         &threads);
  else
    choose_grid(kernels, kernel, launch->quads, tiles, shared, &blocks,
                &threads);
  launch->walk = walk_of(launch->row_size, blocks * threads);
  if (cells)
    place_cells(&all, cells, blocks * threads);
  return TRY(cuLaunchKernel, kernels->functions[index], blocks, tiles,
             cells ? cells->n : 1, threads, 1, 1, shared, stream, arguments,
             NULL)
             ? GH_OK
             : GH_FAILED;
}

GhStatus
gh_kernels_sum_rows(const GhKernels *kernels, CUstream stream,
                    const GhDeviceFrame *frame, CUdeviceptr sums,
                    GhError *error)
{
  const uint32_t warps = GH_TABLES_THREADS / 32;
  GhLaunch launch = {
      .samples = (const uint8_t *)(uintptr_t)frame->samples,
      .pitch = frame->pitch,
      .rows = frame->height,
      .width = frame->width,
      .format = frame->format,
      .row_sums = (uint64_t *)(uintptr_t)sums,
  };
  void *arguments[] = {&launch};
  uint32_t blocks = (frame->height + warps - 1) / warps;
  uint32_t most = 8 * kernels->processors;

  return TRY(cuLaunchKernel, kernels->row_sums, blocks < most ? blocks : most,
             1, 1, GH_TABLES_THREADS, 1, 1, 0, stream, arguments, NULL)
             ? GH_OK
             : GH_FAILED;
}
