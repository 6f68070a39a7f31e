/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-choice.h"

#include "cpu-row.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---- What the frame is like ---- */

#define PLACES 64u           /* looked at; each is likely to miss the caches */
#define PIECES 2u            /* at a place */
#define PIECE 32u            /* samples, the least that count as a run */
#define LINES 4096u          /* of the first cache, in the table of pairs */
#define LINE_PAIRS 16u       /* counters in one of them */
#define LOOK_FROM (1u << 16) /* samples; of fewer a look would be some 5 % */

typedef struct {
  unsigned runs;    /* pieces whose samples are all equal */
  unsigned pairs;   /* in the other pieces */
  unsigned repeats; /* pairs that are like the one before */
  unsigned lines;   /* different ones that the pairs are counted in */
} Look;

static void
look_at_pairs(const uint8_t *piece, uint8_t *seen, Look *look)
{
  unsigned last = LINES * LINE_PAIRS, repeats = 0;

  for (unsigned i = 0; i < PIECE; i += 2) {
    unsigned pair = piece[i] | (unsigned)piece[i + 1] << 8;

    repeats += pair == last;
    seen[pair / LINE_PAIRS] = 1;
    last = pair;
  }
  look->pairs += PIECE / 2;
  look->repeats += repeats;
}

static void
look_at_place(const uint8_t *place, uint8_t *seen, Look *look)
{
  for (unsigned i = 0; i < PIECES; i++) {
    const uint8_t *piece = place + i * PIECE;

    if (gh_is_run(piece, gh_load_word(piece)))
      look->runs++;
    else
      look_at_pairs(piece, seen, look);
  }
}

/* Rows at equal distances; columns that are spread as evenly, but follow no
 * pattern that a picture might have: multiples of the golden ratio. */
static Look
look_at(const GhFrame *frame)
{
  uint64_t columns = frame->width - PIECES * PIECE + 1;
  uint8_t seen[LINES] = {0};
  Look look = {0};

  for (unsigned i = 0; i < PLACES; i++) {
    size_t y = (size_t)((uint64_t)frame->height * i / PLACES);
    size_t x = (size_t)(columns * (i * 40503u & 0xffff) >> 16);

    look_at_place(frame->samples + y * frame->stride + x, seen, &look);
  }
  for (unsigned i = 0; i < LINES; i++)
    look.lines += seen[i];
  return look;
}

/* ---- What that means ---- */

/* A pair waits for the increment of an equal one before it, which tables do not
 * do; and where more than a quarter of the lines are new, the first cache is
 * too small for those of a whole frame. In real video, 0.04 to 0.33 of the
 * pairs were repeats, with 0.11 to 0.25 lines for each pair. Hot values: 0.6
 * repeats; two values: 0.23; noise: 0.8 lines; Zipf: 0.28. */
static bool
suits_pairs(const Look *look)
{
  return look->repeats * 5 < look->pairs && look->lines * 4 < look->pairs;
}

/* Where there are no runs, not even asking for them is quicker. */
static GhCountWayName
tables_for(const Look *look)
{
  return look->runs * 32 >= PLACES * PIECES ? GH_COUNT_RUNS : GH_COUNT_TABLES;
}

static bool
is_worth_a_look(const GhFrame *frame)
{
  return (uint64_t)frame->width * frame->height >= LOOK_FROM &&
         frame->width >= PIECES * PIECE;
}

GhCountWayName
gh_count_choose(const GhFrame *frame, bool have_scratch,
                const GhCountCosts *costs)
{
  double n = (double)frame->width * frame->height;
  double rest, tables, pairs, planes;
  Look look;

  if (!is_worth_a_look(frame))
    return GH_COUNT_RUNS;
  look = look_at(frame);
  /* Tables and pairs count a run in about a fifth of the time. */
  rest = 1 - 0.8 * look.runs / (PLACES * PIECES);
  tables = n * rest * costs->tables;
  planes = n * costs->planes;
  pairs = have_scratch && suits_pairs(&look)
              ? n * rest * costs->pairs + costs->fold
              : INFINITY;
  if (pairs < tables && pairs < planes)
    return GH_COUNT_PAIRS;
  return planes < tables ? GH_COUNT_PLANES : tables_for(&look);
}

/* ---- What the processor is like ---- */

/* Whether logic in wide registers is quicker than counters in memory, and from
 * which size on a table of pairs pays, differs between processors that have the
 * same instructions. So it is measured instead of guessed. */

#define NOISE 32768u /* samples, little enough for the second cache */
#define ALIKE 65536u /* more, as the table is folded for them too */

/* Of all trials; the quickest counts, as what holds one up now and then is none
 * of its costs. */
#define ROUNDS 3

static double
now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Lowers *least to the nanoseconds of a call. */
static void
try_way(GhCountWayName name, const uint8_t *samples, uint32_t n,
        uint32_t *scratch, double *least)
{
  const GhFrame frame = {samples, n, n, 1};
  GhCounts counts = {{0}, 0};
  double start = now(), ns;

  gh_count_ways[name].count(&frame, scratch, &counts);
  ns = now() - start;
  if (ns < *least)
    *least = ns;
}

/* Noise of all levels; noise of 32 levels on a slope, about as good for pairs
 * as video is. */
static void
fill(uint8_t *noise, uint8_t *alike)
{
  uint64_t state = 1;

  for (uint32_t i = 0; i < NOISE; i += 4) {
    uint32_t word = (uint32_t)(state >> 32);

    memcpy(noise + i, &word, sizeof(word));
    state = state * 6364136223846793005 + 1442695040888963407;
  }
  for (uint32_t i = 0; i < ALIKE; i++)
    alike[i] = (uint8_t)(noise[i % NOISE] % 32 + i / 512);
}

static void
measure(uint8_t *samples, uint32_t *scratch, GhCountCosts *costs)
{
  uint8_t *noise = samples, *alike = samples + NOISE;
  double tables = INFINITY, pairs = INFINITY;

  fill(noise, alike);
  costs->fold = INFINITY;
  for (unsigned i = 0; i < ROUNDS; i++) {
    try_way(GH_COUNT_TABLES, noise, NOISE, NULL, &tables);
    try_way(GH_COUNT_PAIRS, alike, ALIKE, scratch, &pairs);
    try_way(GH_COUNT_PAIRS, alike, 1, scratch, &costs->fold);
    if (gh_count_way_is_supported(&gh_count_ways[GH_COUNT_PLANES]))
      try_way(GH_COUNT_PLANES, noise, NOISE, NULL, &costs->planes);
  }
  costs->tables = tables / NOISE;
  costs->pairs = pairs > costs->fold ? (pairs - costs->fold) / ALIKE : 0;
  costs->planes /= NOISE;
}

/* Where there is no memory to measure with, tables it is. */
static GhCountCosts this_processor = {1, INFINITY, INFINITY, INFINITY};

static void
measure_this_processor(void)
{
  uint8_t *samples = malloc(NOISE + ALIKE);
  uint32_t *scratch = gh_count_scratch_new();

  if (samples && scratch)
    measure(samples, scratch, &this_processor);
  free(samples);
  free(scratch);
}

const GhCountCosts *
gh_count_costs(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once(&once, measure_this_processor);
  return &this_processor;
}

void
gh_count_best(const GhFrame *frame, uint32_t *scratch, GhCounts *counts)
{
  GhCountWayName name = GH_COUNT_RUNS;

  /* Who has only small frames is spared the measuring. */
  if (is_worth_a_look(frame))
    name = gh_count_choose(frame, scratch, gh_count_costs());
  gh_count_ways[name].count(frame, scratch, counts);
}
