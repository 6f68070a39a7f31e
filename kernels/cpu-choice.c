/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-choice.h"

#include "cpu-row.h"

/* ---- What the frame is like ---- */

#define PLACES 64u           /* looked at; each is likely to miss the caches */
#define PIECES 2u            /* at a place */
#define PIECE 32u            /* samples, the least that count as a run */
#define LINES 4096u          /* of the first cache, in the table of pairs */
#define LINE_PAIRS 16u       /* counters in one of them */
#define LOOK_FROM (1u << 16) /* samples; of fewer a look would be some 5 % */
#define PAIRS_FROM (1u << 18)

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

/* Adding up the pairs takes 8 to 17 µs, and 0.1 to 0.2 ns a sample are gained.
 */
static bool
pays_folding(const GhFrame *frame)
{
  return (uint64_t)frame->width * frame->height >= PAIRS_FROM;
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
gh_count_choose(const GhFrame *frame, bool have_scratch)
{
  Look look;

  if (!is_worth_a_look(frame))
    return GH_COUNT_RUNS;
  look = look_at(frame);
  if (look.runs * 4 >= PLACES * PIECES * 3)
    return GH_COUNT_RUNS;
  if (have_scratch && suits_pairs(&look) && pays_folding(frame))
    return GH_COUNT_PAIRS;
  return tables_for(&look);
}

void
gh_count_best(const GhFrame *frame, uint32_t *scratch, GhByteCounts *counts)
{
  GhCountWayName name = gh_count_choose(frame, scratch != NULL);

  gh_count_ways[name].count(frame, scratch, counts);
}
