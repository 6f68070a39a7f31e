/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-regions.h"

#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>
#include <string.h>

/* Check notes each condition that it is asked to look at, which would take
 * most of the time in loops over samples or bins; there only a failure is
 * told. */

/* ---- Samples ---- */

void
test_samples_read(TestSamples *samples, GstBuffer *buffer,
                  const GstVideoInfo *info)
{
  GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  gsize offset = video != NULL ? video->offset[0] : info->offset[0];
  gsize stride = (gsize)(video != NULL ? video->stride[0] : info->stride[0]);
  guint width = (guint)info->width, height = (guint)info->height;
  guint8 *row;
  gsize bytes;
  TestLuma luma;

  test_luma(&luma, info->finfo);
  bytes = test_luma_row_bytes(&luma, width);
  row = g_malloc(bytes);
  *samples = (TestSamples){GST_VIDEO_INFO_FORMAT(info), width, height,
                           luma.depth, g_new(guint16, (gsize)width * height)};
  for (guint y = 0; y < height; y++) {
    fail_unless_equals_int64(
        gst_buffer_extract(buffer, offset + y * stride, row, bytes), bytes);
    for (guint x = 0; x < width; x++)
      samples->levels[(gsize)y * width + x] =
          (guint16)test_luma_get(&luma, row, x);
  }
  g_free(row);
}

void
test_samples_clear(TestSamples *samples)
{
  g_clear_pointer(&samples->levels, g_free);
}

static guint
any_level(guint x, guint y, gpointer random)
{
  return g_rand_int(random) & 0xFFFF;
}

GstBuffer *
test_noise_frame(const GstVideoInfo *info, const TestLayout *layout,
                 GRand *random)
{
  return test_deep_frame_new(info, layout, any_level, random);
}

/* ---- Metas ---- */

static void
check_inside(const TestSamples *samples, const GstVideoRectangle *part)
{
  fail_unless(part->x >= 0 && part->y >= 0 && part->w > 0 && part->h > 0);
  fail_unless((guint)(part->x + part->w) <= samples->width);
  fail_unless((guint)(part->y + part->h) <= samples->height);
}

/* Returns the sum; @bins are zero at first. */
static guint64
count_part(const TestSamples *samples, const GstVideoRectangle *part,
           guint64 *bins, guint n_bins)
{
  guint each = (1u << samples->depth) / n_bins;
  guint64 sum = 0;

  for (gint y = part->y; y < part->y + part->h; y++) {
    for (gint x = part->x; x < part->x + part->w; x++) {
      guint level = samples->levels[(gsize)y * samples->width + (gsize)x];

      bins[level / each]++;
      sum += level;
    }
  }
  return sum;
}

void
test_check_part(const TestSamples *samples, const GstGpuHistogramMeta *meta,
                guint n_bins)
{
  const GstVideoRectangle *part = &meta->rectangle;
  guint64 *bins = g_new0(guint64, n_bins);

  check_inside(samples, part);
  fail_unless_equals_int(meta->format, samples->format);
  fail_unless_equals_int(meta->depth, samples->depth);
  fail_unless_equals_int(meta->width, samples->width);
  fail_unless_equals_int(meta->height, samples->height);
  fail_unless_equals_uint64(meta->pixels, (guint64)part->w * (guint64)part->h);
  fail_unless_equals_uint64(meta->sum, count_part(samples, part, bins, n_bins));
  fail_unless_equals_int(meta->n_bins, n_bins);
  for (guint b = 0; b < n_bins; b++)
    if (meta->bins[b] != bins[b])
      fail("region %d: bin %u is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT,
           meta->region_id, b, meta->bins[b], bins[b]);
  g_free(bins);
}

static const GstGpuHistogramMeta *
next_meta(GstBuffer *buffer, gpointer *state)
{
  return (const GstGpuHistogramMeta *)gst_buffer_iterate_meta_filtered(
      buffer, state, GST_GPU_HISTOGRAM_META_API_TYPE);
}

static void
check_place(const GstGpuHistogramMeta *meta, const TestRegion *region)
{
  const GstVideoRectangle *part = &region->part;

  fail_unless(meta != NULL, "region %d is missing", region->id);
  fail_unless_equals_int(meta->region_id, region->id);
  fail_unless(memcmp(&meta->rectangle, part, sizeof(*part)) == 0,
              "region %d is %d,%d,%d,%d and not %d,%d,%d,%d", region->id,
              meta->rectangle.x, meta->rectangle.y, meta->rectangle.w,
              meta->rectangle.h, part->x, part->y, part->w, part->h);
}

void
test_check_regions(GstBuffer *buffer, const GstVideoInfo *info, guint n_bins,
                   const TestRegion *regions, guint n)
{
  const TestRegion whole = {0, {0, 0, info->width, info->height}};
  const GstGpuHistogramMeta *meta;
  TestSamples samples;
  gpointer state = NULL;

  test_samples_read(&samples, buffer, info);
  for (guint i = 0; i <= n; i++) {
    meta = next_meta(buffer, &state);
    check_place(meta, i == 0 ? &whole : &regions[i - 1]);
    test_check_part(&samples, meta, n_bins);
  }
  meta = next_meta(buffer, &state);
  fail_unless(meta == NULL, "region %d is too many",
              meta ? meta->region_id : 0);
  test_samples_clear(&samples);
}

guint
test_check_any_regions(GstBuffer *buffer, const GstVideoInfo *info,
                       guint n_bins)
{
  const TestRegion whole = {0, {0, 0, info->width, info->height}};
  const GstGpuHistogramMeta *meta;
  TestSamples samples;
  gpointer state = NULL;
  guint n = 0;

  test_samples_read(&samples, buffer, info);
  while ((meta = next_meta(buffer, &state))) {
    if (n++ == 0)
      check_place(meta, &whole);
    test_check_part(&samples, meta, n_bins);
  }
  fail_unless(n > 0, "the frame has no meta");
  test_samples_clear(&samples);
  return n - 1;
}

/* ---- Zones ---- */

/* Takes what the zone has off the whole, and the place off what is free. */
static void
take_zone(const GstGpuHistogramMeta *zone, guint8 *is_free, guint64 *bins,
          guint64 *sum)
{
  const GstVideoRectangle *part = &zone->rectangle;

  for (gint y = part->y; y < part->y + part->h; y++) {
    for (gint x = part->x; x < part->x + part->w; x++) {
      guint8 *place = &is_free[(gsize)y * zone->width + (gsize)x];

      if (!*place)
        fail("%d,%d is in two zones", x, y);
      *place = FALSE;
    }
  }
  for (guint b = 0; b < zone->n_bins; b++)
    bins[b] -= zone->bins[b];
  *sum -= zone->sum;
}

/* Zones of a row begin at the same height, and those of a column at the same
 * place of a row; none is larger than another by more than a pixel. */
static void
check_grid(GstBuffer *buffer, const GstVideoInfo *info, guint columns,
           guint rows)
{
  for (guint z = 0; z < columns * rows; z++) {
    guint first_of_column = z % columns, first_of_row = z / columns * columns;
    const GstVideoRectangle *part =
        &gst_buffer_get_gpu_histogram_meta_region(buffer, 1000 + (gint)z)
             ->rectangle;
    gint x = gst_buffer_get_gpu_histogram_meta_region(
                 buffer, 1000 + (gint)first_of_column)
                 ->rectangle.x;
    gint y = gst_buffer_get_gpu_histogram_meta_region(buffer,
                                                      1000 + (gint)first_of_row)
                 ->rectangle.y;

    fail_unless_equals_int(part->x, x);
    fail_unless_equals_int(part->y, y);
    fail_unless(part->w - info->width / (gint)columns <= 1 &&
                part->w >= info->width / (gint)columns);
    fail_unless(part->h - info->height / (gint)rows <= 1 &&
                part->h >= info->height / (gint)rows);
  }
}

void
test_check_zones(GstBuffer *buffer, const GstVideoInfo *info, guint n_bins,
                 guint columns, guint rows)
{
  const GstGpuHistogramMeta *whole = gst_buffer_get_gpu_histogram_meta(buffer);
  gsize pixels = (gsize)info->width * (gsize)info->height;
  guint8 *is_free = g_malloc(pixels);
  guint64 *bins, sum;
  gpointer state = NULL;

  memset(is_free, TRUE, pixels);
  fail_unless_equals_int(test_check_any_regions(buffer, info, n_bins),
                         columns * rows);
  bins = g_memdup2(whole->bins, n_bins * sizeof(*bins));
  sum = whole->sum;
  next_meta(buffer, &state);
  for (guint z = 0; z < columns * rows; z++) {
    const GstGpuHistogramMeta *zone = next_meta(buffer, &state);

    fail_unless_equals_int(zone->region_id, 1000 + (gint)z);
    take_zone(zone, is_free, bins, &sum);
  }
  check_grid(buffer, info, columns, rows);
  fail_unless(memchr(is_free, TRUE, pixels) == NULL);
  for (guint b = 0; b < n_bins; b++)
    if (bins[b] != 0)
      fail("the zones' bins %u do not add up to the whole's", b);
  fail_unless_equals_uint64(sum, 0);
  g_free(bins);
  g_free(is_free);
}

/* ---- Rows ---- */

void
test_check_rows(GstBuffer *buffer, const GstVideoInfo *info)
{
  GstGpuHistogramRowsMeta *rows =
      gst_buffer_get_gpu_histogram_rows_meta(buffer);
  GstGpuHistogramMeta *whole = gst_buffer_get_gpu_histogram_meta(buffer);
  TestSamples samples;

  fail_unless(rows != NULL, "the rows were not measured");
  test_samples_read(&samples, buffer, info);
  fail_unless_equals_uint64(rows->frame, whole->frame);
  fail_unless_equals_int(rows->format, samples.format);
  fail_unless_equals_int(rows->depth, samples.depth);
  fail_unless_equals_int(rows->width, samples.width);
  fail_unless_equals_int(rows->height, samples.height);
  fail_unless_equals_int(rows->n_rows, samples.height);
  for (guint y = 0; y < samples.height; y++) {
    guint64 sum = 0;

    for (guint x = 0; x < samples.width; x++)
      sum += samples.levels[(gsize)y * samples.width + x];
    fail_unless_equals_uint64(rows->sums[y], sum);
    fail_unless_equals_float(gst_gpu_histogram_rows_meta_get_mean(rows, y),
                             (gdouble)sum / samples.width);
  }
  test_samples_clear(&samples);
}

/* ---- What comes out ---- */

GstBuffer *
test_fixture_pass(TestFixture *fixture, GstBuffer *buffer)
{
  GstMiniObject *object;

  test_fixture_push(fixture, buffer);
  while (object = test_tap_pop(fixture->tap), !GST_IS_BUFFER(object))
    gst_mini_object_unref(object);
  return GST_BUFFER(object);
}

static void
check_message_bins(GstMessage *message, const GstGpuHistogramMeta *meta)
{
  const GstStructure *structure = gst_message_get_structure(message);
  const GValue *array = gst_structure_get_value(structure, "histogram");

  if (meta->n_bins > 4096) {
    fail_unless(array == NULL);
    return;
  }
  fail_unless(array != NULL && GST_VALUE_HOLDS_ARRAY(array));
  fail_unless_equals_int(gst_value_array_get_size(array), meta->n_bins);
  for (guint b = 0; b < meta->n_bins; b++)
    fail_unless_equals_uint64(
        g_value_get_uint64(gst_value_array_get_value(array, b)), meta->bins[b]);
}

void
test_check_region_message(GstMessage *message, const GstGpuHistogramMeta *meta)
{
  const GstVideoRectangle *part = &meta->rectangle;
  gdouble mean;
  gint id;

  fail_unless(gst_structure_get(gst_message_get_structure(message), "region",
                                G_TYPE_INT, &id, "mean", G_TYPE_DOUBLE, &mean,
                                NULL));
  fail_unless_equals_int(id, meta->region_id);
  fail_unless_equals_uint64(test_message_uint64(message, "frame"), meta->frame);
  fail_unless_equals_uint64(test_message_uint64(message, "width"), meta->width);
  fail_unless_equals_uint64(test_message_uint64(message, "height"),
                            meta->height);
  fail_unless_equals_uint64(test_message_uint64(message, "region-x"), part->x);
  fail_unless_equals_uint64(test_message_uint64(message, "region-y"), part->y);
  fail_unless_equals_uint64(test_message_uint64(message, "region-width"),
                            part->w);
  fail_unless_equals_uint64(test_message_uint64(message, "region-height"),
                            part->h);
  fail_unless_equals_uint64(test_message_uint64(message, "pixels"),
                            meta->pixels);
  fail_unless_equals_uint64(test_message_uint64(message, "sum"), meta->sum);
  fail_unless_equals_float(mean, (gdouble)meta->sum / (gdouble)meta->pixels);
  check_message_bins(message, meta);
}
