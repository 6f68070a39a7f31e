/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-words-choice.h"

#include "cpu-choice.h"
#include "cpu-unpack.h"

#define CACHE (32u * 1024u) /* bytes; first caches are this large or larger */
#define MOST_TABLES 8u

/* Of the numbers of more than 256 counters. */
typedef struct {
  unsigned flat;    /* places whose samples are all equal */
  unsigned others;  /* samples at the other places */
  unsigned repeats; /* of those, like one of the two before */
} Look;

/* Room for the numbers at all places. */
typedef union {
  uint8_t bytes[GH_PLACES][GH_PLACE];
  uint16_t words[GH_PLACES][GH_PLACE];
} Places;

static void
unpack_places(const GhFrame *frame, const GhRect *part, unsigned counters,
              Places *places)
{
  GhUnpack unpack = gh_unpack(&frame->format, counters);

  for (unsigned i = 0; i < GH_PLACES; i++) {
    void *numbers = unpack.wide ? (void *)places->words[i] : places->bytes[i];
    size_t x, y;

    gh_count_place(part->width, part->height, i, &x, &y);
    unpack.block(&unpack, frame->samples + (part->y + y) * frame->stride,
                 part->x + x, GH_PLACE, numbers);
  }
}

static bool
is_flat(const uint16_t *place)
{
  for (unsigned i = 1; i < GH_PLACE; i++)
    if (place[i] != place[0])
      return false;
  return true;
}

static Look
look_at(const Places *places)
{
  Look look = {0, 0, 0};

  for (unsigned i = 0; i < GH_PLACES; i++) {
    const uint16_t *place = places->words[i];

    if (is_flat(place)) {
      look.flat++;
      continue;
    }
    for (unsigned k = 2; k < GH_PLACE; k++)
      look.repeats += place[k] == place[k - 1] || place[k] == place[k - 2];
    look.others += GH_PLACE - 2;
  }
  return look;
}

static GhWordsWayName
bytes_way(GhCountWayName name)
{
  switch (name) {
  case GH_COUNT_PAIRS:
    return GH_WORDS_BYTES_PAIRS;
  case GH_COUNT_RUNS:
    return GH_WORDS_BYTES_RUNS;
  default:
    return GH_WORDS_BYTES;
  }
}

static GhWordsWayName
words_way(unsigned tables, bool runs)
{
  return (runs ? GH_WORDS_1_RUNS : GH_WORDS_1_TABLE) + gh_log2(tables);
}

/* Equal neighbours wait for each other in one table, and are worth as many as
 * there can be; what is spread over all counters is worth as many as the first
 * cache holds. Their counters have to be added up and zeroed in the end. */
static unsigned
tables_for(const Look *look, uint64_t n, unsigned counters)
{
  unsigned tables = MOST_TABLES;
  bool repeats = look->repeats * 16 > look->others;

  while (tables > 1 &&
         (n < 4 * (uint64_t)tables * counters ||
          (!repeats && tables * counters * sizeof(uint32_t) > CACHE) ||
          counters > gh_words_ways[words_way(tables, false)].most_counters))
    tables /= 2;
  return tables;
}

GhWordsWayName
gh_words_choose(const GhFrame *frame, const GhRect *part, unsigned counters)
{
  uint64_t n = (uint64_t)part->width * part->height;
  Look look = {0, 0, 0};
  Places places;

  if (!gh_count_is_worth_a_look(part->width, part->height))
    return counters <= 256 ? GH_WORDS_BYTES_RUNS
                           : words_way(tables_for(&look, n, counters), true);
  unpack_places(frame, part, counters, &places);
  if (counters <= 256)
    return bytes_way(gh_count_choose_by(places.bytes[0], n, true));
  look = look_at(&places);
  return words_way(tables_for(&look, n, counters), look.flat * 32 >= GH_PLACES);
}

void
gh_words_best(const GhFrame *frame, const GhRect *part, unsigned counters,
              uint32_t *scratch, GhCounts *counts)
{
  GhWordsWayName name = gh_words_choose(frame, part, counters);

  gh_words_ways[name].count(frame, part, counters, scratch, counts);
}
