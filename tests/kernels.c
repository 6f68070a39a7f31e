/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels on frames in device memory: every algorithm, any pitch and
 * alignment, 8, 16 and 32 bits, any number of bins, whole and in cells. */

#include "kernels.h"
#include "testing-engine.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BINS 65536
#define MEMORY (8 << 20)
#define COUNTS_BYTES \
  (4 * (gsize)MAX_CELLS * GH_DEVICE_COUNTS_WORDS(MAX_BINS, false))

/* A device with the kernels, and memory for one frame. */
typedef struct {
  const GhDriver *driver;
  CUcontext context;
  CUdevice device;
  CUstream stream;
  GhKernels kernels;
  CUdeviceptr memory;
  CUdeviceptr counts;
  CUdeviceptr next;
  GhCounts *result; /* pinned; of each cell */
  GhRect *cells;    /* pinned */
  guint8 *samples;  /* pinned; what is in memory */
} Device;

/* The frame that is counted, as it lies in memory. */
typedef struct {
  gsize offset;
  gsize pitch;
  guint width;
  guint height;
  guint bins;      /* 0: 256 bins of 8-bit samples */
  GhFormat format; /* 16-bit samples; step 0: those of 32 bits, or of 8 */
  guint n_cells;   /* columns that are counted apart; 0: the whole frame */
} Layout;

#define MAX_CELLS 8

static gboolean
device_open(Device *device)
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
  if (device->driver->cuMemAlloc_v2(&device->memory, MEMORY) ||
      device->driver->cuMemAlloc_v2(&device->counts, COUNTS_BYTES) ||
      device->driver->cuMemAlloc_v2(&device->next, COUNTS_BYTES) ||
      device->driver->cuMemHostAlloc(&pinned, MEMORY, 0))
    return FALSE;
  device->samples = pinned;
  if (device->driver->cuMemHostAlloc(&pinned, COUNTS_BYTES,
                                     CU_MEMHOSTALLOC_DEVICEMAP))
    return FALSE;
  device->result = pinned;
  if (device->driver->cuMemHostAlloc(&pinned, MAX_CELLS * sizeof(GhRect),
                                     CU_MEMHOSTALLOC_DEVICEMAP))
    return FALSE;
  device->cells = pinned;
  return device->driver->cuMemsetD32Async(device->counts, 0, COUNTS_BYTES / 4,
                                          device->stream) == CUDA_SUCCESS;
}

static void
device_close(Device *device)
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
sample_at(const Device *device, const Layout *layout, guint x, guint y)
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
check_part(const Device *device, const Layout *layout, GhAlgorithm algorithm,
           guint from, guint end, const GhCounts *counts)
{
  static guint32 expected[MAX_BINS];
  const guint32 *counted = (const guint32 *)(counts + 1);
  guint bins = layout->bins ? layout->bins : 256;
  guint shift = layout->format.step ? layout->format.depth - gh_log2(bins) : 0;
  guint64 sum = 0;

  memset(expected, 0, sizeof(expected));
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
edge(const Layout *layout, guint c)
{
  return c * layout->width / layout->n_cells;
}

static void
check_counts(const Device *device, const Layout *layout, GhAlgorithm algorithm)
{
  guint words = GH_COUNTS_WORDS(layout->bins ? layout->bins : 256);

  if (layout->n_cells == 0)
    check_part(device, layout, algorithm, 0, layout->width, device->result);
  for (guint c = 0; c < layout->n_cells; c++)
    check_part(device, layout, algorithm, edge(layout, c), edge(layout, c + 1),
               (GhCounts *)((guint32 *)device->result + (gsize)c * words));
}

static GhDeviceCells
set_cells(Device *device, const Layout *layout)
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

static void
launch(Device *device, const Layout *layout, GhAlgorithm algorithm,
       const GhDeviceResult *to)
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

static void
upload(Device *device)
{
  fail_unless(device->driver->cuMemcpyHtoDAsync_v2(
                  device->memory, device->samples, MEMORY, device->stream) ==
              CUDA_SUCCESS);
}

static void
finish(Device *device)
{
  fail_unless(device->driver->cuStreamSynchronize(device->stream) ==
              CUDA_SUCCESS);
}

/* All algorithms. Each leaves the counts at zero for the one after. */
static void
check_layout(Device *device, const Layout *layout)
{
  const GhDeviceResult to = {device->counts, 0,
                             (CUdeviceptr)(guintptr)device->result};

  for (guint a = 0; a < GH_N_ALGORITHMS; a++) {
    memset(device->result, 0xEE, COUNTS_BYTES);
    launch(device, layout, a, &to);
    finish(device);
    check_counts(device, layout, a);
  }
}

/* Noise of different widths, so that some bins are hot. */
static void
fill_bytes(Device *device, GRand *random)
{
  guint mask = (1u << g_rand_int_range(random, 0, 9)) - 1;

  for (gsize i = 0; i < MEMORY; i += 4) {
    guint32 word = g_rand_int(random) & (mask * 0x01010101u);

    memcpy(device->samples + i, &word, 4);
  }
}

static void
fill_words(Device *device, GRand *random, guint bins)
{
  for (gsize i = 0; i < MEMORY; i += 4) {
    guint32 word = g_rand_int(random);

    /* Some that are in no bin. */
    word = word % 10 == 0 ? word : word % (word % 3 ? bins : 1 + bins / 7);
    memcpy(device->samples + i, &word, 4);
  }
}

/* Zeros around samples of 1 to 255: a sample from outside would show. */
GST_START_TEST(B15_every_offset_and_width)
{
  const guint strides[] = {641, 644, 704};
  const guint heights[] = {1, 2, 8};
  Device device;

  fail_unless(device_open(&device));
  for (guint w = 1; w <= 49; w++) {
    const guint more[] = {63, 64, 65, 254, 255, 256, 257, 600, 601};
    guint width = w <= 40 ? w : more[w - 41];

    for (guint offset = 0; offset < 32; offset++) {
      Layout layout = {offset, strides[(w + offset) % 3], width,
                       heights[(w + offset / 3) % 3], 0};

      memset(device.samples, 0, MEMORY);
      for (guint y = 0; y < layout.height; y++)
        for (guint x = 0; x < width; x++)
          device.samples[offset + y * layout.pitch + x] = 1 + (x * 7 + y) % 255;
      upload(&device);
      check_layout(&device, &layout);
      fail_unless_equals_uint64(*(guint32 *)(device.result + 1), 0);
    }
  }
  device_close(&device);
}
GST_END_TEST

GST_START_TEST(random_frames_of_bytes)
{
  GRand *random = test_engine_random();
  Device device;

  fail_unless(device_open(&device));
  for (guint i = 0; i < 1000; i++) {
    Layout layout = {.width = g_rand_int_range(random, 1, 2000),
                     .offset = g_rand_int_range(random, 0, 100)};

    layout.pitch = layout.width + g_rand_int_range(random, 0, 2) *
                                      g_rand_int_range(random, 0, 70);
    layout.height =
        g_rand_int_range(random, 1, MIN(600, (MEMORY - 4096) / layout.pitch));
    if (i % 50 == 0) {
      fill_bytes(&device, random);
      upload(&device);
    }
    check_layout(&device, &layout);
  }
  device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(random_frames_of_words)
{
  const guint bins[] = {16, 64, 256, 1000, 4096, 30000, 65536};
  GRand *random = test_engine_random();
  Device device;

  fail_unless(device_open(&device));
  for (guint b = 0; b < G_N_ELEMENTS(bins); b++) {
    fill_words(&device, random, bins[b]);
    upload(&device);
    for (guint i = 0; i < 20; i++) {
      Layout layout = {.width = g_rand_int_range(random, 1, 100000),
                       .height = 1 + i,
                       .bins = bins[b]};

      layout.width = MIN(layout.width, MEMORY / 4 / layout.height);
      layout.pitch = layout.width * 4;
      check_layout(&device, &layout);
    }
  }
  device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Of any alignment, also such that no word is on two bytes; in columns, too. */
GST_START_TEST(random_frames_of_halves)
{
  const guint bins[] = {256, 512, 4096, 65536};
  GRand *random = test_engine_random();
  Device device;

  fail_unless(device_open(&device));
  for (guint i = 0; i < 400; i++) {
    guint depth = (guint)g_rand_int_range(random, 9, 17);
    guint shift = (guint)g_rand_int_range(random, 0, (gint)(17 - depth));
    Layout layout = {
        .width = g_rand_int_range(random, 8, 1500),
        .offset = g_rand_int_range(random, 0, 100),
        .bins = bins[i % G_N_ELEMENTS(bins)],
        .format = {i % 3 ? GH_WORDS_LE : GH_WORDS_BE, 2, shift, depth},
        .n_cells = i % 5 ? 0 : 1 + i % MAX_CELLS};

    layout.bins = MIN(layout.bins, 1u << depth);
    layout.pitch = 2 * layout.width + g_rand_int_range(random, 0, 2) *
                                          g_rand_int_range(random, 0, 70);
    layout.height =
        g_rand_int_range(random, 1, MIN(300, (MEMORY - 4096) / layout.pitch));
    if (i % 50 == 0) {
      fill_bytes(&device, random);
      upload(&device);
    }
    check_layout(&device, &layout);
  }
  device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Cells of bytes, which are of no alignment. */
GST_START_TEST(random_columns_of_bytes)
{
  GRand *random = test_engine_random();
  Device device;

  fail_unless(device_open(&device));
  fill_bytes(&device, random);
  upload(&device);
  for (guint i = 0; i < 300; i++) {
    Layout layout = {.width = g_rand_int_range(random, 8, 2000),
                     .offset = g_rand_int_range(random, 0, 100),
                     .height = g_rand_int_range(random, 1, 300),
                     .n_cells = 1 + i % MAX_CELLS};

    layout.pitch = layout.width + g_rand_int_range(random, 0, 70);
    check_layout(&device, &layout);
  }
  device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Without a result the counts stay where they are, and each launch zeroes
 * those of the next one. */
GST_START_TEST(launches_clear_for_each_other)
{
  const Layout layout = {0, 1920, 1920, 1080, 0};
  Device device;

  fail_unless(device_open(&device));
  memset(device.samples, 9, MEMORY);
  upload(&device);
  for (guint i = 0; i < 50; i++) {
    GhDeviceResult to = {i % 2 ? device.next : device.counts,
                         i % 2 ? device.counts : device.next, 0};

    launch(&device, &layout, i % GH_N_ALGORITHMS, &to);
  }
  /* Into counts that are zero again: the sum of the last two launches of
   * different places would show. */
  launch(&device, &layout, GH_ALGORITHM_AUTO,
         &(GhDeviceResult){device.counts, 0,
                           (CUdeviceptr)(guintptr)device.result});
  finish(&device);
  check_counts(&device, &layout, GH_ALGORITHM_AUTO);
  device_close(&device);
}
GST_END_TEST

static guint8
checkerboard(guint x, guint y)
{
  return (x + y) % 2 ? 200 : 50;
}

static guint8
ramp_by_column(guint x, guint y)
{
  return (guint8)x;
}

static guint8
one_white_pixel(guint x, guint y)
{
  return x == 30 && y == 0 ? 255 : 0;
}

static guint8
one_value(guint x, guint y)
{
  return 77;
}

static guint8
scattered(guint x, guint y)
{
  return (guint8)((x * 2654435761u + y * 40503u) >> 11);
}

/* The same result each time. An atomic a sample and the sorts of a large frame
 * take long in a debug build, so those are fewer. */
static void
check_repeats(Device *device, const Layout *layout, GhAlgorithm algorithm)
{
  const GhDeviceResult to = {device->counts, 0,
                             (CUdeviceptr)(guintptr)device->result};
  gsize size = 4 * (gsize)GH_COUNTS_WORDS(256);
  gboolean slow =
      algorithm == GH_ALGORITHM_GLOBAL || algorithm == GH_ALGORITHM_SORT;
  guint repeats = slow && layout->height > 33 ? 20 : 1000;
  guint8 *first = g_malloc(size);

  for (guint i = 0; i < repeats; i++) {
    memset(device->result, 0xEE, size);
    launch(device, layout, algorithm, &to);
    finish(device);
    if (i == 0) {
      check_counts(device, layout, algorithm);
      memcpy(first, device->result, size);
    }
    fail_unless(memcmp(device->result, first, size) == 0,
                "algorithm %d, %ux%u: repeat %u differs", algorithm,
                layout->width, layout->height, i);
  }
  g_free(first);
}

GST_START_TEST(B37_a_thousand_repeats)
{
  guint8 (*const contents[])(guint, guint) = {
      one_value, checkerboard, ramp_by_column, scattered, one_white_pixel};
  const Layout layouts[] = {
      {0, 31, 31, 1, 0}, {0, 33, 33, 3, 0}, {0, 1920, 1920, 1080, 0}};
  const Layout *layout = &layouts[__i__];
  Device device;

  fail_unless(device_open(&device));
  for (guint c = 0; c < G_N_ELEMENTS(contents); c++) {
    for (guint y = 0; y < layout->height; y++)
      for (guint x = 0; x < layout->width; x++)
        device.samples[y * layout->pitch + x] = contents[c](x, y);
    upload(&device);
    for (guint a = 0; a < GH_N_ALGORITHMS; a++)
      check_repeats(&device, layout, a);
  }
  device_close(&device);
}
GST_END_TEST

static Suite *
kernels_suite(void)
{
  Suite *suite = suite_create("kernels");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, B15_every_offset_and_width);
  tcase_add_test(tcase, random_frames_of_bytes);
  tcase_add_test(tcase, random_frames_of_words);
  tcase_add_test(tcase, random_frames_of_halves);
  tcase_add_test(tcase, random_columns_of_bytes);
  tcase_add_test(tcase, launches_clear_for_each_other);
  tcase_add_loop_test(tcase, B37_a_thousand_repeats, 0, 3);
  return suite;
}

/* In a child, as CUDA does not survive the fork before each test. */
static gboolean
cuda_works(void)
{
  pid_t child = fork();
  int status = 1;

  if (child == 0) {
    Device device;

    _exit(device_open(&device) ? 0 : 1);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

int
main(int argc, char **argv)
{
  if (!cuda_works())
    return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_REQUIRE_CUDA"), "1") ? 77 : 1;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(kernels_suite(), "kernels", __FILE__);
}
