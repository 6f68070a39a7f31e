/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times the ways of counting on the CPU over frames of different content, one
 * thread, and the engine with several threads; prints gigasamples a second
 * (median of the repeats). A star is at the way that is taken for the content.
 *
 *     gpuhistogram-bench-cpu [WIDTH HEIGHT [words]]
 *
 * With the word "words", those of samples that are not a byte each.
 */

#include "bench-time.h"
#include "content.h"
#include "cpu-choice.h"
#include "words.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Median seconds, or a negative number where the counts are wrong. */
static double
time_way(GhCount count, uint32_t *scratch, const GhFrame *frame,
         const GhByteCounts *expected)
{
  double times[BENCH_REPEATS];

  for (int i = 0; i < BENCH_REPEATS; i++) {
    GhByteCounts counts = {{0}, 0};
    double start = bench_now();

    count(frame, scratch, &counts);
    times[i] = bench_now() - start;
    if (memcmp(&counts, expected, sizeof(counts)) != 0)
      return -1;
  }
  return bench_median(times);
}

/* Prints a row of the table: one way, all contents. */
static int
bench_way(const char *name, GhCount count, uint32_t *scratch, uint8_t *samples,
          const GhFrame *frame)
{
  size_t n = (size_t)frame->width * frame->height;

  printf("%-16s", name);
  for (size_t c = 0; c < bench_n_contents; c++) {
    GhByteCounts expected = {{0}, 0};
    GhCountWayName chosen;
    double seconds;

    bench_fill(&bench_contents[c], samples, n, frame->width, 256, 1);
    gh_count_ways[GH_COUNT_REFERENCE].count(frame, NULL, &expected);
    seconds = time_way(count, scratch, frame, &expected);
    if (seconds < 0) {
      printf("  wrong counts\n");
      return 1;
    }
    chosen = gh_count_choose(frame, true);
    printf("%11.2f%s", (double)n / seconds * 1e-9,
           gh_count_ways[chosen].count == count ? "*" : " ");
  }
  printf("\n");
  return 0;
}

static int
bench(uint8_t *samples, const GhFrame *frame)
{
  uint32_t *scratch = gh_count_scratch_new();
  int status = scratch ? 0 : 1;

  printf("%-16s", "Gsamples/s");
  for (size_t c = 0; c < bench_n_contents; c++)
    printf("%11s ", bench_contents[c].name);
  printf("\n");
  for (size_t w = 0; w < GH_N_COUNT_WAYS && status == 0; w++)
    status = bench_way(gh_count_ways[w].name, gh_count_ways[w].count, scratch,
                       samples, frame);
  if (status == 0)
    status = bench_way("as chosen", gh_count_best, scratch, samples, frame);
  free(scratch);
  return status;
}

/* Median seconds of the engine, or a negative number where it fails. */
static double
time_engine(unsigned n_threads, const GhFrame *frame)
{
  const GhSettings settings = {.depth = 1, .bins = 256, .n_threads = n_threads};
  uint64_t bins[256];
  GhResult result = {.whole = {.bins = bins}};
  double times[BENCH_REPEATS];
  GhEngine *engine;
  GhError error;

  if (gh_engine_open(&engine, GH_ENGINE_CPU, &settings, &error) != GH_OK)
    return -1;
  for (int i = 0; i < BENCH_REPEATS; i++) {
    double start = bench_now();

    gh_engine_submit(engine, frame, &error);
    gh_engine_collect(engine, true, &result, &error);
    times[i] = bench_now() - start;
  }
  gh_engine_close(&engine);
  return bench_median(times);
}

/* Noise, with more and more threads. */
static void
bench_threads(uint8_t *samples, const GhFrame *frame)
{
  size_t n = (size_t)frame->width * frame->height;
  unsigned cores = gh_workers_cores();
  double one;

  for (size_t c = 0; c < bench_n_contents; c++)
    if (strcmp(bench_contents[c].name, "noise") == 0)
      bench_fill(&bench_contents[c], samples, n, frame->width, 256, 1);
  one = time_engine(1, frame);
  for (unsigned threads = 1; threads <= cores; threads *= 2) {
    double seconds = time_engine(threads, frame);

    printf("%2u threads %8.2f Gsamples/s, efficiency %.2f\n", threads,
           (double)n / seconds * 1e-9, one / seconds / threads);
  }
}

int
main(int argc, char **argv)
{
  size_t width = argc > 2 ? strtoul(argv[1], NULL, 10) : 1920;
  size_t height = argc > 2 ? strtoul(argv[2], NULL, 10) : 1080;
  uint8_t *samples = width && height ? malloc(width * height) : NULL;
  const GhFrame frame = {samples, width, (uint32_t)width, (uint32_t)height};
  int status;

  if (!samples) {
    fprintf(stderr, "usage: %s [WIDTH HEIGHT [words]]\n", argv[0]);
    return 2;
  }
  if (argc > 3 && strcmp(argv[3], "words") == 0) {
    status = bench_words(frame.width, frame.height);
  } else {
    status = bench(samples, &frame);
    bench_threads(samples, &frame);
  }
  free(samples);
  return status;
}
