/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-gpuhistogram
 * @title: gpuhistogram
 *
 * Counts the grey levels of every frame, exactly: a histogram of the luma and
 * the sum of all samples, attached to the buffer as #GstGpuHistogramMeta and
 * posted as an element message. The frame itself passes on untouched and
 * uncopied, and as soon as its own counting is done. To carry the meta, a
 * buffer that others hold too becomes another buffer over the same memory; only
 * memory that must not be shared (%GST_MEMORY_FLAG_NO_SHARE) is copied for
 * that.
 *
 * The formats are those whose luma or grey samples are each in a byte or in a
 * 16-bit word, planar or packed, and some that pack 10 bits. A sample is as
 * many bits as its format says, or as #GstGpuHistogram:significant-bits, and
 * the grey levels are 0 to 2^bits - 1, whatever #GstGpuHistogram:bins is.
 * Others, such as RGB, need videoconvert in front; video/x-bayer needs
 * bayer2rgb, too.
 *
 * An NVIDIA GPU counts where there is one; elsewhere, or when the GPU fails
 * while frames are running, the CPU does. Both give the same numbers. The GPU
 * reads frames from where they are if they come in the pool that the element
 * proposes, in memory that comes again and again, or in `memory:CUDAMemory`;
 * other frames are copied on their way.
 *
 * Buffers that are too short for their caps pass on without a meta, after a
 * warning on the bus. Frames flagged as gap or corrupted are counted as long
 * as they are whole.
 *
 * The whole frame is counted, as region 0, and beside it the rectangle
 * #GstGpuHistogram:roi, the grid #GstGpuHistogram:zones, each
 * #GstVideoRegionOfInterestMeta with #GstGpuHistogram:roi-metas, and what a
 * #GstVideoCropMeta leaves with #GstGpuHistogram:crop-meta. Each of these has
 * a #GstGpuHistogramMeta and a message of its own, behind those of the frame.
 * #GstGpuHistogram:rows attaches a #GstGpuHistogramRowsMeta.
 *
 * The message is called `gpuhistogram` and has these fields:
 *
 * * #guint64 `timestamp`: the buffer's timestamp, in nanoseconds
 * * #guint64 `stream-time`: its stream time, in nanoseconds
 * * #guint64 `running-time`: its running time, in nanoseconds
 * * #guint64 `duration`: its duration, in nanoseconds
 * * #guint64 `frame`: number of the frame since the element started, from 0
 * * #guint64 `width`, #guint64 `height`: size of the frame, in pixels
 * * #guint64 `pixels`: number of samples counted
 * * #gint `region`: what was counted, %GST_GPU_HISTOGRAM_REGION_FRAME or
 * another region id of #GstGpuHistogramMeta
 * * #guint64 `region-x`, `region-y`, `region-width`, `region-height`: its
 *   rectangle, in pixels
 * * #guint64 `sum`: sum of all samples, in grey levels
 * * #GstValueArray of #guint64 `histogram`: samples in each bin; absent with
 *   more than 4096 bins, which the meta has all the same
 * * #gboolean `histogram-omitted`: %TRUE where `histogram` is absent for that
 *   reason, else absent
 * * #gdouble `weighted-mean`: mean of the zones' means, each as often as its
 *   #GstGpuHistogram:zone-weights says, in grey levels; of the frame, where
 * there are weights
 * * #gchararray `roi-type`, #gint `roi-id`: of a #GstVideoRegionOfInterestMeta
 *
 * and those of these that #GstGpuHistogram:statistics asks for, by default the
 * first three:
 *
 * * #gdouble `mean`: mean of all samples, in grey levels
 * * #guint `min`, #guint `max`: lowest and highest grey level; with fewer bins
 *   than levels, the ends of the lowest and of the highest bin in use
 * * #gdouble `variance`: population variance, in grey levels squared
 * * #gdouble `standard-deviation`: its square root, in grey levels
 * * #guint `median`: lower median, a grey level
 * * #GstValueArray of #guint `percentiles`: grey levels, in the order of
 *   #GstGpuHistogram:percentiles
 * * #gdouble `interpercentile-mean`: mean of the samples from the least to the
 *   greatest of #GstGpuHistogram:percentiles, in grey levels; absent where that
 *   is empty
 * * #gdouble `clipped-dark`, #gdouble `clipped-bright`: share, 0 to 1, of the
 *   samples in the lowest and in the highest bin
 * * #gdouble `entropy`: entropy of the histogram, in bits a sample
 *
 * The functions of #GstGpuHistogramMeta define these figures. Those in grey
 * levels whose type is #guint are the lowest level of a bin, but `max` is the
 * highest of one. A time that is not known is %GST_CLOCK_TIME_NONE.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! \
 *     gpuhistogram ! fakesink
 * ]| Prints the histogram of each frame.
 *
 * Since: 0.1
 */

#include "gstgpuhistogram-private.h"

GST_DEBUG_CATEGORY(gst_gpu_histogram_debug);

#define gst_gpu_histogram_parent_class parent_class
G_DEFINE_TYPE(GstGpuHistogram, gst_gpu_histogram, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(gpuhistogram, "gpuhistogram", GST_RANK_NONE,
                            GST_TYPE_GPU_HISTOGRAM)

static gboolean
check_regions(GstGpuHistogram *self, const GpuHistogramSettings *settings)
{
  gchar *fault =
      gpu_histogram_regions_get_fault(&settings->regions, settings->bins);

  if (!fault)
    return TRUE;
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", fault), (NULL));
  g_free(fault);
  return FALSE;
}

static gboolean
check_settings(GstGpuHistogram *self, const GpuHistogramSettings *settings)
{
  guint bins = settings->bins, bits = settings->significant_bits;

  if ((bins & (bins - 1)) != 0) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                      ("bins=%u is not a power of two from 2 to %u.", bins,
                       GPU_HISTOGRAM_MAX_BINS),
                      (NULL));
    return FALSE;
  }
  if (bits > 0 && bins > 1u << bits) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                      ("bins=%u is more than the %u grey levels of "
                       "significant-bits=%u: set it to %u or less.",
                       bins, 1u << bits, bits, 1u << bits),
                      (NULL));
    return FALSE;
  }
  return TRUE;
}

/* Nothing streams. */
static void
release(GstGpuHistogram *self)
{
  gpu_histogram_flight_drop(&self->flight);
  gst_gpu_histogram_counting_stop(self);
  gst_video_info_init(&self->info);
  gst_gpu_histogram_forget_regions(self);
  GST_OBJECT_LOCK(self);
  self->started = FALSE;
  self->frame_duration = 0;
  GST_OBJECT_UNLOCK(self);
}

static gboolean
stop(GstBaseTransform *trans)
{
  /* A flush-stop during deactivation may have started the task again. */
  gst_pad_stop_task(GST_BASE_TRANSFORM_SRC_PAD(trans));
  release(GST_GPU_HISTOGRAM(trans));
  return TRUE;
}

static gboolean
start(GstBaseTransform *trans)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  GpuHistogramSettings settings;

  GST_OBJECT_LOCK(self);
  self->started = TRUE;
  settings = self->settings;
  self->stats.frames = 0;
  self->stats.messages_dropped = 0;
  self->stats.bytes_uploaded = 0;
  self->stats.bytes_copied = 0;
  self->stats.device_time = 0;
  GST_OBJECT_UNLOCK(self);
  self->n_frames = 0;
  self->discont = FALSE;
  self->faulty = FALSE;
  self->refused = FALSE;
  self->regions_fitted = FALSE;
  self->last_posted = GST_CLOCK_TIME_NONE;
  gpu_histogram_flight_set_depth(&self->flight, settings.async_depth);
  if (check_settings(self, &settings) && check_regions(self, &settings) &&
      gst_gpu_histogram_counting_start(self, &settings))
    return TRUE;
  /* GstBaseTransform does not stop what did not start. The task, which waits
   * for frames, ends with the pad's activation. */
  release(self);
  return FALSE;
}

static void
finalize(GObject *object)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(object);

  gpu_histogram_flight_clear(&self->flight);
  gst_gpu_histogram_counting_stop(self);
  gst_gpu_histogram_forget_regions(self);
  g_free(self->zone_weights);
  g_free(self->stats.device);
  g_free(self->stats.reason);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void
gst_gpu_histogram_init(GstGpuHistogram *self)
{
  self->settings = gpu_histogram_default_settings;
  self->stats.engine = "none";
  self->stats.device = g_strdup("");
  self->stats.reason = g_strdup("");
  gst_gpu_histogram_stream_init(self);
  gst_gpu_histogram_watch_caps(self);
}

static void
add_pad_templates(GstElementClass *klass)
{
  GstCaps *caps = gpu_histogram_luma_caps();

  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

static void
gst_gpu_histogram_class_init(GstGpuHistogramClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS(klass);

  GST_DEBUG_CATEGORY_INIT(gst_gpu_histogram_debug, "gpuhistogram", 0,
                          "Histogram of grey levels");
  object_class->finalize = finalize;
  gst_gpu_histogram_install_properties(object_class);

  gst_element_class_set_static_metadata(
      element_class, "GPU histogram", "Filter/Analyzer/Video",
      "Counts the grey levels of every frame, exactly, on an NVIDIA GPU or on "
      "the CPU; gives the histogram and the sum as a meta on the buffer and as "
      "an element message",
      "The gpuhistogram authors");
  add_pad_templates(element_class);
  gst_gpu_histogram_context_class_init(element_class);
  transform_class->start = start;
  transform_class->stop = stop;
  transform_class->set_caps = gst_gpu_histogram_set_caps;
  gst_gpu_histogram_stream_class_init(transform_class);
}
