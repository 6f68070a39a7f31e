/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-cell.h"

#include "cpu-choice.h"
#include "cpu-row.h"
#include "cpu-words-choice.h"
#include "engine-private.h"

static void
count_bytes(const GhFrame *part, uint32_t *scratch, GhCounts *counts)
{
  GhByteCounts bytes = {{0}, 0};

  gh_count_best(part, scratch, &bytes);
  for (unsigned v = 0; v < GH_BYTE_LEVELS; v++)
    gh_counters_of(counts)[v] += (uint32_t)bytes.count[v];
  counts->sum += bytes.sum;
}

void
gh_count_cell(const GhFrame *frame, const GhRect *part, unsigned counters,
              uint32_t *scratch, GhCounts *counts)
{
  GhFrame cell = *frame;

  if (!gh_format_is_bytes(&frame->format)) {
    gh_words_best(frame, part, counters, scratch, counts);
    return;
  }
  cell.samples += part->y * frame->stride + part->x;
  cell.width = part->width;
  cell.height = part->height;
  count_bytes(&cell, scratch, counts);
}

static uint64_t
sum_bytes(const uint8_t *row, size_t width)
{
  uint64_t tail = 0;
  size_t x = 0;
  GhSum sum;

  gh_sum_start(&sum);
  for (; x + 32 <= width; x += 32)
    gh_sum_add_32(&sum, row + x);
  for (; x < width; x++)
    tail += row[x];
  return tail + gh_sum_end(&sum);
}

uint64_t
gh_sum_row(const GhFrame *frame, uint32_t y)
{
  const uint8_t *row = frame->samples + y * frame->stride;

  return gh_format_is_bytes(&frame->format) ? sum_bytes(row, frame->width)
                                            : gh_words_sum_row(frame, y);
}
