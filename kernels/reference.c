/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plain way to count, sample by sample. */

#include "sample.h"

#include <string.h>

static void
count_part(const GhFrame *frame, const GhFormat *format, const GhRect *part,
           unsigned bins, GhHistogram *to)
{
  unsigned shift = gh_counter_shift(format->depth, bins);

  memset(to->bins, 0, bins * sizeof(*to->bins));
  to->pixels = to->sum = to->least_sum = 0;
  for (size_t y = part->y; y < (size_t)part->y + part->height; y++) {
    const uint8_t *row = frame->samples + y * frame->stride;

    for (size_t x = part->x; x < (size_t)part->x + part->width; x++) {
      uint32_t sample = gh_sample(format, row, x);

      to->bins[sample >> shift]++;
      to->pixels++;
      to->sum += sample;
      to->least_sum += sample >> shift << shift;
    }
  }
  to->most_sum = to->least_sum + (to->pixels << shift) - to->pixels;
}

static void
sum_rows(const GhFrame *frame, const GhFormat *format, uint64_t *sums)
{
  for (size_t y = 0; y < frame->height; y++) {
    const uint8_t *row = frame->samples + y * frame->stride;

    sums[y] = 0;
    for (size_t x = 0; x < frame->width; x++)
      sums[y] += gh_sample(format, row, x);
  }
}

void
gh_count_frame(const GhFrame *frame, unsigned bins, GhResult *result)
{
  const GhRect whole = {0, 0, frame->width, frame->height};
  GhFormat format = gh_format_complete(frame->format);

  count_part(frame, &format, &whole, bins, &result->whole);
  for (uint32_t r = 0; r < frame->n_regions; r++)
    count_part(frame, &format, &frame->regions[r], bins, &result->regions[r]);
  if (frame->rows && result->row_sums)
    sum_rows(frame, &format, result->row_sums);
  result->bytes_uploaded = 0;
  result->bytes_copied = 0;
  result->device_ns = 0;
}
