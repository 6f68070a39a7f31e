/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "regions.h"

#include <gst/gpuhistogram/gstgpuhistogrammeta.h>
#include <math.h>
#include <string.h>

/* Counts of all regions of a frame, for each of up to 16 frames in flight. */
#define MOST_COUNTERS (1u << 22)

/* ---- What people write ---- */

/* Of @text as much as there is @room for; whether that is all of it. What is
 * kept is shown, so no character is cut in two. */
static gboolean
keep(gchar *kept, const gchar *text, gsize room)
{
  const gchar *end;

  if (g_strlcpy(kept, text, room) < room)
    return TRUE;
  g_utf8_validate(kept, -1, &end);
  kept[end - kept] = '\0';
  return FALSE;
}

/* One side; moves *@text behind it. */
static gboolean
parse_side(const gchar **text, gdouble *side, gboolean *percent)
{
  gchar *end;

  *side = g_ascii_strtod(*text, &end);
  if (end == *text || !isfinite(*side) || *side < 0.0 || *side > G_MAXINT)
    return FALSE;
  *percent = *end == '%';
  *text = *percent ? end + 1 : end;
  return *percent ? *side <= 100.0 : *side == floor(*side);
}

void
gpu_histogram_roi_parse(GpuHistogramRoi *roi, const gchar *text)
{
  const gchar *at = text;

  *roi = (GpuHistogramRoi){.valid = TRUE};
  if (!text || text[0] == '\0')
    return;
  roi->valid = keep(roi->text, text, sizeof(roi->text));
  for (guint i = 0; i < 4 && roi->valid; i++) {
    roi->valid = parse_side(&at, &roi->sides[i], &roi->percent[i]) &&
                 *at == (i < 3 ? ',' : '\0');
    at++;
  }
  if (roi->sides[2] <= 0.0 || roi->sides[3] <= 0.0)
    roi->valid = FALSE;
}

void
gpu_histogram_zones_parse(GpuHistogramZones *zones, const gchar *text)
{
  guint64 columns, rows;
  gchar *end;

  *zones = (GpuHistogramZones){.columns = 0};
  if (!text || text[0] == '\0')
    return;
  if (!keep(zones->text, text, sizeof(zones->text)) ||
      !g_ascii_isdigit(text[0]))
    return;
  columns = g_ascii_strtoull(text, &end, 10);
  if (*end != 'x' || !g_ascii_isdigit(end[1]))
    return;
  rows = g_ascii_strtoull(end + 1, &end, 10);
  if (*end != '\0' || columns == 0 || rows == 0 || columns > G_MAXUINT16 ||
      rows > G_MAXUINT16)
    return;
  zones->columns = (guint)columns;
  zones->rows = (guint)rows;
}

static guint
count_zones(const GpuHistogramRegionWishes *wishes)
{
  return wishes->zones.columns * wishes->zones.rows;
}

static gchar *
get_zones_fault(const GpuHistogramRegionWishes *wishes, guint bins)
{
  const GpuHistogramZones *zones = &wishes->zones;
  guint n = count_zones(wishes);

  if (zones->text[0] != '\0' && n == 0)
    return g_strdup_printf("zones=%s is no grid: write columns x rows, as in "
                           "\"8x6\".",
                           zones->text);
  if (n > GPU_HISTOGRAM_MAX_ZONES || (guint64)n * bins > MOST_COUNTERS)
    return g_strdup_printf(
        "zones=%s are more than the %u that can be counted "
        "with bins=%u.",
        zones->text, MIN(GPU_HISTOGRAM_MAX_ZONES, MOST_COUNTERS / bins), bins);
  if (wishes->n_weights > 0 && wishes->n_weights != n)
    return g_strdup_printf("zone-weights has %u values for %u zones.",
                           wishes->n_weights, n);
  return NULL;
}

gchar *
gpu_histogram_regions_get_fault(const GpuHistogramRegionWishes *wishes,
                                guint bins)
{
  if (!wishes->roi.valid)
    return g_strdup_printf("roi=%s is no rectangle: write "
                           "\"x,y,width,height\" in pixels, or in per cent as "
                           "in \"25%%,25%%,50%%,50%%\".",
                           wishes->roi.text);
  return get_zones_fault(wishes, bins);
}

gchar *
gpu_histogram_regions_leave_out_faults(GpuHistogramRegionWishes *wishes,
                                       guint bins)
{
  gchar *why = gpu_histogram_regions_get_fault(wishes, bins);
  gchar *zones = get_zones_fault(wishes, bins);

  if (!wishes->roi.valid)
    gpu_histogram_roi_parse(&wishes->roi, NULL);
  if (zones) {
    gpu_histogram_zones_parse(&wishes->zones, NULL);
    wishes->n_weights = 0;
  }
  g_free(zones);
  return why;
}

/* ---- What that means in pixels ---- */

/* Where a side lies in a frame that is @whole wide or high. */
static gdouble
to_pixels(const GpuHistogramRoi *roi, guint side, guint whole)
{
  return roi->percent[side] ? roi->sides[side] * whole / 100.0
                            : roi->sides[side];
}

/* From @start to @end, as much of it as lies in the frame; at least a pixel of
 * what does. */
static gboolean
clip(gdouble start, gdouble end, guint whole, guint32 *first, guint32 *length)
{
  gdouble from = MIN(floor(start + 0.5), whole - 1.0);
  gdouble to = MAX(floor(end + 0.5), from + 1.0);

  if (start >= whole)
    return FALSE;
  *first = (guint32)from;
  *length = (guint32)(MIN(to, whole) - from);
  return TRUE;
}

/* FALSE where nothing of it is in the frame. */
static gboolean
place_roi(const GpuHistogramRoi *roi, guint width, guint height, GhRect *rect)
{
  gdouble x = to_pixels(roi, 0, width), y = to_pixels(roi, 1, height);

  return clip(x, x + to_pixels(roi, 2, width), width, &rect->x, &rect->width) &&
         clip(y, y + to_pixels(roi, 3, height), height, &rect->y,
              &rect->height);
}

/* In the direction of side 0 or 1. Per cent are rounded, and so may reach out
 * by a fraction. */
static gboolean
leaves(const GpuHistogramRoi *roi, guint side, guint whole)
{
  gdouble start = to_pixels(roi, side, whole);

  return start >= whole ||
         start + to_pixels(roi, side + 2, whole) >= whole + 0.5;
}

static gboolean
fits_zones(const GpuHistogramZones *zones, guint width, guint height)
{
  return zones->columns <= width && zones->rows <= height;
}

gchar *
gpu_histogram_regions_get_misfit(const GpuHistogramRegionWishes *wishes,
                                 guint width, guint height)
{
  if (wishes->roi.text[0] != '\0' && wishes->roi.valid &&
      (leaves(&wishes->roi, 0, width) || leaves(&wishes->roi, 1, height)))
    return g_strdup_printf("roi=%s does not lie inside of a frame of %ux%u.",
                           wishes->roi.text, width, height);
  if (!fits_zones(&wishes->zones, width, height))
    return g_strdup_printf("zones=%s are more than a frame of %ux%u has "
                           "pixels.",
                           wishes->zones.text, width, height);
  return NULL;
}

/* ---- The regions ---- */

static GpuHistogramRegions *
new_regions(guint room)
{
  GpuHistogramRegions *self = g_new0(GpuHistogramRegions, 1);

  self->rects = g_new(GhRect, room);
  self->regions = g_new0(GpuHistogramRegion, room);
  /* Counted here, and not by GLib, so that ThreadSanitizer sees it. */
  self->references = 1;
  return self;
}

static void
add(GpuHistogramRegions *self, const GpuHistogramRegion *region,
    const GhRect *rect)
{
  self->rects[self->n] = *rect;
  self->regions[self->n] = *region;
  self->n++;
}

static void
add_zones(GpuHistogramRegions *self, const GpuHistogramZones *zones,
          guint width, guint height)
{
  self->first_zone = self->n;
  self->n_zones = zones->columns * zones->rows;
  for (guint z = 0; z < self->n_zones; z++) {
    guint64 column = z % zones->columns, row = z / zones->columns;
    const GpuHistogramRegion region = {GST_GPU_HISTOGRAM_REGION_ZONE + (gint)z,
                                       0, 0};
    GhRect rect = {(guint32)(column * width / zones->columns),
                   (guint32)(row * height / zones->rows), 0, 0};

    rect.width = (guint32)((column + 1) * width / zones->columns) - rect.x;
    rect.height = (guint32)((row + 1) * height / zones->rows) - rect.y;
    add(self, &region, &rect);
  }
}

GpuHistogramRegions *
gpu_histogram_regions_new(const GpuHistogramRegionWishes *wishes,
                          const gdouble *weights, guint width, guint height)
{
  const GpuHistogramRegion roi = {GST_GPU_HISTOGRAM_REGION_ROI, 0, 0};
  GpuHistogramRegions *self = new_regions(1 + count_zones(wishes));
  GhRect rect;

  if (wishes->roi.text[0] != '\0' && wishes->roi.valid &&
      place_roi(&wishes->roi, width, height, &rect))
    add(self, &roi, &rect);
  if (count_zones(wishes) > 0 && fits_zones(&wishes->zones, width, height)) {
    add_zones(self, &wishes->zones, width, height);
    if (weights)
      self->weights = g_memdup2(weights, self->n_zones * sizeof(*weights));
  }
  return self;
}

/* Adds what of it is in the frame. */
static void
add_clipped(GpuHistogramRegions *self, const GpuHistogramRegion *region,
            const GhRect *part, guint width, guint height)
{
  GhRect rect = *part;

  if (rect.x >= width || rect.y >= height)
    return;
  rect.width = MIN(rect.width, width - rect.x);
  rect.height = MIN(rect.height, height - rect.y);
  if (rect.width > 0 && rect.height > 0)
    add(self, region, &rect);
}

static void
add_roi_metas(GpuHistogramRegions *self, GstBuffer *buffer, guint width,
              guint height)
{
  gpointer state = NULL;
  GstMeta *meta;

  for (guint i = 0; i < GPU_HISTOGRAM_MAX_ROI_METAS; i++) {
    GstVideoRegionOfInterestMeta *roi;

    meta = gst_buffer_iterate_meta_filtered(
        buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    if (!meta)
      return;
    roi = (GstVideoRegionOfInterestMeta *)meta;
    add_clipped(
        self,
        &(GpuHistogramRegion){GST_GPU_HISTOGRAM_REGION_ROI_META + (gint)i,
                              roi->roi_type, roi->id},
        &(GhRect){roi->x, roi->y, roi->w, roi->h}, width, height);
  }
}

GpuHistogramRegions *
gpu_histogram_regions_with_metas(GpuHistogramRegions *base,
                                 const GpuHistogramRegionWishes *wishes,
                                 GstBuffer *buffer, guint width, guint height)
{
  const GpuHistogramRegion region = {GST_GPU_HISTOGRAM_REGION_CROP, 0, 0};
  GstVideoCropMeta *crop =
      wishes->crop_meta ? gst_buffer_get_video_crop_meta(buffer) : NULL;
  gboolean any =
      wishes->roi_metas &&
      gst_buffer_get_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  GpuHistogramRegions *self;

  if (!crop && !any)
    return gpu_histogram_regions_ref(base);
  self = new_regions(base->n + 1 + GPU_HISTOGRAM_MAX_ROI_METAS);
  for (guint i = 0; i < base->n; i++)
    add(self, &base->regions[i], &base->rects[i]);
  self->first_zone = base->first_zone;
  self->n_zones = base->n_zones;
  if (base->weights)
    self->weights =
        g_memdup2(base->weights, base->n_zones * sizeof(*base->weights));
  if (crop)
    add_clipped(self, &region,
                &(GhRect){crop->x, crop->y, crop->width, crop->height}, width,
                height);
  if (any)
    add_roi_metas(self, buffer, width, height);
  return self;
}

GpuHistogramRegions *
gpu_histogram_regions_ref(GpuHistogramRegions *self)
{
  g_atomic_int_inc(&self->references);
  return self;
}

void
gpu_histogram_regions_unref(GpuHistogramRegions *self)
{
  if (!self || !g_atomic_int_dec_and_test(&self->references))
    return;
  g_free(self->rects);
  g_free(self->regions);
  g_free(self->weights);
  g_free(self);
}

gdouble
gpu_histogram_regions_get_weighted_mean(const GpuHistogramRegions *self,
                                        const GhHistogram *histograms)
{
  gdouble sum = 0.0, weights = 0.0;

  for (guint z = 0; z < self->n_zones; z++) {
    const GhHistogram *zone = &histograms[self->first_zone + z];

    sum += self->weights[z] * (gdouble)zone->sum / (gdouble)zone->pixels;
    weights += self->weights[z];
  }
  return weights > 0.0 ? sum / weights : 0.0;
}
