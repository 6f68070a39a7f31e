/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ways of counting on the CPU, each against the plain reference, and which
 * of them is taken for what. */

#include "cpu-choice.h"
#include "testing-engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- The counts ---- */

/* Adds to counts that are not zero, as a caller may. */
static void
check_way(const GhCountWay *way, const GhFrame *frame, guint32 *scratch)
{
  GhByteCounts expected = {{3, 2, 1}, 5}, counts = expected;

  gh_count_ways[GH_COUNT_REFERENCE].count(frame, NULL, &expected);
  way->count(frame, way->needs_scratch ? scratch : NULL, &counts);
  fail_unless(memcmp(&counts, &expected, sizeof(counts)) == 0,
              "%s: wrong counts of %u x %u", way->name, frame->width,
              frame->height);
}

/* One memory for all frames: what one leaves there would count in the next. */
GST_START_TEST(frames_of_any_kind)
{
  const GhCountWay *way = &gh_count_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint i = 0; i < 300; i++) {
    Guarded guarded;
    GhFrame frame;

    test_engine_frame(random, &guarded, &frame);
    check_way(way, &frame, scratch);
    test_engine_frame_free(&guarded);
  }
  fail_unless(test_engine_is_zero(scratch));
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(every_small_width)
{
  const GhCountWay *way = &gh_count_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint width = 1; width <= 140; width++) {
    for (guint gap = 0; gap <= 3; gap++) {
      GhFrame frame = {NULL, width + gap, width, 1 + width % 9};
      Guarded guarded;

      test_engine_noise(random, &guarded, &frame);
      check_way(way, &frame, scratch);
      test_engine_frame_free(&guarded);
    }
  }
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

/* Each value alone, and so each pair of equal values. */
GST_START_TEST(every_value)
{
  const GhCountWay *way = &gh_count_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  guint8 samples[1027];

  for (guint v = 0; v < GH_BYTE_LEVELS; v++) {
    memset(samples, (gint)v, sizeof(samples));
    check_way(way, &(GhFrame){samples, 79, 79, 13}, scratch);
  }
  free(scratch);
}
GST_END_TEST

/* More of a value than 16 bits hold, and so many rows that sums carry. */
GST_START_TEST(large_frame)
{
  const GhCountWay *way = &gh_count_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  guint8 *samples = g_malloc(1921 * 1080);

  for (gsize i = 0; i < 1921 * 1080; i++)
    samples[i] = i % 3 ? 255 : (guint8)(i / 7);
  check_way(way, &(GhFrame){samples, 1921, 1920, 1080}, scratch);
  g_free(samples);
  free(scratch);
}
GST_END_TEST

/* ---- The choice ---- */

typedef guint8 (*Sample)(gsize i);

static guint8
constant(gsize i)
{
  return 7;
}

static guint8
scattered(gsize i)
{
  return (guint8)(37 * i + 11);
}

static guint8
noise(gsize i)
{
  return (guint8)test_engine_scramble(i);
}

static guint8
hot(gsize i)
{
  return noise(i) % 10 ? 0 : noise(i + 1);
}

/* Noise on a slope, below black bars. */
static guint8
natural(gsize i)
{
  return i % 1048576 < 200000 ? 16
                              : (guint8)(60 + i % 1920 / 16 + noise(i) % 9);
}

static const struct {
  Sample sample;
  guint width, height;
  gboolean have_scratch;
  GhCountWayName way;
} choices[] = {
    {constant, 3840, 2160, TRUE, GH_COUNT_RUNS},
    {constant, 640, 480, TRUE, GH_COUNT_RUNS},
    {scattered, 3840, 2160, TRUE, GH_COUNT_PAIRS},
    {scattered, 3840, 2160, FALSE, GH_COUNT_TABLES},
    {scattered, 300, 256, TRUE, GH_COUNT_TABLES},
    {scattered, 64, 48, TRUE, GH_COUNT_RUNS},
    {scattered, 63, 65536, TRUE, GH_COUNT_RUNS},
    {natural, 1920, 1080, TRUE, GH_COUNT_PAIRS},
    {natural, 1920, 1080, FALSE, GH_COUNT_RUNS},
    {noise, 3840, 2160, TRUE, GH_COUNT_TABLES},
    {hot, 3840, 2160, TRUE, GH_COUNT_TABLES},
};

GST_START_TEST(choice_by_content)
{
  gsize width = choices[__i__].width, height = choices[__i__].height;
  guint8 *samples = g_malloc(width * height);
  GhFrame frame = {samples, width, (guint32)width, (guint32)height};
  gboolean have_scratch = choices[__i__].have_scratch;

  for (gsize i = 0; i < width * height; i++)
    samples[i] = choices[__i__].sample(i);
  fail_unless_equals_int(gh_count_choose(&frame, have_scratch),
                         choices[__i__].way);
  g_free(samples);
}
GST_END_TEST

/* Beyond the rows all is equal, and would be taken for runs. */
GST_START_TEST(choice_looks_at_nothing_beyond_the_rows)
{
  GRand *random = test_engine_random();

  for (guint width = 64; width < 70000; width += 1 + width / 2) {
    GhFrame frame = {NULL, width + 100, width, 65536 / width + 1};
    Guarded guarded;

    test_engine_noise(random, &guarded, &frame);
    fail_unless_equals_int(gh_count_choose(&frame, TRUE), GH_COUNT_TABLES);
    test_engine_frame_free(&guarded);
  }
  g_rand_free(random);
}
GST_END_TEST

/* An engine keeps its memory from frame to frame and from worker to worker. */
GST_START_TEST(engine_of_changing_content)
{
  static const Sample samples_of[] = {scattered, natural, noise,
                                      constant,  natural, scattered};
  GhEngine *engine = test_engine_open(2, 256, __i__);
  guint8 *samples = g_malloc(1920 * 1080);

  for (guint c = 0; c < G_N_ELEMENTS(samples_of); c++) {
    for (gsize i = 0; i < 1920 * 1080; i++)
      samples[i] = samples_of[c](i);
    test_engine_measure(engine, &(GhFrame){samples, 1920, 1919, 1080}, 256);
  }
  gh_engine_close(&engine);
  g_free(samples);
}
GST_END_TEST

static void
add_ways(TCase *tcase)
{
  for (gint w = 0; w < GH_N_COUNT_WAYS; w++) {
    tcase_add_loop_test(tcase, frames_of_any_kind, w, w + 1);
    tcase_add_loop_test(tcase, every_small_width, w, w + 1);
    tcase_add_loop_test(tcase, every_value, w, w + 1);
    tcase_add_loop_test(tcase, large_frame, w, w + 1);
  }
}

static Suite *
ways_suite(void)
{
  Suite *suite = suite_create("ways");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  add_ways(tcase);
  tcase_add_loop_test(tcase, choice_by_content, 0, G_N_ELEMENTS(choices));
  tcase_add_test(tcase, choice_looks_at_nothing_beyond_the_rows);
  tcase_add_loop_test(tcase, engine_of_changing_content, 1, 4);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, ways_suite, "ways");
}
