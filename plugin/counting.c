/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines: which one counts, and what happens when it fails. */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

static void
set_engine_in_use(GstGpuHistogram *self, GhEngine *engine, const gchar *name,
                  const gchar *reason)
{
  self->on_gpu = g_str_equal(name, "cuda");
  GST_OBJECT_LOCK(self);
  self->stats.engine = name;
  g_free(self->stats.device);
  self->stats.device = g_strdup(engine ? gh_engine_device(engine) : "");
  g_free(self->stats.reason);
  self->stats.reason = g_strdup(reason);
  GST_OBJECT_UNLOCK(self);
  self->engine = engine;
  if (engine)
    GST_INFO_OBJECT(self, "counting with %s on %s: %s", name,
                    gh_engine_device(engine), reason);
}

static gboolean
open_cpu(GstGpuHistogram *self, const GhSettings *settings, const gchar *reason)
{
  GhEngine *engine;
  GhError error;

  if (gh_engine_open(&engine, GH_ENGINE_CPU, settings, &error) != GH_OK) {
    GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                      ("The CPU engine cannot be opened: %s.", error.text),
                      (NULL));
    return FALSE;
  }
  set_engine_in_use(self, engine, "cpu", reason);
  return TRUE;
}

static gboolean
open_gpu(GstGpuHistogram *self, const GhSettings *settings, const gchar *reason,
         GhStatus *status, GhError *error)
{
  GpuHistogramAllocator *allocator;
  GhEngine *engine;
  GhError refused = {""};

  *status = gh_engine_open(&engine, GH_ENGINE_CUDA, settings, error);
  if (*status != GH_OK)
    return FALSE;
  allocator = gpu_histogram_allocator_new(settings->device_id, &refused);
  if (!allocator)
    GST_INFO_OBJECT(self, "frames are copied: %s", refused.text);
  GST_OBJECT_LOCK(self);
  self->allocator = allocator;
  GST_OBJECT_UNLOCK(self);
  set_engine_in_use(self, engine, "cuda", reason);
  return TRUE;
}

/* Without a GPU the CPU counts and nobody needs to know; a GPU that does not
 * work is worth a warning. */
static gboolean
open_cuda_or_cpu(GstGpuHistogram *self, const GhSettings *settings)
{
  GhStatus status;
  GhError error;

  if (open_gpu(self, settings, "engine=auto and CUDA works", &status, &error))
    return TRUE;
  if (status == GH_FAILED)
    GST_ELEMENT_WARNING(
        self, RESOURCE, FAILED,
        ("The GPU cannot be used, so the CPU counts: %s.", error.text), (NULL));
  return open_cpu(self, settings, error.text);
}

static gboolean
open_cuda(GstGpuHistogram *self, const GhSettings *settings)
{
  GhStatus status;
  GhError error;

  if (open_gpu(self, settings, "engine=cuda", &status, &error))
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                    ("engine=cuda cannot be used: %s. Use engine=auto to count "
                     "on the CPU where there is no GPU.",
                     error.text),
                    (NULL));
  return FALSE;
}

G_STATIC_ASSERT((int)GST_GPU_HISTOGRAM_ALGORITHM_AUTO == GH_ALGORITHM_AUTO);
G_STATIC_ASSERT((int)GST_GPU_HISTOGRAM_ALGORITHM_SORT == GH_ALGORITHM_SORT);

/* More bins than the samples have levels are refused with the caps. */
static GhSettings
engine_settings(GstGpuHistogram *self, const GpuHistogramSettings *settings)
{
  GstObject *context = self->engine_context;

  return (GhSettings){
      .depth = settings->async_depth,
      .bins = settings->bins,
      .n_threads = settings->n_threads,
      .device_id = settings->cuda_device_id,
      .algorithm = (GhAlgorithm)settings->algorithm,
      .context = context ? gpu_histogram_cuda_get_handle(context) : NULL};
}

static gboolean
open_engine(GstGpuHistogram *self, const GpuHistogramSettings *settings)
{
  GhSettings engine = engine_settings(self, settings);

  switch (settings->engine) {
  case GST_GPU_HISTOGRAM_ENGINE_AUTO:
    return open_cuda_or_cpu(self, &engine);
  case GST_GPU_HISTOGRAM_ENGINE_CUDA:
    return open_cuda(self, &engine);
  default:
    return open_cpu(self, &engine, "engine=cpu");
  }
}

static void
close_engine(GstGpuHistogram *self)
{
  GpuHistogramAllocator *allocator;

  gh_engine_close(&self->engine);
  self->lost = NULL;
  GST_OBJECT_LOCK(self);
  self->failed = NULL;
  allocator = g_steal_pointer(&self->allocator);
  GST_OBJECT_UNLOCK(self);
  gst_clear_object(&allocator);
  gst_clear_object(&self->engine_context);
  set_engine_in_use(self, NULL, "none", "");
}

gboolean
gst_gpu_histogram_counting_start(GstGpuHistogram *self,
                                 const GpuHistogramSettings *settings)
{
  self->bins = settings->bins;
  self->significant_bits = settings->significant_bits;
  self->may_fall_back = settings->engine == GST_GPU_HISTOGRAM_ENGINE_AUTO;
  gst_gpu_histogram_start_context(self);
  self->engine_context = gst_gpu_histogram_get_context(self);
  return open_engine(self, settings);
}

void
gst_gpu_histogram_counting_stop(GstGpuHistogram *self)
{
  /* It may work in the same context. */
  gh_engine_close(&self->broken);
  close_engine(self);
  gst_gpu_histogram_stop_context(self);
  g_clear_pointer(&self->histograms, g_free);
  g_clear_pointer(&self->histogram_bins, g_free);
  g_clear_pointer(&self->row_sums, g_free);
  self->n_histograms = 0;
  self->n_row_sums = 0;
}

void
gst_gpu_histogram_counting_flush(GstGpuHistogram *self)
{
  if (self->engine)
    gh_engine_flush(self->engine);
}

void
gst_gpu_histogram_counting_move(GstGpuHistogram *self, GstObject *context)
{
  GpuHistogramSettings settings;

  if (!self->on_gpu || context == self->engine_context ||
      !gpu_histogram_flight_drain(&self->flight))
    return;
  GST_INFO_OBJECT(self, "counting in %" GST_PTR_FORMAT, context);
  close_engine(self);
  self->engine_context = gst_object_ref(context);
  GST_OBJECT_LOCK(self);
  settings = self->settings;
  GST_OBJECT_UNLOCK(self);
  open_engine(self, &settings);
}

static gboolean
has_failed(GstGpuHistogram *self, GhEngine *engine)
{
  gboolean failed;

  GST_OBJECT_LOCK(self);
  failed = self->failed == engine;
  GST_OBJECT_UNLOCK(self);
  return failed;
}

/* Both threads may find out; the first one says it. */
static void
give_up(GstGpuHistogram *self, GhEngine *engine, const GhError *error)
{
  gboolean first;

  GST_OBJECT_LOCK(self);
  first = self->failed != engine;
  if (first) {
    self->failed = engine;
    self->failure = *error;
  }
  GST_OBJECT_UNLOCK(self);
  if (!first)
    return;
  if (self->may_fall_back)
    GST_ELEMENT_WARNING(
        self, RESOURCE, FAILED,
        ("The GPU failed, so the CPU counts from here on: %s.", error->text),
        ("No frame is lost: those in flight are counted again."));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                      ("Counting failed: %s.", error->text), (NULL));
}

/* The engine that failed stays open: the output thread may be waiting in it. */
static gboolean
replace_engine(GstGpuHistogram *self)
{
  GhEngine *broken = self->engine;
  GpuHistogramSettings settings;
  GhSettings engine;
  GhError failure;

  GST_OBJECT_LOCK(self);
  settings = self->settings;
  failure = self->failure;
  GST_OBJECT_UNLOCK(self);
  engine = engine_settings(self, &settings);
  if (!open_cpu(self, &engine, failure.text))
    return FALSE;
  self->broken = broken;
  return TRUE;
}

/* Frames on the GPU say where that is. Whether the engine works there now: a
 * flush may have kept it from moving. */
static gboolean
follow_context(GstGpuHistogram *self, GstMemory *memory)
{
  GstObject *context = gpu_histogram_cuda_get_context(memory);
  gboolean together;

  if (context != self->engine_context) {
    gst_gpu_histogram_set_context(self, context);
    gst_gpu_histogram_counting_move(self, context);
  }
  together = self->on_gpu && context == self->engine_context;
  gst_object_unref(context);
  return together;
}

/* Whether the GPU reads the frame from where it is. */
static gboolean
is_pinned(GstGpuHistogram *self, const GstMapInfo *map)
{
  gboolean may_register;

  if (!self->allocator || !map->memory)
    return FALSE;
  if (gpu_histogram_memory_is_pinned(map->memory))
    return TRUE;
  GST_OBJECT_LOCK(self);
  may_register = self->settings.register_memory;
  GST_OBJECT_UNLOCK(self);
  return may_register &&
         gpu_histogram_allocator_registers(self->allocator, map->memory,
                                           map->data, map->size);
}

/* The regions where they are in rows that go upwards. */
static GhRect *
turn_regions(const GpuHistogramRegions *regions, guint32 height)
{
  GhRect *rects = g_memdup2(regions->rects, regions->n * sizeof(*rects));

  for (guint i = 0; i < regions->n; i++)
    rects[i].y = height - rects[i].y - rects[i].height;
  return rects;
}

/* What is to be counted of a frame that was mapped. */
static void
set_parts(GpuHistogramFrame *frame)
{
  GpuHistogramLuma *luma = &frame->luma;
  GhFrame *samples = &luma->samples;

  samples->rows = frame->rows;
  if (!frame->regions)
    return;
  if (luma->upwards)
    luma->turned = turn_regions(frame->regions, samples->height);
  samples->regions = luma->upwards ? luma->turned : frame->regions->rects;
  samples->n_regions = frame->regions->n;
}

const gchar *
gst_gpu_histogram_counting_map(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  GstMemory *cuda = gpu_histogram_cuda_get_memory(frame->buffer);
  gboolean there = cuda && self->on_gpu && follow_context(self, cuda);
  GpuHistogramLuma *luma = &frame->luma;
  const gchar *fault = gpu_histogram_luma_map(luma, frame->buffer, &self->info,
                                              &self->format, there);

  if (!fault && self->on_gpu && luma->samples.memory == GH_MEMORY_HOST &&
      is_pinned(self, &luma->map))
    luma->samples.memory = GH_MEMORY_PINNED;
  if (!fault)
    set_parts(frame);
  return fault;
}

/* Has a frame on the GPU downloaded for the CPU. Where that fails, as with a
 * device that is broken, it passes uncounted. */
static gboolean
bring_to_cpu(GstGpuHistogram *self, GpuHistogramFrame *frame)
{
  const gchar *fault;

  if (frame->luma.samples.memory != GH_MEMORY_DEVICE)
    return TRUE;
  gpu_histogram_luma_unmap(&frame->luma);
  fault = gpu_histogram_luma_map(&frame->luma, frame->buffer, &self->info,
                                 &self->format, FALSE);
  if (!fault) {
    set_parts(frame);
    return TRUE;
  }
  GST_WARNING_OBJECT(self, "frame %" G_GUINT64_FORMAT " passes uncounted: %s",
                     frame->number, fault);
  frame->measured = FALSE;
  return FALSE;
}

gboolean
gst_gpu_histogram_counting_submit(GstGpuHistogram *self,
                                  GpuHistogramFrame *frame)
{
  GhError error = {""};

  if (!self->engine ||
      (has_failed(self, self->engine) &&
       (!self->may_fall_back || self->broken || !replace_engine(self))))
    return FALSE;
  if (!self->on_gpu && !bring_to_cpu(self, frame))
    return TRUE;
  if (gh_engine_submit(self->engine, &frame->luma.samples, &error) == GH_OK) {
    frame->engine = self->engine;
    return TRUE;
  }
  /* Without an engine the output thread counts the frame itself. */
  give_up(self, self->engine, &error);
  return self->may_fall_back;
}

/* An engine that takes no more frames still owes those that it took; after one
 * that it did not give, the next would be a wrong one. */
static gboolean
get_result(GstGpuHistogram *self, GpuHistogramFrame *frame, GhResult *result)
{
  GhError error = {""};

  if (frame->engine && frame->engine != self->lost) {
    if (gh_engine_collect(frame->engine, TRUE, result, &error) == GH_OK)
      return TRUE;
    self->lost = frame->engine;
    give_up(self, frame->engine, &error);
  }
  /* It goes on to others, so nobody may be reading it. */
  if (frame->engine)
    gh_engine_finish_reading(frame->engine);
  if (!self->may_fall_back)
    return FALSE;
  if (bring_to_cpu(self, frame))
    gh_count_frame(&frame->luma.samples, self->bins, result);
  return TRUE;
}

/* Has room for what is counted in the frame, and puts it into *result. Grows
 * only, so frames like those before need no more memory. */
static void
make_room(GstGpuHistogram *self, const GpuHistogramFrame *frame,
          GhResult *result)
{
  const GhFrame *samples = &frame->luma.samples;
  gsize n = 1 + samples->n_regions;

  if (n > self->n_histograms) {
    g_free(self->histograms);
    g_free(self->histogram_bins);
    self->histograms = g_new0(GhHistogram, n);
    self->histogram_bins = g_new(guint64, n * self->bins);
    self->n_histograms = (guint)n;
    for (gsize i = 0; i < n; i++)
      self->histograms[i].bins = self->histogram_bins + i * self->bins;
  }
  if (samples->rows && samples->height > self->n_row_sums) {
    g_free(self->row_sums);
    self->row_sums = g_new(guint64, samples->height);
    self->n_row_sums = samples->height;
  }
  *result = (GhResult){.whole = self->histograms[0],
                       .regions = self->histograms + 1,
                       .row_sums = self->row_sums};
}

static gboolean
verify_histogram(GstGpuHistogram *self, const GpuHistogramFrame *frame,
                 const GhHistogram *histogram)
{
  if (gh_histogram_is_consistent(histogram, self->bins))
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FAILED,
                    ("The histogram of frame %" G_GUINT64_FORMAT
                     " contradicts itself.",
                     frame->number),
                    ("pixels %" G_GUINT64_FORMAT ", sum %" G_GUINT64_FORMAT
                     ", by the bins at least %" G_GUINT64_FORMAT
                     " and at most %" G_GUINT64_FORMAT,
                     histogram->pixels, histogram->sum, histogram->least_sum,
                     histogram->most_sum));
  return FALSE;
}

static void
turn_rows(guint64 *sums, guint n)
{
  for (guint y = 0; y < n / 2; y++) {
    guint64 upper = sums[y];

    sums[y] = sums[n - 1 - y];
    sums[n - 1 - y] = upper;
  }
}

gboolean
gst_gpu_histogram_counting_collect(GstGpuHistogram *self,
                                   GpuHistogramFrame *frame, GhResult *result)
{
  gboolean verify, good = TRUE;

  make_room(self, frame, result);
  if (!get_result(self, frame, result))
    return FALSE;
  if (!frame->measured)
    return TRUE;
  if (frame->luma.upwards && frame->luma.samples.rows)
    turn_rows(result->row_sums, frame->luma.samples.height);
  GST_OBJECT_LOCK(self);
  verify = self->settings.verify;
  self->stats.frames++;
  self->stats.bytes_uploaded += result->bytes_uploaded;
  self->stats.bytes_copied += result->bytes_copied;
  self->stats.device_time += result->device_ns;
  GST_OBJECT_UNLOCK(self);
  if (!verify)
    return TRUE;
  good = verify_histogram(self, frame, &result->whole);
  for (guint i = 0; i < frame->luma.samples.n_regions && good; i++)
    good = verify_histogram(self, frame, &result->regions[i]);
  return good;
}
