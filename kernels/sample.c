/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sample.h"

static bool
is_packed(const GhFormat *format)
{
  return format->packing == GH_TENS_LE32 || format->packing == GH_TENS_LE40;
}

GhFormat
gh_format_complete(GhFormat format)
{
  unsigned bits = format.packing == GH_BYTES ? 8 : 16;

  if (is_packed(&format)) {
    format.shift = 0;
    format.depth = 10;
    return format;
  }
  if (format.depth == 0)
    format.depth = format.shift < bits ? bits - format.shift : 0;
  if (format.step == 0)
    format.step = bits / 8;
  return format;
}

bool
gh_format_is_valid(const GhFormat *format)
{
  unsigned bits = format->packing == GH_BYTES ? 8 : 16;

  /* Without a sum, which could wrap. */
  return format->packing <= GH_TENS_LE40 && format->depth >= 1 &&
         format->depth <= bits && format->shift <= bits - format->depth;
}

bool
gh_format_is_bytes(const GhFormat *format)
{
  return format->packing == GH_BYTES && format->step == 1 && format->depth == 8;
}

size_t
gh_row_bytes(const GhFormat *format, uint32_t width)
{
  switch (format->packing) {
  case GH_TENS_LE32:
    return (size_t)(width / 3) * 4 + width % 3 + (width % 3 ? 1 : 0);
  case GH_TENS_LE40:
    return ((size_t)width * 10 + 7) / 8;
  default:
    return (size_t)(width - 1) * format->step +
           (format->packing == GH_BYTES ? 1 : 2);
  }
}

unsigned
gh_counters(unsigned depth, unsigned bins)
{
  unsigned levels = 1u << depth;
  unsigned least = levels < 256 ? levels : 256;

  return bins > least ? bins : least;
}
