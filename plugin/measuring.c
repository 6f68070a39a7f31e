/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is to be counted in a frame, and what is to come out of it: settled when
 * it comes in. */

#include "gstgpuhistogram-private.h"

/* A copy of what is wished, and of its weights, which are (transfer full)
 * (nullable), to make the regions of. */
static GpuHistogramRegionWishes
take_wishes(GstGpuHistogram *self, gdouble **weights)
{
  GpuHistogramRegionWishes wishes;

  GST_OBJECT_LOCK(self);
  wishes = self->settings.regions;
  *weights = self->zone_weights ? g_memdup2(self->zone_weights,
                                            wishes.n_weights * sizeof(gdouble))
                                : NULL;
  self->regions_made = self->regions_version;
  GST_OBJECT_UNLOCK(self);
  return wishes;
}

/* Once for the same wishes in frames of the same caps, so that there is one
 * warning of what does not fit. */
static void
make_regions(GstGpuHistogram *self)
{
  guint width = (guint)GST_VIDEO_INFO_WIDTH(&self->info);
  guint height = (guint)GST_VIDEO_INFO_HEIGHT(&self->info);
  gdouble *weights;
  GpuHistogramRegionWishes wishes = take_wishes(self, &weights);
  /* There is one only after a change while frames are running. */
  gchar *why = gpu_histogram_regions_leave_out_faults(&wishes, self->bins);

  if (!why)
    why = gpu_histogram_regions_get_misfit(&wishes, width, height);
  if (why)
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("%s What does not fit is not counted.", why), (NULL));
  g_free(why);
  gst_gpu_histogram_forget_regions(self);
  self->regions = gpu_histogram_regions_new(&wishes, weights, width, height);
  g_free(weights);
}

gboolean
gst_gpu_histogram_fit_regions(GstGpuHistogram *self, guint width, guint height,
                              gchar **why)
{
  GpuHistogramRegionWishes wishes;

  GST_OBJECT_LOCK(self);
  wishes = self->settings.regions;
  GST_OBJECT_UNLOCK(self);
  *why = gpu_histogram_regions_get_misfit(&wishes, width, height);
  if (*why && !self->regions_fitted)
    return FALSE;
  g_clear_pointer(why, g_free);
  self->regions_fitted = TRUE;
  gst_gpu_histogram_forget_regions(self);
  return TRUE;
}

void
gst_gpu_histogram_forget_regions(GstGpuHistogram *self)
{
  g_clear_pointer(&self->regions, gpu_histogram_regions_unref);
}

static GpuHistogramRegions *
get_regions(GstGpuHistogram *self, GpuHistogramFrame *frame,
            const GpuHistogramRegionWishes *wishes, guint version)
{
  if (!self->regions || self->regions_made != version)
    make_regions(self);
  if (!wishes->roi_metas && !wishes->crop_meta)
    return self->regions->n > 0 ? gpu_histogram_regions_ref(self->regions)
                                : NULL;
  return gpu_histogram_regions_with_metas(
      self->regions, wishes, frame->buffer,
      (guint)GST_VIDEO_INFO_WIDTH(&self->info),
      (guint)GST_VIDEO_INFO_HEIGHT(&self->info));
}

void
gst_gpu_histogram_read_wishes(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  GpuHistogramRegionWishes wishes;
  guint version;

  GST_OBJECT_LOCK(self);
  frame->attach_meta = self->settings.attach_meta;
  frame->post_message = self->settings.post_messages;
  frame->rows = self->settings.rows && frame->attach_meta;
  wishes = self->settings.regions;
  version = self->regions_version;
  GST_OBJECT_UNLOCK(self);
  if (frame->attach_meta || frame->post_message)
    frame->regions = get_regions(self, frame, &wishes, version);
}
