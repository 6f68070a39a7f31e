/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times the ways of counting on the CPU over frames of different content, one
 * thread, and the engine with several threads; prints gigasamples a second
 * (median of the repeats).
 *
 *     gpuhistogram-bench-cpu [WIDTH HEIGHT]
 */

#include "cpu-count.h"
#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS 41

typedef void (*Fill)(uint8_t *samples, size_t width, size_t height);

static uint32_t
next_random(uint32_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static void
fill_flat(uint8_t *samples, size_t width, size_t height)
{
  memset(samples, 7, width * height);
}

static void
fill_gradient(uint8_t *samples, size_t width, size_t height)
{
  for (size_t i = 0; i < width * height; i++)
    samples[i] = (uint8_t)(i % width * 256 / width);
}

/* Neighbours that differ by a few levels, with flat bars above and below. */
static void
fill_natural(uint8_t *samples, size_t width, size_t height)
{
  uint32_t state = 1;
  int level = 90;

  memset(samples, 16, width * height);
  for (size_t i = width * (height / 8); i < width * (height - height / 8);
       i++) {
    level += (int)(next_random(&state) >> 8) % 7 - 3;
    level = level < 16 ? 16 : level > 235 ? 235 : level;
    samples[i] = (uint8_t)level;
  }
}

static void
fill_hot(uint8_t *samples, size_t width, size_t height)
{
  uint32_t state = 3;

  for (size_t i = 0; i < width * height; i++) {
    uint32_t r = next_random(&state) >> 8;
    samples[i] = r % 10 ? 0 : (uint8_t)(r >> 8);
  }
}

static void
fill_noise(uint8_t *samples, size_t width, size_t height)
{
  uint32_t state = 2;

  for (size_t i = 0; i < width * height; i++)
    samples[i] = (uint8_t)(next_random(&state) >> 8);
}

static const struct {
  const char *name;
  Fill fill;
} contents[] = {
    {"flat", fill_flat}, {"gradient", fill_gradient}, {"natural", fill_natural},
    {"hot", fill_hot},   {"noise", fill_noise},
};

#define N_CONTENTS (sizeof(contents) / sizeof(contents[0]))

static double
now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Median seconds, or a negative number where the counts are wrong. */
static double
time_way(const GhCountWay *way, const uint8_t *samples, size_t width,
         size_t height, const GhCounts *expected)
{
  double times[REPEATS];

  for (int i = 0; i < REPEATS; i++) {
    GhCounts counts = {{0}, 0};
    double start = now();

    way->count(samples, width, width, height, &counts);
    times[i] = now() - start;
    if (memcmp(&counts, expected, sizeof(counts)) != 0)
      return -1;
  }
  qsort(times, REPEATS, sizeof(times[0]), compare_times);
  return times[REPEATS / 2];
}

static int
bench(uint8_t *samples, size_t width, size_t height)
{
  printf("%-16s", "Gsamples/s");
  for (size_t c = 0; c < N_CONTENTS; c++)
    printf("%10s", contents[c].name);
  printf("\n");
  for (const GhCountWay *way = gh_count_ways; way->name; way++) {
    printf("%-16s", way->name);
    for (size_t c = 0; c < N_CONTENTS; c++) {
      GhCounts expected = {{0}, 0};
      double seconds;

      contents[c].fill(samples, width, height);
      gh_count_ways[0].count(samples, width, width, height, &expected);
      seconds = time_way(way, samples, width, height, &expected);
      if (seconds < 0) {
        printf("  wrong counts\n");
        return 1;
      }
      printf("%10.2f", (double)(width * height) / seconds * 1e-9);
    }
    printf("%s\n", way == gh_count_best ? "  <- in use" : "");
  }
  return 0;
}

/* Median seconds of the engine, or a negative number where it fails. */
static double
time_engine(unsigned n_threads, const uint8_t *samples, size_t width,
            size_t height)
{
  const GhSettings settings = {.depth = 1, .bins = 256, .n_threads = n_threads};
  const GhFrame frame = {samples, width, (uint32_t)width, (uint32_t)height};
  uint64_t bins[256];
  GhResult result = {.bins = bins};
  double times[REPEATS];
  GhEngine *engine;
  GhError error;

  if (gh_engine_open(&engine, GH_ENGINE_CPU, &settings, &error) != GH_OK)
    return -1;
  for (int i = 0; i < REPEATS; i++) {
    double start = now();

    gh_engine_submit(engine, &frame, &error);
    gh_engine_collect(engine, true, &result, &error);
    times[i] = now() - start;
  }
  gh_engine_close(&engine);
  qsort(times, REPEATS, sizeof(times[0]), compare_times);
  return times[REPEATS / 2];
}

/* Noise, with more and more threads. */
static void
bench_threads(uint8_t *samples, size_t width, size_t height)
{
  unsigned cores = gh_workers_cores();
  double one;

  fill_noise(samples, width, height);
  one = time_engine(1, samples, width, height);
  for (unsigned n = 1; n <= cores; n *= 2) {
    double seconds = time_engine(n, samples, width, height);

    printf("%2u threads %8.2f Gsamples/s, efficiency %.2f\n", n,
           (double)(width * height) / seconds * 1e-9, one / seconds / n);
  }
}

int
main(int argc, char **argv)
{
  size_t width = argc > 2 ? strtoul(argv[1], NULL, 10) : 1920;
  size_t height = argc > 2 ? strtoul(argv[2], NULL, 10) : 1080;
  uint8_t *samples = width && height ? malloc(width * height) : NULL;
  int status;

  if (!samples) {
    fprintf(stderr, "usage: %s [WIDTH HEIGHT]\n", argv[0]);
    return 2;
  }
  status = bench(samples, width, height);
  bench_threads(samples, width, height);
  free(samples);
  return status;
}
