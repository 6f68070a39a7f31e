/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The properties: what they mean, when they may change, where they are kept. */

#include "gstgpuhistogram-private.h"

#define DEFAULT_ENGINE GST_GPU_HISTOGRAM_ENGINE_AUTO
#define DEFAULT_CUDA_DEVICE_ID (-1)
#define DEFAULT_ALGORITHM GST_GPU_HISTOGRAM_ALGORITHM_AUTO
#define DEFAULT_N_THREADS 1
#define DEFAULT_ASYNC_DEPTH 2
#define DEFAULT_BINS 256
#define DEFAULT_SIGNIFICANT_BITS 0
#define DEFAULT_ATTACH_META TRUE
#define DEFAULT_POST_MESSAGES TRUE
#define DEFAULT_INTERVAL 0
#define DEFAULT_MAX_PENDING_MESSAGES 256
#define DEFAULT_VERIFY FALSE
#define DEFAULT_REGISTER_MEMORY TRUE
#define DEFAULT_STATISTICS                                                \
  (GST_GPU_HISTOGRAM_STATISTICS_MEAN | GST_GPU_HISTOGRAM_STATISTICS_MIN | \
   GST_GPU_HISTOGRAM_STATISTICS_MAX)

const GpuHistogramSettings gpu_histogram_default_settings = {
    .engine = DEFAULT_ENGINE,
    .cuda_device_id = DEFAULT_CUDA_DEVICE_ID,
    .algorithm = DEFAULT_ALGORITHM,
    .n_threads = DEFAULT_N_THREADS,
    .async_depth = DEFAULT_ASYNC_DEPTH,
    .bins = DEFAULT_BINS,
    .significant_bits = DEFAULT_SIGNIFICANT_BITS,
    .attach_meta = DEFAULT_ATTACH_META,
    .post_messages = DEFAULT_POST_MESSAGES,
    .interval = DEFAULT_INTERVAL,
    .max_pending_messages = DEFAULT_MAX_PENDING_MESSAGES,
    .verify = DEFAULT_VERIFY,
    .register_memory = DEFAULT_REGISTER_MEMORY,
    .figures = {.wanted = DEFAULT_STATISTICS,
                .n_percentiles = 2,
                .percentiles = {5.0, 95.0}},
    .regions = {.roi = {.valid = TRUE}},
};

enum {
  PROP_ENGINE = 1,
  PROP_CUDA_DEVICE_ID,
  PROP_ALGORITHM,
  PROP_N_THREADS,
  PROP_ASYNC_DEPTH,
  PROP_BINS,
  PROP_SIGNIFICANT_BITS,
  PROP_ATTACH_META,
  PROP_POST_MESSAGES,
  PROP_INTERVAL,
  PROP_MAX_PENDING_MESSAGES,
  PROP_VERIFY,
  PROP_REGISTER_MEMORY,
  PROP_STATISTICS,
  PROP_PERCENTILES,
  PROP_STATS
};

GType
gst_gpu_histogram_engine_get_type(void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_GPU_HISTOGRAM_ENGINE_AUTO, "CUDA where a device works, else the CPU",
       "auto"},
      {GST_GPU_HISTOGRAM_ENGINE_CUDA, "An NVIDIA GPU; an error without one",
       "cuda"},
      {GST_GPU_HISTOGRAM_ENGINE_CPU, "The CPU; no driver is touched", "cpu"},
      {0, NULL, NULL}};

  if (g_once_init_enter(&type))
    g_once_init_leave(&type,
                      g_enum_register_static("GstGpuHistogramEngine", values));
  return type;
}

GType
gst_gpu_histogram_algorithm_get_type(void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_GPU_HISTOGRAM_ALGORITHM_AUTO,
       "The fastest one for the frame and the device", "auto"},
      {GST_GPU_HISTOGRAM_ALGORITHM_GLOBAL,
       "One atomic in device memory for each sample", "global"},
      {GST_GPU_HISTOGRAM_ALGORITHM_BLOCK,
       "A table for each block, in shared memory", "block"},
      {GST_GPU_HISTOGRAM_ALGORITHM_WARP, "A table for each warp", "warp"},
      {GST_GPU_HISTOGRAM_ALGORITHM_LANE,
       "A column of the table for each lane, so that none meet", "lane"},
      {GST_GPU_HISTOGRAM_ALGORITHM_SORT, "Sort, then count runs", "sort"},
      {0, NULL, NULL}};

  if (g_once_init_enter(&type))
    g_once_init_leave(
        &type, g_enum_register_static("GstGpuHistogramAlgorithm", values));
  return type;
}

/* Called with the object lock. Properties that make the engine keep their
 * value while there is one. */
static gboolean
is_locked(GstGpuHistogram *self, GParamSpec *pspec)
{
  return self->started && !(pspec->flags & GST_PARAM_MUTABLE_PLAYING);
}

/* Called with the object lock. */
static void
store_setting(GpuHistogramSettings *settings, guint id, const GValue *value)
{
  switch (id) {
  case PROP_ENGINE:
    settings->engine = g_value_get_enum(value);
    break;
  case PROP_CUDA_DEVICE_ID:
    settings->cuda_device_id = g_value_get_int(value);
    break;
  case PROP_ALGORITHM:
    settings->algorithm = g_value_get_enum(value);
    break;
  case PROP_N_THREADS:
    settings->n_threads = g_value_get_uint(value);
    break;
  case PROP_ASYNC_DEPTH:
    settings->async_depth = g_value_get_uint(value);
    break;
  case PROP_BINS:
    settings->bins = g_value_get_uint(value);
    break;
  case PROP_SIGNIFICANT_BITS:
    settings->significant_bits = g_value_get_uint(value);
    break;
  case PROP_ATTACH_META:
    settings->attach_meta = g_value_get_boolean(value);
    break;
  case PROP_POST_MESSAGES:
    settings->post_messages = g_value_get_boolean(value);
    break;
  case PROP_INTERVAL:
    settings->interval = g_value_get_uint64(value);
    break;
  case PROP_MAX_PENDING_MESSAGES:
    settings->max_pending_messages = g_value_get_uint(value);
    break;
  case PROP_VERIFY:
    settings->verify = g_value_get_boolean(value);
    break;
  case PROP_REGISTER_MEMORY:
    settings->register_memory = g_value_get_boolean(value);
    break;
  case PROP_STATISTICS:
    settings->figures.wanted = g_value_get_flags(value);
    break;
  }
}

static void
set_percentiles(GstGpuHistogram *self, const GValue *array)
{
  gboolean taken;

  GST_OBJECT_LOCK(self);
  taken = gpu_histogram_figures_set_percentiles(&self->settings.figures, array);
  GST_OBJECT_UNLOCK(self);
  if (!taken)
    GST_WARNING_OBJECT(self,
                       "percentiles stay as they are: there may be %u of them",
                       GPU_HISTOGRAM_MAX_PERCENTILES);
}

static void
set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(object);
  gboolean locked;

  if (id == PROP_PERCENTILES) {
    set_percentiles(self, value);
    return;
  }
  if (id >= GPU_HISTOGRAM_FIRST_REGION_PROPERTY) {
    gst_gpu_histogram_set_region_property(self, id, value);
    return;
  }
  GST_OBJECT_LOCK(self);
  locked = is_locked(self, pspec);
  if (!locked)
    store_setting(&self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
  if (locked)
    GST_WARNING_OBJECT(self, "%s can only be changed in NULL or READY",
                       pspec->name);
}

static GstStructure *
make_stats(GstGpuHistogram *self)
{
  guint in_flight_max = gpu_histogram_flight_get_max(&self->flight);
  const GpuHistogramStats *stats = &self->stats;
  GstStructure *structure;
  guint64 registered = 0;

  GST_OBJECT_LOCK(self);
  if (self->allocator)
    registered = gpu_histogram_allocator_get_registered(self->allocator);
  structure = gst_structure_new(
      "application/x-gpuhistogram-stats", "engine", G_TYPE_STRING,
      stats->engine, "device", G_TYPE_STRING, stats->device, "reason",
      G_TYPE_STRING, stats->reason, "frames", G_TYPE_UINT64, stats->frames,
      "messages-dropped", G_TYPE_UINT64, stats->messages_dropped,
      "bytes-uploaded", G_TYPE_UINT64, stats->bytes_uploaded, "bytes-copied",
      G_TYPE_UINT64, stats->bytes_copied, "bytes-registered", G_TYPE_UINT64,
      registered, "in-flight-max", G_TYPE_UINT, in_flight_max, "device-time",
      G_TYPE_UINT64, stats->device_time, NULL);
  GST_OBJECT_UNLOCK(self);
  return structure;
}

/* Called with the object lock. */
static void
load_setting(const GpuHistogramSettings *settings, guint id, GValue *value)
{
  switch (id) {
  case PROP_ENGINE:
    g_value_set_enum(value, settings->engine);
    break;
  case PROP_CUDA_DEVICE_ID:
    g_value_set_int(value, settings->cuda_device_id);
    break;
  case PROP_ALGORITHM:
    g_value_set_enum(value, settings->algorithm);
    break;
  case PROP_N_THREADS:
    g_value_set_uint(value, settings->n_threads);
    break;
  case PROP_ASYNC_DEPTH:
    g_value_set_uint(value, settings->async_depth);
    break;
  case PROP_BINS:
    g_value_set_uint(value, settings->bins);
    break;
  case PROP_SIGNIFICANT_BITS:
    g_value_set_uint(value, settings->significant_bits);
    break;
  case PROP_ATTACH_META:
    g_value_set_boolean(value, settings->attach_meta);
    break;
  case PROP_POST_MESSAGES:
    g_value_set_boolean(value, settings->post_messages);
    break;
  case PROP_INTERVAL:
    g_value_set_uint64(value, settings->interval);
    break;
  case PROP_MAX_PENDING_MESSAGES:
    g_value_set_uint(value, settings->max_pending_messages);
    break;
  case PROP_VERIFY:
    g_value_set_boolean(value, settings->verify);
    break;
  case PROP_REGISTER_MEMORY:
    g_value_set_boolean(value, settings->register_memory);
    break;
  case PROP_STATISTICS:
    g_value_set_flags(value, settings->figures.wanted);
    break;
  case PROP_PERCENTILES:
    gpu_histogram_figures_get_percentiles(&settings->figures, value);
    break;
  }
}

static void
get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(object);

  if (id == PROP_STATS) {
    g_value_take_boxed(value, make_stats(self));
    return;
  }
  if (id >= GPU_HISTOGRAM_FIRST_REGION_PROPERTY) {
    gst_gpu_histogram_get_region_property(self, id, value);
    return;
  }
  GST_OBJECT_LOCK(self);
  load_setting(&self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
}

/* Properties that make the engine. */
static void
install_engine_properties(GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property(
      klass, PROP_ENGINE,
      g_param_spec_enum("engine", "Engine",
                        "What counts: an NVIDIA GPU or the CPU. Both give the "
                        "same numbers; stats says which one is in use and why",
                        GST_TYPE_GPU_HISTOGRAM_ENGINE, DEFAULT_ENGINE, flags));
  g_object_class_install_property(
      klass, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device",
                       "Number of the GPU, as the CUDA driver counts them; "
                       "-1 = the first one",
                       -1, G_MAXINT, DEFAULT_CUDA_DEVICE_ID, flags));
  g_object_class_install_property(
      klass, PROP_ALGORITHM,
      g_param_spec_enum("algorithm", "Algorithm",
                        "How the GPU counts; all ways give the same numbers, "
                        "and auto is the fastest one",
                        GST_TYPE_GPU_HISTOGRAM_ALGORITHM, DEFAULT_ALGORITHM,
                        flags));
  g_object_class_install_property(
      klass, PROP_N_THREADS,
      g_param_spec_uint("n-threads", "Threads",
                        "Threads that the CPU engine counts a frame with; 0 = "
                        "as many as there are cores",
                        0, 1024, DEFAULT_N_THREADS, flags));
  g_object_class_install_property(
      klass, PROP_ASYNC_DEPTH,
      g_param_spec_uint("async-depth", "Frames in flight",
                        "Frames that may be counted at the same time. More of "
                        "them delay no frame; upstream waits when all are "
                        "taken, until half of them have left",
                        1, GH_MAX_DEPTH, DEFAULT_ASYNC_DEPTH, flags));
  g_object_class_install_property(
      klass, PROP_BINS,
      g_param_spec_uint("bins", "Bins",
                        "Bins of the histogram: a power of two, at most the "
                        "number of grey levels of the format; each bin holds "
                        "equally many neighbouring levels",
                        2, GPU_HISTOGRAM_MAX_BINS, DEFAULT_BINS, flags));
  g_object_class_install_property(
      klass, PROP_SIGNIFICANT_BITS,
      g_param_spec_uint("significant-bits", "Significant bits",
                        "Lowest bits of a 16-bit sample that count, for "
                        "cameras that put 10 or 12 bits into GRAY16; those "
                        "above are ignored; 0 = all that the format has",
                        0, 16, DEFAULT_SIGNIFICANT_BITS, flags));
}

/* Properties of what comes out. */
static void
install_report_properties(GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property(
      klass, PROP_ATTACH_META,
      g_param_spec_boolean("attach-meta", "Attach meta",
                           "Attach a GstGpuHistogramMeta to each buffer. With "
                           "this and post-messages off nothing is counted",
                           DEFAULT_ATTACH_META, flags));
  g_object_class_install_property(
      klass, PROP_POST_MESSAGES,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message named gpuhistogram for "
                           "each frame",
                           DEFAULT_POST_MESSAGES, flags));
  g_object_class_install_property(
      klass, PROP_INTERVAL,
      g_param_spec_uint64("interval", "Interval",
                          "Least stream time from one message to the next, in "
                          "nanoseconds; 0 = a message for every frame",
                          0, G_MAXUINT64, DEFAULT_INTERVAL, flags));
  g_object_class_install_property(
      klass, PROP_MAX_PENDING_MESSAGES,
      g_param_spec_uint("max-pending-messages", "Most pending messages",
                        "Messages that may be waiting to be read; further "
                        "ones are dropped and counted in stats, so that a bus "
                        "that nobody reads does not grow",
                        0, G_MAXUINT, DEFAULT_MAX_PENDING_MESSAGES, flags));
  g_object_class_install_property(
      klass, PROP_VERIFY,
      g_param_spec_boolean("verify", "Verify",
                           "Check every histogram against the number of "
                           "pixels and against the sum, which is reduced on "
                           "its own; a contradiction is an error",
                           DEFAULT_VERIFY, flags));
}

/* Which figures a message carries. */
static void
install_figure_properties(GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property(
      klass, PROP_STATISTICS,
      g_param_spec_flags("statistics", "Statistics",
                         "Figures that a message carries beside the histogram; "
                         "the field's name is given in brackets",
                         GST_TYPE_GPU_HISTOGRAM_STATISTICS, DEFAULT_STATISTICS,
                         flags));
  g_object_class_install_property(
      klass, PROP_PERCENTILES,
      gst_param_spec_array(
          "percentiles", "Percentiles",
          "Percentiles that statistics=percentiles gives, in this order, and "
          "between the least and the greatest of which "
          "statistics=interpercentile-mean takes the mean; at most 64 numbers",
          g_param_spec_double("percent", "Percent",
                              "Share of the samples that are not brighter", 0.0,
                              100.0, 50.0,
                              G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
          flags));
}

/* What can be read, and how frames get to the GPU. */
static void
install_other_properties(GObjectClass *klass)
{
  g_object_class_install_property(
      klass, PROP_REGISTER_MEMORY,
      g_param_spec_boolean("register-memory", "Register memory",
                           "Have the driver register memory that comes again "
                           "and again, such as that of a decoder's pool, so "
                           "that the GPU reads frames from there without a "
                           "copy",
                           DEFAULT_REGISTER_MEMORY,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                               GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Stats",
          "Since the start: engine in use (engine, device, reason), frames "
          "counted (frames), messages dropped (messages-dropped), bytes "
          "sent to the GPU (bytes-uploaded) and copied for that "
          "(bytes-copied), bytes of upstream's memory that the GPU reads from "
          "there now (bytes-registered), most frames in flight "
          "(in-flight-max), time of the GPU in nanoseconds, by each eighth "
          "frame (device-time)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void
gst_gpu_histogram_install_properties(GObjectClass *klass)
{
  klass->set_property = set_property;
  klass->get_property = get_property;
  install_engine_properties(klass);
  install_report_properties(klass);
  install_figure_properties(klass);
  install_other_properties(klass);
  gst_gpu_histogram_install_region_properties(klass);
  gst_type_mark_as_plugin_api(GST_TYPE_GPU_HISTOGRAM_ENGINE, 0);
  gst_type_mark_as_plugin_api(GST_TYPE_GPU_HISTOGRAM_ALGORITHM, 0);
  gst_type_mark_as_plugin_api(GST_TYPE_GPU_HISTOGRAM_STATISTICS, 0);
}
