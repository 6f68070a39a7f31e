/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels on frames in device memory: every algorithm, any pitch and
 * alignment, 8, 16 and 32 bits, any number of bins, whole and in cells. */

#include "testing-device.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Zeros around samples of 1 to 255: a sample from outside would show. */
static void
check_among_zeros(TestDevice *device, const TestDeviceFrame *layout)
{
  gsize used = layout->offset + layout->height * layout->pitch + 64;

  memset(device->samples, 0, used);
  for (guint y = 0; y < layout->height; y++)
    for (guint x = 0; x < layout->width; x++)
      device->samples[layout->offset + y * layout->pitch + x] =
          1 + (x * 7 + y) % 255;
  test_device_upload_part(device, used);
  test_device_check(device, layout);
  fail_unless_equals_uint64(*(guint32 *)(device->result + 1), 0);
}

GST_START_TEST(B15_every_offset_and_width)
{
  const guint strides[] = {641, 644, 704};
  const guint heights[] = {1, 2, 8};
  const guint more[] = {63, 64, 65, 254, 255, 256, 257, 600, 601};
  guint stride = strides[__i__ / 3], height = heights[__i__ % 3];
  TestDevice device;

  fail_unless(test_device_open(&device));
  for (guint w = 1; w <= 40 + G_N_ELEMENTS(more); w++) {
    guint width = w <= 40 ? w : more[w - 41];

    for (guint offset = 0; offset < 32; offset++)
      check_among_zeros(&device,
                        &(TestDeviceFrame){offset, stride, width, height, 0});
  }
  test_device_close(&device);
}
GST_END_TEST

GST_START_TEST(random_frames_of_bytes)
{
  GRand *random = test_engine_random();
  TestDevice device;

  fail_unless(test_device_open(&device));
  for (guint i = 0; i < 1000; i++) {
    TestDeviceFrame layout = {.width = g_rand_int_range(random, 1, 2000),
                              .offset = g_rand_int_range(random, 0, 100)};

    layout.pitch = layout.width + g_rand_int_range(random, 0, 2) *
                                      g_rand_int_range(random, 0, 70);
    layout.height = g_rand_int_range(
        random, 1, MIN(600, (TEST_DEVICE_MEMORY - 4096) / layout.pitch));
    if (i % 50 == 0) {
      test_device_fill_bytes(&device, random);
      test_device_upload(&device);
    }
    test_device_check(&device, &layout);
  }
  test_device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(random_frames_of_words)
{
  const guint bins[] = {16, 64, 256, 1000, 4096, 30000, 65536};
  GRand *random = test_engine_random();
  TestDevice device;

  fail_unless(test_device_open(&device));
  for (guint b = 0; b < G_N_ELEMENTS(bins); b++) {
    test_device_fill_words(&device, random, bins[b]);
    test_device_upload(&device);
    for (guint i = 0; i < 20; i++) {
      TestDeviceFrame layout = {.width = g_rand_int_range(random, 1, 100000),
                                .height = 1 + i,
                                .bins = bins[b]};

      layout.width = MIN(layout.width, TEST_DEVICE_MEMORY / 4 / layout.height);
      layout.pitch = layout.width * 4;
      test_device_check(&device, &layout);
    }
  }
  test_device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Of any alignment, also such that no word is on two bytes; in columns, too. */
GST_START_TEST(random_frames_of_halves)
{
  const guint bins[] = {256, 512, 4096, 65536};
  GRand *random = test_engine_random();
  TestDevice device;

  fail_unless(test_device_open(&device));
  for (guint i = 0; i < 400; i++) {
    guint depth = (guint)g_rand_int_range(random, 9, 17);
    guint shift = (guint)g_rand_int_range(random, 0, (gint)(17 - depth));
    TestDeviceFrame layout = {
        .width = g_rand_int_range(random, 8, 1500),
        .offset = g_rand_int_range(random, 0, 100),
        .bins = bins[i % G_N_ELEMENTS(bins)],
        .format = {i % 3 ? GH_WORDS_LE : GH_WORDS_BE, 2, shift, depth},
        .n_cells = i % 5 ? 0 : 1 + i % TEST_DEVICE_MAX_CELLS};

    layout.bins = MIN(layout.bins, 1u << depth);
    layout.pitch = 2 * layout.width + g_rand_int_range(random, 0, 2) *
                                          g_rand_int_range(random, 0, 70);
    layout.height = g_rand_int_range(
        random, 1, MIN(300, (TEST_DEVICE_MEMORY - 4096) / layout.pitch));
    if (i % 50 == 0) {
      test_device_fill_bytes(&device, random);
      test_device_upload(&device);
    }
    test_device_check(&device, &layout);
  }
  test_device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Cells of bytes, which are of no alignment. */
GST_START_TEST(random_columns_of_bytes)
{
  GRand *random = test_engine_random();
  TestDevice device;

  fail_unless(test_device_open(&device));
  test_device_fill_bytes(&device, random);
  test_device_upload(&device);
  for (guint i = 0; i < 300; i++) {
    TestDeviceFrame layout = {.width = g_rand_int_range(random, 8, 2000),
                              .offset = g_rand_int_range(random, 0, 100),
                              .height = g_rand_int_range(random, 1, 300),
                              .n_cells = 1 + i % TEST_DEVICE_MAX_CELLS};

    layout.pitch = layout.width + g_rand_int_range(random, 0, 70);
    test_device_check(&device, &layout);
  }
  test_device_close(&device);
  g_rand_free(random);
}
GST_END_TEST

/* Without a result the counts stay where they are, and each launch zeroes
 * those of the next one. */
GST_START_TEST(launches_clear_for_each_other)
{
  const TestDeviceFrame layout = {0, 1920, 1920, 1080, 0};
  TestDevice device;

  fail_unless(test_device_open(&device));
  memset(device.samples, 9, TEST_DEVICE_MEMORY);
  test_device_upload(&device);
  for (guint i = 0; i < 50; i++) {
    GhDeviceResult to = {i % 2 ? device.next : device.counts,
                         i % 2 ? device.counts : device.next, 0};

    test_device_launch(&device, &layout, i % GH_N_ALGORITHMS, &to);
  }
  /* Into counts that are zero again: the sum of the last two launches of
   * different places would show. */
  test_device_launch(&device, &layout, GH_ALGORITHM_AUTO,
                     &(GhDeviceResult){device.counts, 0,
                                       (CUdeviceptr)(guintptr)device.result});
  test_device_finish(&device);
  test_device_check_counts(&device, &layout, GH_ALGORITHM_AUTO);
  test_device_close(&device);
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
check_repeats(TestDevice *device, const TestDeviceFrame *layout,
              GhAlgorithm algorithm)
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
    test_device_launch(device, layout, algorithm, &to);
    test_device_finish(device);
    if (i == 0) {
      test_device_check_counts(device, layout, algorithm);
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
  const TestDeviceFrame layouts[] = {
      {0, 31, 31, 1, 0}, {0, 33, 33, 3, 0}, {0, 1920, 1920, 1080, 0}};
  const TestDeviceFrame *layout = &layouts[__i__];
  TestDevice device;

  fail_unless(test_device_open(&device));
  for (guint c = 0; c < G_N_ELEMENTS(contents); c++) {
    for (guint y = 0; y < layout->height; y++)
      for (guint x = 0; x < layout->width; x++)
        device.samples[y * layout->pitch + x] = contents[c](x, y);
    test_device_upload(&device);
    for (guint a = 0; a < GH_N_ALGORITHMS; a++)
      check_repeats(&device, layout, a);
  }
  test_device_close(&device);
}
GST_END_TEST

static Suite *
kernels_suite(void)
{
  Suite *suite = suite_create("kernels");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, B15_every_offset_and_width, 0, 9);
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
    TestDevice device;

    _exit(test_device_open(&device) ? 0 : 1);
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
