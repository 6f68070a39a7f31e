/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which caps are counted, and what is said of those that are not. */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

static GstClockTime
frame_duration(const GstVideoInfo *info)
{
  /* Where the rate varies this holds the highest one that is possible. */
  if (GST_VIDEO_INFO_FLAG_IS_SET(info, GST_VIDEO_FLAG_VARIABLE_FPS) ||
      GST_VIDEO_INFO_FPS_N(info) <= 0)
    return 0;
  return gst_util_uint64_scale(GST_SECOND, GST_VIDEO_INFO_FPS_D(info),
                               GST_VIDEO_INFO_FPS_N(info));
}

/* Says once why nothing can be counted, as upstream may try again. Takes
 * @message and @details. */
static void
refuse(GstGpuHistogram *self, gchar *message, gchar *details)
{
  if (self->refused) {
    g_free(message);
    g_free(details);
    return;
  }
  self->refused = TRUE;
  gst_element_message_full(GST_ELEMENT(self), GST_MESSAGE_ERROR,
                           GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, message,
                           details, __FILE__, G_STRFUNC, __LINE__);
}

/* Leaves only the bits of a sample that are significant. */
static gboolean
narrow_samples(GstGpuHistogram *self, const GstVideoInfo *info,
               GhFormat *samples)
{
  guint bits = self->significant_bits;

  if (bits == 0)
    return TRUE;
  if (samples->packing != GH_WORDS_LE && samples->packing != GH_WORDS_BE) {
    refuse(self,
           g_strdup_printf("significant-bits=%u is for samples in 16-bit "
                           "words, which %s does not have: set it to 0.",
                           bits, GST_VIDEO_INFO_NAME(info)),
           NULL);
    return FALSE;
  }
  if (bits > samples->depth) {
    refuse(self,
           g_strdup_printf("significant-bits=%u is more than the %u bits of "
                           "%s: set it to %u or less.",
                           bits, samples->depth, GST_VIDEO_INFO_NAME(info),
                           samples->depth),
           NULL);
    return FALSE;
  }
  samples->depth = bits;
  return TRUE;
}

static gboolean
fit_bins(GstGpuHistogram *self, const GstVideoInfo *info,
         const GhFormat *samples)
{
  guint levels = 1u << samples->depth;

  if (self->bins <= levels)
    return TRUE;
  refuse(self,
         g_strdup_printf("bins=%u is more than the %u grey levels of %s: "
                         "set it to %u or less.",
                         self->bins, levels, GST_VIDEO_INFO_NAME(info), levels),
         NULL);
  return FALSE;
}

static gboolean
can_count(GstGpuHistogram *self, const GstVideoInfo *info,
          GpuHistogramLumaFormat *format)
{
  gchar *why;

  /* The pad's template lets no other format through. */
  g_return_val_if_fail(gpu_histogram_luma_find(format, info->finfo), FALSE);
  if (!narrow_samples(self, info, &format->samples) ||
      !fit_bins(self, info, &format->samples))
    return FALSE;
  if (gst_gpu_histogram_fit_regions(self, (guint)GST_VIDEO_INFO_WIDTH(info),
                                    (guint)GST_VIDEO_INFO_HEIGHT(info), &why))
    return TRUE;
  refuse(self, why, NULL);
  return FALSE;
}

gboolean
gst_gpu_histogram_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  GstClockTime duration;
  GpuHistogramLumaFormat format;
  GstVideoInfo info;
  gboolean changed;

  gpu_histogram_flight_drain(&self->flight);
  gst_video_info_init(&self->info);
  /* It also refuses frames of 4 GiB or more, so that the number of samples fits
   * the 32 bits of the engines. */
  if (!gst_video_info_from_caps(&info, in)) {
    refuse(self, g_strdup("The caps describe no frame that can be handled."),
           gst_caps_to_string(in));
    return FALSE;
  }
  if (!can_count(self, &info, &format))
    return FALSE;
  if (gpu_histogram_cuda_has_feature(in))
    gst_gpu_histogram_join_context(self);
  self->info = info;
  self->format = format;
  self->faulty = FALSE;
  self->refused = FALSE;
  duration = frame_duration(&info);
  GST_OBJECT_LOCK(self);
  changed = self->frame_duration != duration;
  self->frame_duration = duration;
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_element_post_message(GST_ELEMENT(self),
                             gst_message_new_latency(GST_OBJECT(self)));
  return TRUE;
}

/* (nullable): the feature that says where the frames are, unless that is system
 * memory. */
static const gchar *
find_foreign_memory(const GstCapsFeatures *features)
{
  for (guint i = 0; i < gst_caps_features_get_size(features); i++) {
    const gchar *feature = gst_caps_features_get_nth(features, i);

    if (g_str_has_prefix(feature, "memory:") &&
        !g_str_equal(feature, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
      return feature;
  }
  return NULL;
}

/* What turns frames of such caps into some that can be counted. */
static const gchar *
find_converter(const GstStructure *structure, gboolean cuda)
{
  if (gst_structure_has_name(structure, "video/x-bayer"))
    return "bayer2rgb ! videoconvert";
  if (!gst_structure_has_name(structure, "video/x-raw"))
    return "a decoder, such as decodebin,";
  return cuda ? "cudaconvert" : "videoconvert";
}

/* (transfer full): what is said of frames whose samples are no luma, or none
 * that can be reached. */
static gchar *
explain_format(const GstStructure *structure, gboolean cuda)
{
  const gchar *format = gst_structure_get_string(structure, "format");
  const gchar *media = gst_structure_get_name(structure);
  gboolean raw = gst_structure_has_name(structure, "video/x-raw");

  return g_strdup_printf(
      "%s cannot be counted: only grey and luma samples can, each in a byte or "
      "a 16-bit word. Put %s in front of gpuhistogram.",
      raw && format ? format : media, find_converter(structure, cuda));
}

/* (transfer full): why @caps cannot be counted, and the cure. */
static gchar *
explain_caps(GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  GstCapsFeatures *features = gst_caps_get_features(caps, 0);
  const gchar *memory = find_foreign_memory(features);
  gboolean cuda = gpu_histogram_cuda_has_feature(caps);
  gchar *text, *names;

  if (memory && !cuda)
    return g_strdup_printf(
        "Frames in %s cannot be counted: they have to be in system memory. "
        "Download them in front of gpuhistogram.",
        memory);
  if ((cuda && gst_caps_features_get_size(features) == 1) ||
      gst_caps_features_is_equal(features,
                                 GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
    return explain_format(structure, cuda);
  names = gst_caps_features_to_string(features);
  text = g_strdup_printf("Frames with %s cannot be counted: convert them to "
                         "plain ones in front of gpuhistogram.",
                         names);
  g_free(names);
  return text;
}

/* The pad refuses caps that do not fit its template without a word that
 * people would understand; this says it before. Caps that another pad refuses
 * for it, such as a bin's ghost pad, do not come here. */
static GstPadProbeReturn
explain_refused_caps(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstGpuHistogram *self = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  GstCaps *caps, *accepted;

  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps(event, &caps);
  accepted = gst_pad_get_pad_template_caps(pad);
  if (!gst_caps_can_intersect(caps, accepted))
    refuse(self, explain_caps(caps), gst_caps_to_string(caps));
  gst_caps_unref(accepted);
  return GST_PAD_PROBE_OK;
}

void
gst_gpu_histogram_watch_caps(GstGpuHistogram *self)
{
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(self),
                    GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, explain_refused_caps,
                    self, NULL);
}
