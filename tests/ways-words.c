/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ways of counting samples that are not a byte each on the CPU, each
 * against the plain reference, and which of them is taken for what. */

#include "cpu-count.h"
#include "cpu-words-choice.h"
#include "engine-private.h"
#include "testing-engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- The counts ---- */

static gboolean
can_count(const GhWordsWay *way, guint counters)
{
  return way->least_counters <= counters && counters <= way->most_counters;
}

/* Counts that are not zero, as the caller's may be. */
static GhCounts *
counts_new(guint counters)
{
  GhCounts *counts = g_malloc0(4 * (gsize)GH_COUNTS_WORDS(counters));

  counts->sum = 5;
  gh_counters_of(counts)[0] = 3;
  gh_counters_of(counts)[counters - 1] = 2;
  return counts;
}

static void
check_part(const gchar *name, GhCountWords count, const GhFrame *frame,
           const GhRect *part, guint counters, guint32 *scratch)
{
  GhCounts *expected = counts_new(counters), *counts = counts_new(counters);
  const GhFormat *format = &frame->format;

  gh_words_ways[GH_WORDS_REFERENCE].count(frame, part, counters, NULL,
                                          expected);
  count(frame, part, counters, scratch, counts);
  fail_unless(
      memcmp(counts, expected, 4 * (gsize)GH_COUNTS_WORDS(counters)) == 0,
      "%s: wrong counts of %u x %u at %u, %u; packing %d, step %u, shift %u, "
      "depth %u, %u counters",
      name, part->width, part->height, part->x, part->y, format->packing,
      format->step, format->shift, format->depth, counters);
  g_free(expected);
  g_free(counts);
}

static void
check_way(const GhWordsWay *way, const GhFrame *frame, guint counters,
          guint32 *scratch)
{
  const GhRect whole = {0, 0, frame->width, frame->height};

  check_part(way->name, way->count, frame, &whole, counters, scratch);
}

static guint
random_counters(GRand *random, const GhWordsWay *way)
{
  guint first = MAX(8, gh_log2(way->least_counters));
  guint last = gh_log2(way->most_counters);

  return 1u << g_rand_int_range(random, (gint)first, (gint)last + 1);
}

/* One memory for all frames: what one leaves there would count in the next. */
GST_START_TEST(frames_of_any_kind)
{
  const GhWordsWay *way = &gh_words_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint i = 0; i < 400 / test_engine_scale(); i++) {
    guint counters = random_counters(random, way);
    Guarded guarded;
    GhFrame frame;
    GhRect part;

    test_engine_frame_of(random, counters, &guarded, &frame);
    test_engine_regions(random, &frame, &part, 1);
    frame.format = gh_format_complete(frame.format);
    check_way(way, &frame, counters, scratch);
    check_part(way->name, way->count, &frame, &part, counters, scratch);
    test_engine_frame_free(&guarded);
  }
  fail_unless(test_engine_is_zero(scratch));
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

/* One of each kind that is read in its own way. */
static const GhFormat formats[] = {
    {GH_BYTES, 1, 1, 7},      {GH_BYTES, 2, 0, 8},      {GH_BYTES, 3, 0, 8},
    {GH_WORDS_LE, 2, 0, 16},  {GH_WORDS_LE, 2, 6, 10},  {GH_WORDS_LE, 4, 0, 12},
    {GH_WORDS_BE, 2, 0, 16},  {GH_WORDS_BE, 2, 3, 9},   {GH_WORDS_BE, 6, 4, 12},
    {GH_TENS_LE32, 2, 0, 10}, {GH_TENS_LE40, 2, 0, 10},
};

static void
check_width(GRand *random, const GhFormat *format, guint width,
            guint32 *scratch)
{
  guint least = gh_counters(format->depth, 2);
  GhFrame frame = {NULL, 0, width, 2, .format = *format};
  Guarded guarded;

  frame.stride = MAX(format->step, 2) * (gsize)width + width % 4;
  test_engine_noise(random, &guarded, &frame);
  for (guint w = 0; w < GH_N_WORDS_WAYS; w++)
    for (guint counters = least; counters <= 1u << format->depth; counters *= 2)
      if (can_count(&gh_words_ways[w], counters) && counters <= 1024)
        check_way(&gh_words_ways[w], &frame, counters, scratch);
  test_engine_frame_free(&guarded);
}

GST_START_TEST(every_small_width)
{
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint width = 1; width <= 300; width += test_engine_scale())
    check_width(random, &formats[__i__], width, scratch);
  fail_unless(test_engine_is_zero(scratch));
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

/* Packed samples begin in the middle of their group. */
GST_START_TEST(every_small_part)
{
  GhFrame frame = {NULL, 1700, 280, 3, .format = formats[__i__]};
  guint counters = MIN(1u << frame.format.depth, 1024);
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();
  Guarded guarded;

  test_engine_noise(random, &guarded, &frame);
  for (guint32 x = 0; x < 20; x++)
    for (guint32 width = 1; width <= frame.width - x; width++)
      for (guint w = 1; w < GH_N_WORDS_WAYS; w++)
        if (can_count(&gh_words_ways[w], counters) && w % 8 == x % 8)
          check_part(gh_words_ways[w].name, gh_words_ways[w].count, &frame,
                     &(GhRect){x, 1, width, 2}, counters, scratch);
  test_engine_frame_free(&guarded);
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(every_shift_and_depth)
{
  const GhWordsWay *way = &gh_words_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint depth = 1; depth <= 16; depth++) {
    for (guint shift = 0; shift + depth <= 16; shift++) {
      const GhPacking packing = shift % 2 ? GH_WORDS_LE : GH_WORDS_BE;
      GhFrame frame = {NULL, 320, 157, 3, .format = {packing, 2, shift, depth}};
      Guarded guarded;

      if (shift + depth <= 8)
        frame.format.packing = GH_BYTES;
      test_engine_noise(random, &guarded, &frame);
      for (guint counters = gh_counters(depth, 2); counters <= 1u << depth;
           counters *= 2)
        if (can_count(way, counters))
          check_way(way, &frame, counters, scratch);
      test_engine_frame_free(&guarded);
    }
  }
  fail_unless(test_engine_is_zero(scratch));
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

/* Each value 40 times in a row, in either order of bytes. */
GST_START_TEST(every_value)
{
  const GhWordsWay *way = &gh_words_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  guint8 *samples = g_malloc(80 * 65536);
  GhFrame frame = {samples, 80, 40, 65536, .format = {GH_WORDS_LE, 2, 0, 16}};

  for (gsize i = 0; i < 40 * 65536; i++) {
    samples[2 * i] = (guint8)(i / 40);
    samples[2 * i + 1] = (guint8)(i / 40 >> 8);
  }
  check_way(way, &frame, way->most_counters, scratch);
  check_way(way, &frame, MAX(way->least_counters, 256), scratch);
  frame.format.packing = GH_WORDS_BE;
  check_way(way, &frame, way->most_counters, scratch);
  g_free(samples);
  free(scratch);
}
GST_END_TEST

/* More of a value than 16 bits hold, and sums of more than 32. */
GST_START_TEST(large_frame)
{
  const GhWordsWay *way = &gh_words_ways[__i__];
  guint32 *scratch = gh_count_scratch_new();
  gsize n = 1921 * 1080;
  guint8 *samples = g_malloc(2 * n);
  GhFrame frame = {samples, 2 * 1921, 1920, 1080,
                   .format = {GH_WORDS_LE, 2, 0, 16}};

  for (gsize i = 0; i < 2 * n; i++)
    samples[i] = i % 14 > 3 ? 255 : (guint8)(i / 7);
  check_way(way, &frame, way->most_counters, scratch);
  memset(samples, 255, 2 * n);
  check_way(way, &frame, way->most_counters, scratch);
  fail_unless(test_engine_is_zero(scratch));
  g_free(samples);
  free(scratch);
}
GST_END_TEST

/* ---- The choice ---- */

typedef guint16 (*Sample)(gsize i);

static guint16
constant(gsize i)
{
  return 1234;
}

static guint16
noise(gsize i)
{
  return (guint16)test_engine_scramble(i);
}

static guint16
hot(gsize i)
{
  return noise(i) % 10 ? 0 : noise(i + 1);
}

/* Noise on a slope, below black bars. */
static guint16
natural(gsize i)
{
  return i % 1048576 < 200000
             ? 4096
             : (guint16)(16000 + i % 1920 * 16 + noise(i) % 2300);
}

static const struct {
  Sample sample;
  GhFormat format;
  guint counters;
  guint width, height;
  GhWordsWayName way;
} choices[] = {
    {constant, {GH_WORDS_LE, 2, 0, 16}, 256, 1920, 1080, GH_WORDS_BYTES_RUNS},
    {noise, {GH_WORDS_LE, 2, 0, 16}, 256, 1920, 1080, GH_WORDS_BYTES},
    {noise, {GH_WORDS_LE, 2, 0, 16}, 256, 64, 48, GH_WORDS_BYTES_RUNS},
    {natural, {GH_WORDS_LE, 2, 0, 16}, 256, 1920, 1080, GH_WORDS_BYTES_PAIRS},
    {natural, {GH_WORDS_LE, 2, 0, 16}, 256, 300, 256, GH_WORDS_BYTES_RUNS},
    {noise, {GH_BYTES, 2, 0, 8}, 256, 1920, 1080, GH_WORDS_BYTES},
    {noise, {GH_WORDS_LE, 2, 6, 10}, 1024, 1920, 1080, GH_WORDS_8_TABLES},
    {noise, {GH_WORDS_LE, 2, 6, 10}, 1024, 64, 48, GH_WORDS_1_RUNS},
    {natural, {GH_WORDS_LE, 2, 6, 10}, 1024, 1920, 1080, GH_WORDS_8_RUNS},
    {noise, {GH_WORDS_LE, 2, 4, 12}, 4096, 1920, 1080, GH_WORDS_2_TABLES},
    {hot, {GH_WORDS_LE, 2, 4, 12}, 4096, 1920, 1080, GH_WORDS_8_TABLES},
    {noise, {GH_WORDS_LE, 2, 0, 16}, 65536, 1920, 1080, GH_WORDS_1_TABLE},
    {hot, {GH_WORDS_LE, 2, 0, 16}, 65536, 1920, 1080, GH_WORDS_2_TABLES},
    {hot, {GH_WORDS_LE, 2, 0, 16}, 16384, 1920, 1080, GH_WORDS_4_TABLES},
    {hot, {GH_WORDS_LE, 2, 0, 16}, 65536, 640, 480, GH_WORDS_1_TABLE},
    {natural, {GH_WORDS_LE, 2, 0, 16}, 65536, 1920, 1080, GH_WORDS_1_RUNS},
    {constant, {GH_WORDS_LE, 2, 0, 16}, 65536, 63, 65536, GH_WORDS_1_RUNS},
};

GST_START_TEST(choice_by_content)
{
  gsize width = choices[__i__].width, height = choices[__i__].height;
  guint8 *samples = g_malloc(2 * width * height);
  GhFrame frame = {samples, 2 * width, (guint32)width, (guint32)height,
                   .format = choices[__i__].format};
  const GhRect whole = {0, 0, frame.width, frame.height};

  for (gsize i = 0; i < width * height; i++) {
    guint sample = choices[__i__].sample(i);

    samples[2 * i] = (guint8)sample;
    samples[2 * i + 1] = (guint8)(sample >> 8);
  }
  fail_unless_equals_int(
      gh_words_choose(&frame, &whole, choices[__i__].counters),
      choices[__i__].way);
  g_free(samples);
}
GST_END_TEST

/* Parts of which the last row ends where the memory does. */
GST_START_TEST(chosen_ways_of_any_part)
{
  const GhFormat *format = &formats[__i__];
  guint32 *scratch = gh_count_scratch_new();
  GRand *random = test_engine_random();

  for (guint width = 64; width < 70000; width += 1 + width / 2) {
    GhFrame frame = {NULL, 0, width, 65536 / width + 9, .format = *format};
    const GhRect part = {3, 2, width - 3, frame.height - 2};
    Guarded guarded;

    frame.stride = MAX(format->step, 2) * (gsize)width + 5;
    test_engine_noise(random, &guarded, &frame);
    check_part("as chosen", gh_words_best, &frame, &part,
               gh_counters(format->depth, 2), scratch);
    check_part("as chosen", gh_words_best, &frame, &part, 1u << format->depth,
               scratch);
    fail_unless(test_engine_is_zero(scratch));
    test_engine_frame_free(&guarded);
  }
  free(scratch);
  g_rand_free(random);
}
GST_END_TEST

/* An engine keeps its memory from frame to frame and from worker to worker. */
GST_START_TEST(engine_of_changing_content)
{
  static const Sample samples_of[] = {natural, noise, hot, constant, natural};
  static const guint bins[] = {256, 1024, 65536};
  gsize n = 640 * 481;
  guint16 *samples = g_malloc(2 * n);
  GhFrame frame = {(const guint8 *)samples, 2 * 640,     639, 481,
                   .format = {GH_WORDS_LE}, .rows = TRUE};

  for (guint b = 0; b < G_N_ELEMENTS(bins); b++) {
    GhEngine *engine = test_engine_open(2, bins[b], __i__);

    for (guint c = 0; c < G_N_ELEMENTS(samples_of); c++) {
      for (gsize i = 0; i < n; i++)
        samples[i] = samples_of[c](i);
      test_engine_measure(engine, &frame, bins[b]);
    }
    gh_engine_close(&engine);
  }
  g_free(samples);
}
GST_END_TEST

static void
add_ways(TCase *tcase)
{
  for (gint w = 0; w < GH_N_WORDS_WAYS; w++) {
    tcase_add_loop_test(tcase, frames_of_any_kind, w, w + 1);
    tcase_add_loop_test(tcase, every_shift_and_depth, w, w + 1);
    tcase_add_loop_test(tcase, every_value, w, w + 1);
    tcase_add_loop_test(tcase, large_frame, w, w + 1);
  }
}

static Suite *
ways_words_suite(void)
{
  Suite *suite = suite_create("ways-words");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  add_ways(tcase);
  tcase_add_loop_test(tcase, every_small_width, 0, G_N_ELEMENTS(formats));
  tcase_add_loop_test(tcase, every_small_part, 0, G_N_ELEMENTS(formats));
  tcase_add_loop_test(tcase, choice_by_content, 0, G_N_ELEMENTS(choices));
  tcase_add_loop_test(tcase, chosen_ways_of_any_part, 0, G_N_ELEMENTS(formats));
  tcase_add_loop_test(tcase, engine_of_changing_content, 1, 4);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, ways_words_suite, "ways-words");
}
