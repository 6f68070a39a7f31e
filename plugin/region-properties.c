/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The properties of what is counted beside the whole frame. */

#include "gstgpuhistogram-private.h"

enum {
  PROP_ROI = GPU_HISTOGRAM_FIRST_REGION_PROPERTY,
  PROP_ROI_METAS,
  PROP_CROP_META,
  PROP_ZONES,
  PROP_ZONE_WEIGHTS,
  PROP_ROWS,
};

/* Called with the object lock. */
static void
set_weights(GstGpuHistogram *self, const GValue *array)
{
  guint n = gst_value_array_get_size(array);

  g_free(self->zone_weights);
  self->zone_weights = n > 0 ? g_new(gdouble, n) : NULL;
  self->settings.regions.n_weights = n;
  for (guint i = 0; i < n; i++)
    self->zone_weights[i] =
        g_value_get_double(gst_value_array_get_value(array, i));
}

/* Called with the object lock. */
static void
get_weights(GstGpuHistogram *self, GValue *array)
{
  for (guint i = 0; i < self->settings.regions.n_weights; i++) {
    GValue weight = G_VALUE_INIT;

    g_value_init(&weight, G_TYPE_DOUBLE);
    g_value_set_double(&weight, self->zone_weights[i]);
    gst_value_array_append_and_take_value(array, &weight);
  }
}

void
gst_gpu_histogram_set_region_property(GstGpuHistogram *self, guint id,
                                      const GValue *value)
{
  GpuHistogramRegionWishes *wishes = &self->settings.regions;

  GST_OBJECT_LOCK(self);
  switch (id) {
  case PROP_ROI:
    gpu_histogram_roi_parse(&wishes->roi, g_value_get_string(value));
    self->regions_version++;
    break;
  case PROP_ROI_METAS:
    wishes->roi_metas = g_value_get_boolean(value);
    break;
  case PROP_CROP_META:
    wishes->crop_meta = g_value_get_boolean(value);
    break;
  case PROP_ZONES:
    gpu_histogram_zones_parse(&wishes->zones, g_value_get_string(value));
    self->regions_version++;
    break;
  case PROP_ZONE_WEIGHTS:
    set_weights(self, value);
    self->regions_version++;
    break;
  case PROP_ROWS:
    self->settings.rows = g_value_get_boolean(value);
    break;
  }
  GST_OBJECT_UNLOCK(self);
}

void
gst_gpu_histogram_get_region_property(GstGpuHistogram *self, guint id,
                                      GValue *value)
{
  const GpuHistogramRegionWishes *wishes = &self->settings.regions;

  GST_OBJECT_LOCK(self);
  switch (id) {
  case PROP_ROI:
    g_value_set_string(value, wishes->roi.text);
    break;
  case PROP_ROI_METAS:
    g_value_set_boolean(value, wishes->roi_metas);
    break;
  case PROP_CROP_META:
    g_value_set_boolean(value, wishes->crop_meta);
    break;
  case PROP_ZONES:
    g_value_set_string(value, wishes->zones.text);
    break;
  case PROP_ZONE_WEIGHTS:
    get_weights(self, value);
    break;
  case PROP_ROWS:
    g_value_set_boolean(value, self->settings.rows);
    break;
  }
  GST_OBJECT_UNLOCK(self);
}

/* Those that a buffer brings along. */
static void
install_meta_properties(GObjectClass *klass, GParamFlags flags)
{
  g_object_class_install_property(
      klass, PROP_ROI_METAS,
      g_param_spec_boolean("roi-metas", "ROI metas",
                           "Count each GstVideoRegionOfInterestMeta of a "
                           "buffer, up to 64, beside the whole frame, as the "
                           "regions from 10000 on",
                           FALSE, flags));
  g_object_class_install_property(
      klass, PROP_CROP_META,
      g_param_spec_boolean("crop-meta", "Crop meta",
                           "Count what the GstVideoCropMeta of a buffer leaves "
                           "beside the whole frame, as region 2",
                           FALSE, flags));
}

static void
install_zone_properties(GObjectClass *klass, GParamFlags flags)
{
  g_object_class_install_property(
      klass, PROP_ZONES,
      g_param_spec_string("zones", "Zones",
                          "Count each zone of a grid, such as \"8x6\" (columns "
                          "x rows), beside the whole frame, as the regions "
                          "from 1000 on, row by row",
                          "", flags));
  g_object_class_install_property(
      klass, PROP_ZONE_WEIGHTS,
      gst_param_spec_array(
          "zone-weights", "Zone weights",
          "Weight of each zone, for the mean of their means that the "
          "messages of the whole frame then carry (weighted-mean)",
          g_param_spec_double("weight", "Weight", "Weight of a zone", 0.0,
                              G_MAXDOUBLE, 1.0,
                              G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
          flags));
}

void
gst_gpu_histogram_install_region_properties(GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property(
      klass, PROP_ROI,
      g_param_spec_string("roi", "Region of interest",
                          "Count a rectangle beside the whole frame, as region "
                          "1: \"x,y,width,height\" in pixels, or in per cent "
                          "as in \"25%,25%,50%,50%\"",
                          "", flags));
  install_meta_properties(klass, flags);
  install_zone_properties(klass, flags);
  g_object_class_install_property(
      klass, PROP_ROWS,
      g_param_spec_boolean("rows", "Rows",
                           "Attach the sum and mean of each row to the buffer, "
                           "as GstGpuHistogramRowsMeta, where attach-meta is "
                           "on",
                           FALSE, flags));
}
