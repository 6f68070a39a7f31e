/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-choice.h"

#include "cpu-row.h"

/* ---- What the frame is like ---- */

#define PIECE 32u                 /* samples, the least that count as a run */
#define PIECES (GH_PLACE / PIECE) /* at a place */
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
void
gh_count_place(uint32_t width, uint32_t height, unsigned i, size_t *x,
               size_t *y)
{
  uint64_t columns = width - GH_PLACE + 1;

  *x = (size_t)(columns * (i * 40503u & 0xffff) >> 16);
  *y = (size_t)((uint64_t)height * i / GH_PLACES);
}

static Look
look_at(const GhFrame *frame)
{
  uint8_t seen[LINES] = {0};
  Look look = {0};

  for (unsigned i = 0; i < GH_PLACES; i++) {
    size_t x, y;

    gh_count_place(frame->width, frame->height, i, &x, &y);
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
pays_folding(uint64_t n)
{
  return n >= PAIRS_FROM;
}

/* Where there are no runs, not even asking for them is quicker. */
static GhCountWayName
tables_for(const Look *look)
{
  return look->runs * 32 >= GH_PLACES * PIECES ? GH_COUNT_RUNS
                                               : GH_COUNT_TABLES;
}

bool
gh_count_is_worth_a_look(uint32_t width, uint32_t height)
{
  return (uint64_t)width * height >= LOOK_FROM && width >= GH_PLACE;
}

static GhCountWayName
way_for(const Look *look, uint64_t n, bool have_scratch)
{
  if (look->runs * 4 >= GH_PLACES * PIECES * 3)
    return GH_COUNT_RUNS;
  if (have_scratch && suits_pairs(look) && pays_folding(n))
    return GH_COUNT_PAIRS;
  return tables_for(look);
}

GhCountWayName
gh_count_choose_by(const uint8_t *places, uint64_t n, bool have_scratch)
{
  Look look = look_at(&(GhFrame){places, GH_PLACE, GH_PLACE, GH_PLACES});

  return way_for(&look, n, have_scratch);
}

GhCountWayName
gh_count_choose(const GhFrame *frame, bool have_scratch)
{
  Look look;

  if (!gh_count_is_worth_a_look(frame->width, frame->height))
    return GH_COUNT_RUNS;
  look = look_at(frame);
  return way_for(&look, (uint64_t)frame->width * frame->height, have_scratch);
}

void
gh_count_best(const GhFrame *frame, uint32_t *scratch, GhByteCounts *counts)
{
  GhCountWayName name = gh_count_choose(frame, scratch != NULL);

  gh_count_ways[name].count(frame, scratch, counts);
}
