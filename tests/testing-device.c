/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-device.h"

#include <string.h>

gboolean
test_device_open(TestDevice *device)
{
  GhError error = {""};
  void *pinned = NULL;

  memset(device, 0, sizeof(*device));
  if (gh_driver_get(&device->driver, &error) != GH_OK ||
      device->driver->cuInit(0) != CUDA_SUCCESS ||
      device->driver->cuDeviceGet(&device->device, 0) != CUDA_SUCCESS ||
      device->driver->cuDevicePrimaryCtxRetain(&device->context,
                                               device->device) ||
      device->driver->cuCtxPushCurrent_v2(device->context) ||
      device->driver->cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING))
    return FALSE;
  if (gh_kernels_load(&device->kernels, device->driver, device->device, true,
                      &error) != GH_OK) {
    g_print("%s\n", error.text);
    return FALSE;
  }
  if (device->driver->cuMemAlloc_v2(&device->memory, TEST_DEVICE_MEMORY) ||
      device->driver->cuMemAlloc_v2(&device->counts,
                                    TEST_DEVICE_COUNTS_BYTES) ||
      device->driver->cuMemAlloc_v2(&device->next, TEST_DEVICE_COUNTS_BYTES) ||
      device->driver->cuMemHostAlloc(&pinned, TEST_DEVICE_MEMORY, 0))
    return FALSE;
  device->samples = pinned;
  if (device->driver->cuMemHostAlloc(&pinned, TEST_DEVICE_COUNTS_BYTES,
                                     CU_MEMHOSTALLOC_DEVICEMAP))
    return FALSE;
  device->result = pinned;
  if (device->driver->cuMemHostAlloc(&pinned,
                                     TEST_DEVICE_MAX_CELLS * sizeof(GhRect),
                                     CU_MEMHOSTALLOC_DEVICEMAP))
    return FALSE;
  device->cells = pinned;
  return device->driver->cuMemsetD32Async(device->counts, 0,
                                          TEST_DEVICE_COUNTS_BYTES / 4,
                                          device->stream) == CUDA_SUCCESS;
}

void
test_device_close(TestDevice *device)
{
  CUcontext ours;

  device->driver->cuMemFreeHost(device->cells);
  device->driver->cuMemFreeHost(device->result);
  device->driver->cuMemFreeHost(device->samples);
  device->driver->cuMemFree_v2(device->next);
  device->driver->cuMemFree_v2(device->counts);
  device->driver->cuMemFree_v2(device->memory);
  gh_kernels_unload(&device->kernels);
  device->driver->cuStreamDestroy_v2(device->stream);
  device->driver->cuCtxPopCurrent_v2(&ours);
  device->driver->cuDevicePrimaryCtxRelease_v2(device->device);
}

static guint32
sample_at(const TestDevice *device, const TestDeviceFrame *layout, guint x,
          guint y)
{
  const guint8 *row = device->samples + layout->offset + y * layout->pitch;
  guint32 sample;

  if (layout->format.step > 0)
    return (layout->format.packing == GH_WORDS_BE
                ? row[2 * x] * 256u + row[2 * x + 1]
                : row[2 * x + 1] * 256u + row[2 * x]) >>
               layout->format.shift &
           ((1u << layout->format.depth) - 1);
  if (layout->bins == 0)
    return row[x];
  memcpy(&sample, row + 4 * (gsize)x, 4);
  return sample;
}

/* The oracle: sample by sample. */
static void
check_part(const TestDevice *device, const TestDeviceFrame *layout,
           GhAlgorithm algorithm, guint from, guint end, const GhCounts *counts)
{
  static guint32 expected[TEST_DEVICE_MAX_BINS];
  const guint32 *counted = (const guint32 *)(counts + 1);
  guint bins = layout->bins ? layout->bins : 256;
  guint shift = layout->format.step ? layout->format.depth - gh_log2(bins) : 0;
  guint64 sum = 0;

  memset(expected, 0, bins * sizeof(*expected));
  for (guint y = 0; y < layout->height; y++) {
    for (guint x = from; x < end; x++) {
      guint32 sample = sample_at(device, layout, x, y);

      sum += sample;
      if (sample >> shift < bins)
        expected[sample >> shift]++;
    }
  }
  for (guint b = 0; b < bins; b++)
    if (counted[b] != expected[b])
      fail("algorithm %d, %ux%u, columns %u to %u, pitch %" G_GSIZE_FORMAT
           ", offset %" G_GSIZE_FORMAT ", %u bins: bin %u is %u, not %u",
           algorithm, layout->width, layout->height, from, end, layout->pitch,
           layout->offset, bins, b, counted[b], expected[b]);
  fail_unless_equals_uint64(counts->sum, sum);
}

/* Column c of n. */
static guint
edge(const TestDeviceFrame *layout, guint c)
{
  return c * layout->width / layout->n_cells;
}

void
test_device_check_counts(const TestDevice *device,
                         const TestDeviceFrame *layout, GhAlgorithm algorithm)
{
  guint words = GH_COUNTS_WORDS(layout->bins ? layout->bins : 256);

  if (layout->n_cells == 0)
    check_part(device, layout, algorithm, 0, layout->width, device->result);
  for (guint c = 0; c < layout->n_cells; c++)
    check_part(device, layout, algorithm, edge(layout, c), edge(layout, c + 1),
               (GhCounts *)((guint32 *)device->result + (gsize)c * words));
}

static GhDeviceCells
set_cells(TestDevice *device, const TestDeviceFrame *layout)
{
  GhDeviceCells cells = {device->cells, (CUdeviceptr)(guintptr)device->cells,
                         layout->n_cells, 0};

  for (guint c = 0; c < layout->n_cells; c++) {
    guint width = edge(layout, c + 1) - edge(layout, c);

    device->cells[c] = (GhRect){edge(layout, c), 0, width, layout->height};
    cells.largest = MAX(cells.largest, (guint64)width * layout->height);
  }
  return cells;
}

void
test_device_launch(TestDevice *device, const TestDeviceFrame *layout,
                   GhAlgorithm algorithm, const GhDeviceResult *to)
{
  const GhDeviceFrame frame = {.samples = device->memory + layout->offset,
                               .pitch = layout->pitch,
                               .width = layout->width,
                               .height = layout->height,
                               .format = gh_format_complete(layout->format),
                               .words32 =
                                   layout->bins > 0 && !layout->format.step};
  const GhDeviceCells cells = set_cells(device, layout);
  GhError error = {""};

  fail_unless(gh_kernels_launch(&device->kernels, device->stream, algorithm,
                                &frame, layout->n_cells ? &cells : NULL,
                                layout->bins ? layout->bins : 256, to,
                                &error) == GH_OK,
              "%s", error.text);
}

void
test_device_upload_part(TestDevice *device, gsize bytes)
{
  fail_unless(device->driver->cuMemcpyHtoDAsync_v2(
                  device->memory, device->samples, bytes, device->stream) ==
              CUDA_SUCCESS);
}

void
test_device_upload(TestDevice *device)
{
  test_device_upload_part(device, TEST_DEVICE_MEMORY);
}

void
test_device_finish(TestDevice *device)
{
  fail_unless(device->driver->cuStreamSynchronize(device->stream) ==
              CUDA_SUCCESS);
}

void
test_device_check(TestDevice *device, const TestDeviceFrame *layout)
{
  const GhDeviceResult to = {device->counts, 0,
                             (CUdeviceptr)(guintptr)device->result};
  gsize counts = 4 * (gsize)MAX(layout->n_cells, 1) *
                 GH_COUNTS_WORDS(layout->bins ? layout->bins : 256);

  for (guint a = 0; a < GH_N_ALGORITHMS; a++) {
    memset(device->result, 0xEE, counts);
    test_device_launch(device, layout, a, &to);
    test_device_finish(device);
    test_device_check_counts(device, layout, a);
  }
}

void
test_device_fill_bytes(TestDevice *device, GRand *random)
{
  guint mask = (1u << g_rand_int_range(random, 0, 9)) - 1;

  for (gsize i = 0; i < TEST_DEVICE_MEMORY; i += 4) {
    guint32 word = g_rand_int(random) & (mask * 0x01010101u);

    memcpy(device->samples + i, &word, 4);
  }
}

void
test_device_fill_words(TestDevice *device, GRand *random, guint bins)
{
  for (gsize i = 0; i < TEST_DEVICE_MEMORY; i += 4) {
    guint32 word = g_rand_int(random);

    /* Some that are in no bin. */
    word = word % 10 == 0 ? word : word % (word % 3 ? bins : 1 + bins / 7);
    memcpy(device->samples + i, &word, 4);
  }
}
