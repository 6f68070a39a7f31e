/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the engines count, behind their C interface and without GStreamer. */

#include "testing-engine.h"

#include <string.h>

GST_START_TEST(test_known_frames)
{
  static const guint8 a[16] = {0, 0, 0, 0, 0,   0,   0,   0,
                               1, 1, 1, 1, 255, 255, 255, 255};
  static const guint8 b[16] = {0, 0, 0, 0, 1,   1,   1,   1,
                               1, 1, 1, 1, 255, 255, 255, 255};
  GhEngine *engine = test_engine_open(1, 256, 1);
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};

  test_engine_submit(engine, &(GhFrame){a, 4, 4, 4});
  test_engine_collect(engine, &result);
  fail_unless_equals_uint64(bins[0], 8);
  fail_unless_equals_uint64(bins[1], 4);
  fail_unless_equals_uint64(bins[255], 4);
  fail_unless_equals_uint64(result.whole.sum, 1024);
  test_engine_submit(engine, &(GhFrame){b, 4, 4, 4});
  test_engine_collect(engine, &result);
  fail_unless_equals_uint64(bins[0], 4);
  fail_unless_equals_uint64(bins[1], 8);
  fail_unless_equals_uint64(bins[255], 4);
  fail_unless_equals_uint64(result.whole.sum, 1028);
  gh_engine_close(&engine);
  fail_unless(engine == NULL);
}
GST_END_TEST

GST_START_TEST(test_known_sizes)
{
  gsize size = 1003 * 769;
  guint8 *samples = g_malloc(size);
  GhEngine *engine = test_engine_open(2, 256, 1);

  memset(samples, 255, 1);
  test_engine_measure(engine, &(GhFrame){samples, 1, 1, 1}, 256);
  memset(samples, 7, 262145);
  test_engine_measure(engine, &(GhFrame){samples, 257, 257, 1}, 256);
  test_engine_measure(engine, &(GhFrame){samples, 1, 1, 257}, 256);
  test_engine_measure(engine, &(GhFrame){samples, 262145, 262145, 1}, 256);
  for (gsize i = 0; i < size; i++)
    samples[i] = (i * 37 + 11) % 256;
  test_engine_measure(engine, &(GhFrame){samples, 1003, 1003, 769}, 256);
  gh_engine_close(&engine);
  g_free(samples);
}
GST_END_TEST

GST_START_TEST(test_every_bin_count)
{
  guint8 samples[1024];

  for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
    samples[i] = i;
  for (guint bins = 2; bins <= 256; bins *= 2) {
    GhEngine *engine = test_engine_open(1, bins, 1);

    test_engine_measure(engine, &(GhFrame){samples, 33, 31, 30}, bins);
    gh_engine_close(&engine);
  }
}
GST_END_TEST

GST_START_TEST(test_random_frames)
{
  GRand *random = test_engine_random();

  for (guint n_threads = 0; n_threads < 5; n_threads++) {
    GhEngine *engine = test_engine_open(2, 256, n_threads);

    for (guint i = 0; i < 200; i++) {
      Guarded guarded;
      GhFrame frame;

      test_engine_frame(random, &guarded, &frame);
      test_engine_measure(engine, &frame, 256);
      test_engine_frame_free(&guarded);
    }
    gh_engine_close(&engine);
  }
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_algorithms_agree)
{
  GRand *random = test_engine_random();

  for (guint a = 0; a < GH_N_ALGORITHMS; a++) {
    const GhSettings settings = {2, 256, 1, -1, a};
    GhEngine *engine;
    GhError error = {""};

    fail_unless(
        gh_engine_open(&engine, test_engine_kind(), &settings, &error) == GH_OK,
        "%s", error.text);
    for (guint i = 0; i < 50; i++) {
      Guarded guarded;
      GhFrame frame;

      test_engine_frame(random, &guarded, &frame);
      test_engine_measure(engine, &frame, 256);
      test_engine_frame_free(&guarded);
    }
    gh_engine_close(&engine);
  }
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_sizes_change)
{
  gsize sizes[] = {64, 640 * 480, 1, 1920 * 1080, 17, 4096};
  guint8 *samples = g_malloc(1920 * 1080);
  GhEngine *engine = test_engine_open(2, 256, 2);

  for (gsize i = 0; i < 1920 * 1080; i++)
    samples[i] = i * 7 + i / 1000;
  for (guint round = 0; round < 3; round++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
      test_engine_measure(engine, &(GhFrame){samples, sizes[i], sizes[i], 1},
                          256);
  gh_engine_close(&engine);
  g_free(samples);
}
GST_END_TEST

GST_START_TEST(test_a_wrong_result_is_noticed)
{
  const guint8 samples[4] = {1, 2, 3, 4};
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};

  gh_count_frame(&(GhFrame){samples, 4, 4, 1}, 256, &result);
  fail_unless(gh_histogram_is_consistent(&result.whole, 256));
  bins[9]++;
  fail_if(gh_histogram_is_consistent(&result.whole, 256));
  bins[1]--;
  result.whole.least_sum += 8;
  fail_if(gh_histogram_is_consistent(&result.whole, 256));
}
GST_END_TEST

static Suite *
engine_suite(void)
{
  Suite *suite = suite_create("engine");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_known_frames);
  tcase_add_test(tcase, test_known_sizes);
  tcase_add_test(tcase, test_every_bin_count);
  tcase_add_test(tcase, test_random_frames);
  tcase_add_test(tcase, test_algorithms_agree);
  tcase_add_test(tcase, test_sizes_change);
  if (test_engine_kind() == GH_ENGINE_CPU)
    tcase_add_test(tcase, test_a_wrong_result_is_noticed);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, engine_suite, "engine");
}
