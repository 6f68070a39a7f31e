/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the plain count finds the samples of a format: as bits of a row, from
 * the lowest one of its first byte on. Knows nothing of the engines. */

#include "testing.h"

/* Formats whose GstVideoFormatInfo says too little, or not what GStreamer's
 * own unpack functions do. */
static const struct {
  const gchar *name;
  TestLuma luma;
} odd_formats[] = {
    {"GRAY10_LE32", {0, 10, 3, 32, 10, 8, FALSE}},
    {"NV12_10LE32", {0, 10, 3, 32, 10, 8, FALSE}},
    {"NV16_10LE32", {0, 10, 3, 32, 10, 8, FALSE}},
    {"NV12_10LE40", {0, 10, 4, 40, 10, 8, FALSE}},
    {"NV16_10LE40", {0, 10, 4, 40, 10, 8, FALSE}},
    {"Y210", {6, 0, 1, 32, 10, 16, FALSE}},
    {"Y410", {10, 0, 1, 32, 10, 8, FALSE}},
    {"Y412_LE", {20, 0, 1, 64, 12, 16, FALSE}},
    {"Y412_BE", {20, 0, 1, 64, 12, 16, TRUE}},
    {"v216", {16, 0, 1, 32, 16, 16, FALSE}},
};

void
test_luma(TestLuma *luma, const GstVideoFormatInfo *info)
{
  for (guint i = 0; i < G_N_ELEMENTS(odd_formats); i++) {
    if (g_str_equal(odd_formats[i].name, GST_VIDEO_FORMAT_INFO_NAME(info))) {
      *luma = odd_formats[i].luma;
      return;
    }
  }
  luma->first = GST_VIDEO_FORMAT_INFO_POFFSET(info, 0) * 8 + info->shift[0];
  luma->apart = 0;
  luma->group = 1;
  luma->group_bits = (guint)GST_VIDEO_FORMAT_INFO_PSTRIDE(info, 0) * 8;
  luma->depth = GST_VIDEO_FORMAT_INFO_DEPTH(info, 0);
  luma->unit = luma->depth > 8 ? 16 : 8;
  luma->swapped = luma->depth > 8 && !GST_VIDEO_FORMAT_INFO_IS_LE(info);
  /* Not Check's, as a fuzzer is none of its tests. */
  g_assert_cmpuint(luma->group_bits, >=, luma->depth);
}

static gsize
find_bit(const TestLuma *luma, guint x)
{
  return luma->first + (gsize)(x / luma->group) * luma->group_bits +
         x % luma->group * luma->apart;
}

/* The byte of a row that has bits 8 * @byte on. Where words are swapped, the
 * bytes of each pair have changed places. */
static gsize
find_byte(const TestLuma *luma, gsize byte)
{
  return luma->swapped ? byte ^ 1 : byte;
}

guint
test_luma_get(const TestLuma *luma, const guint8 *row, guint x)
{
  gsize first = find_bit(luma, x), last = first + luma->depth - 1;
  guint bits = 0;

  for (gsize byte = first / 8; byte <= last / 8; byte++)
    bits |= (guint)row[find_byte(luma, byte)] << 8 * (byte - first / 8);
  return bits >> first % 8 & ((1u << luma->depth) - 1);
}

void
test_luma_set(const TestLuma *luma, guint8 *row, guint x, guint value)
{
  gsize first = find_bit(luma, x), last = first + luma->depth - 1;
  guint mask = ((1u << luma->depth) - 1) << first % 8;

  value = value << first % 8 & mask;
  for (gsize byte = first / 8; byte <= last / 8; byte++) {
    guint8 *at = &row[find_byte(luma, byte)];

    *at = (guint8)((*at & ~mask) | value);
    mask >>= 8;
    value >>= 8;
  }
}

gsize
test_luma_row_bytes(const TestLuma *luma, guint width)
{
  gsize last = find_bit(luma, width - 1) + luma->depth - 1;

  return (last / luma->unit + 1) * luma->unit / 8;
}
