/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the engines count of samples of every kind, of any number of bins, and
 * of parts of a frame. */

#include "testing-engine.h"

#include <string.h>

static const guint bin_counts[] = {2, 16, 256, 512, 1024, 4096, 65536};

static GhEngine *
open_with(GhAlgorithm algorithm, guint bins, guint n_threads)
{
  const GhSettings settings = {2, bins, n_threads, -1, algorithm};
  GhEngine *engine;
  GhError error = {""};

  fail_unless(gh_engine_open(&engine, test_engine_kind(), &settings, &error) ==
                  GH_OK,
              "%s", error.text);
  return engine;
}

/* One engine for all: what one frame leaves behind would count in another. */
static void
check_frames(GhEngine *engine, guint bins, guint n, guint n_regions)
{
  GRand *random = test_engine_random();
  GhRect regions[16];

  for (guint i = 0; i < n; i++) {
    Guarded guarded;
    GhFrame frame;

    test_engine_frame_of(random, bins, &guarded, &frame);
    test_engine_regions(random, &frame, regions,
                        (guint)g_rand_int_range(random, 0, n_regions + 1));
    test_engine_measure(engine, &frame, bins);
    test_engine_frame_free(&guarded);
  }
  g_rand_free(random);
}

GST_START_TEST(every_format_and_number_of_bins)
{
  guint bins = bin_counts[__i__];

  for (guint n_threads = 1; n_threads < 4; n_threads++) {
    GhEngine *engine = open_with(GH_ALGORITHM_AUTO, bins, n_threads);

    check_frames(engine, bins, (bins > 4096 ? 20 : 100) / test_engine_scale(),
                 0);
    check_frames(engine, bins, (bins > 4096 ? 5 : 40) / test_engine_scale(), 6);
    gh_engine_close(&engine);
  }
}
GST_END_TEST

GST_START_TEST(every_algorithm)
{
  for (guint b = 0; b < G_N_ELEMENTS(bin_counts); b++) {
    GhEngine *engine = open_with((GhAlgorithm)__i__, bin_counts[b], 1);

    check_frames(engine, bin_counts[b], 15, 3);
    gh_engine_close(&engine);
  }
}
GST_END_TEST

/* A grid as exposure metering has it, of a size that it does not divide. */
GST_START_TEST(a_grid_of_zones)
{
  GhEngine *engine = open_with(GH_ALGORITHM_AUTO, 256, (guint)__i__);
  GRand *random = test_engine_random();
  GhRect zones[48];
  GhFrame frame = {NULL, 1937, 1919, 1079, .regions = zones, .n_regions = 48};
  Guarded guarded;

  for (guint32 z = 0; z < 48; z++) {
    guint32 left = z % 8 * 1919 / 8, right = (z % 8 + 1) * 1919 / 8;
    guint32 top = z / 8 * 1079 / 6, bottom = (z / 8 + 1) * 1079 / 6;

    zones[z] = (GhRect){left, top, right - left, bottom - top};
  }
  test_engine_noise(random, &guarded, &frame);
  test_engine_measure(engine, &frame, 256);
  test_engine_frame_free(&guarded);
  gh_engine_close(&engine);
  g_rand_free(random);
}
GST_END_TEST

/* Each of 65536 values once; arithmetic in 16 bits with a sign would lose half
 * of them. */
GST_START_TEST(B44_every_value_of_16_bits)
{
  GhEngine *engine = open_with(GH_ALGORITHM_AUTO, 65536, 1);
  guint8 *samples = g_malloc(131072);
  GhFrame frame = {samples, 512, 256, 256, .format = {GH_WORDS_LE}};

  for (guint v = 0; v < 65536; v++) {
    samples[2 * v] = (guint8)v;
    samples[2 * v + 1] = (guint8)(v >> 8);
  }
  test_engine_measure(engine, &frame, 65536);
  frame.format.packing = GH_WORDS_BE;
  test_engine_measure(engine, &frame, 65536);
  memset(samples, 0xff, 131072);
  test_engine_measure(engine, &frame, 65536);
  g_free(samples);
  gh_engine_close(&engine);
}
GST_END_TEST

/* Sums beyond 32 bits, and a row as long as they come. */
GST_START_TEST(bright_frames)
{
  const guint bins = __i__ ? 65536 : 256;
  GhEngine *engine = open_with(GH_ALGORITHM_AUTO, bins, 2);
  gsize n = 1 << 18;
  guint8 *samples = g_malloc(2 * n);

  memset(samples, 0xff, 2 * n);
  test_engine_measure(engine,
                      &(GhFrame){samples, 2 * n, (guint32)n, 1,
                                 .format = {GH_WORDS_LE}, .rows = TRUE},
                      bins);
  g_free(samples);
  gh_engine_close(&engine);
}
GST_END_TEST

GST_START_TEST(impossible_frames_are_refused)
{
  static const guint8 samples[64];
  const GhRect outside[] = {
      {0, 0, 0, 1}, {0, 0, 1, 0},          {7, 0, 2, 1},         {0, 3, 1, 2},
      {8, 0, 1, 1}, {1, 1, 0xffffffff, 1}, {1, 1, 1, 0xffffffff}};
  const GhFormat wrong[] = {{GH_BYTES, 0, 0, 7},
                            {GH_WORDS_LE, 0, 9, 0},
                            {GH_WORDS_LE, 0, 0, 17},
                            {GH_WORDS_BE, 0, 8, 9},
                            {GH_TENS_LE40 + 1, 0, 0, 10}};
  GhEngine *engine = open_with(GH_ALGORITHM_AUTO, 256, 1);
  GhError error = {""};

  for (guint i = 0; i < G_N_ELEMENTS(outside); i++) {
    fail_unless_equals_int(
        gh_engine_submit(engine,
                         &(GhFrame){samples, 8, 8, 4, .regions = &outside[i],
                                    .n_regions = 1},
                         &error),
        GH_FAILED);
    fail_unless(strstr(error.text, "1 regions of a frame of 8 x 4") != NULL,
                "%s", error.text);
  }
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    fail_unless_equals_int(
        gh_engine_submit(
            engine, &(GhFrame){samples, 16, 4, 2, .format = wrong[i]}, &error),
        GH_FAILED);
    fail_unless(strstr(error.text, "a frame of 4 x 2 samples of") != NULL, "%s",
                error.text);
  }
  gh_engine_close(&engine);
}
GST_END_TEST

static Suite *
formats_engine_suite(void)
{
  Suite *suite = suite_create("formats-engine");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, every_format_and_number_of_bins, 0,
                      G_N_ELEMENTS(bin_counts));
  tcase_add_loop_test(tcase, every_algorithm, 0, GH_N_ALGORITHMS);
  tcase_add_loop_test(tcase, a_grid_of_zones, 1, 4);
  tcase_add_test(tcase, B44_every_value_of_16_bits);
  tcase_add_loop_test(tcase, bright_frames, 0, 2);
  tcase_add_test(tcase, impossible_frames_are_refused);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, formats_engine_suite, "formats-engine");
}
