/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines: which one counts, and what happens when it fails. */

#include "gstgpuhistogram-private.h"

static void
set_engine_in_use(GstGpuHistogram *self, GhEngine *engine, const gchar *name,
                  const gchar *reason)
{
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

/* Without a GPU the CPU counts and nobody needs to know; a GPU that does not
 * work is worth a warning. */
static gboolean
open_cuda_or_cpu(GstGpuHistogram *self, const GhSettings *settings)
{
  GhEngine *engine;
  GhError error;
  GhStatus status = gh_engine_open(&engine, GH_ENGINE_CUDA, settings, &error);

  if (status == GH_OK) {
    set_engine_in_use(self, engine, "cuda", "engine=auto and CUDA works");
    return TRUE;
  }
  if (status == GH_FAILED)
    GST_ELEMENT_WARNING(
        self, RESOURCE, FAILED,
        ("The GPU cannot be used, so the CPU counts: %s.", error.text), (NULL));
  return open_cpu(self, settings, error.text);
}

static gboolean
open_cuda(GstGpuHistogram *self, const GhSettings *settings)
{
  GhEngine *engine;
  GhError error;

  if (gh_engine_open(&engine, GH_ENGINE_CUDA, settings, &error) == GH_OK) {
    set_engine_in_use(self, engine, "cuda", "engine=cuda");
    return TRUE;
  }
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
engine_settings(const GpuHistogramSettings *settings)
{
  return (GhSettings){.depth = settings->async_depth,
                      .bins = MIN(settings->bins, GH_LEVELS),
                      .n_threads = settings->n_threads,
                      .device_id = settings->cuda_device_id,
                      .algorithm = (GhAlgorithm)settings->algorithm};
}

gboolean
gst_gpu_histogram_counting_start(GstGpuHistogram *self,
                                 const GpuHistogramSettings *settings)
{
  GhSettings engine = engine_settings(settings);

  self->bins = settings->bins;
  self->may_fall_back = settings->engine == GST_GPU_HISTOGRAM_ENGINE_AUTO;
  self->result_bins = g_new(guint64, settings->bins);
  switch (settings->engine) {
  case GST_GPU_HISTOGRAM_ENGINE_AUTO:
    return open_cuda_or_cpu(self, &engine);
  case GST_GPU_HISTOGRAM_ENGINE_CUDA:
    return open_cuda(self, &engine);
  default:
    return open_cpu(self, &engine, "engine=cpu");
  }
}

void
gst_gpu_histogram_counting_stop(GstGpuHistogram *self)
{
  gh_engine_close(&self->engine);
  gh_engine_close(&self->broken);
  self->lost = NULL;
  GST_OBJECT_LOCK(self);
  self->failed = NULL;
  GST_OBJECT_UNLOCK(self);
  set_engine_in_use(self, NULL, "none", "");
  g_clear_pointer(&self->result_bins, g_free);
}

void
gst_gpu_histogram_counting_flush(GstGpuHistogram *self)
{
  gh_engine_flush(self->engine);
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
  engine = engine_settings(&settings);
  if (!open_cpu(self, &engine, failure.text))
    return FALSE;
  self->broken = broken;
  return TRUE;
}

gboolean
gst_gpu_histogram_counting_submit(GstGpuHistogram *self,
                                  GpuHistogramFrame *frame)
{
  GhError error = {""};

  if (has_failed(self, self->engine) &&
      (!self->may_fall_back || self->broken || !replace_engine(self)))
    return FALSE;
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
  if (!self->may_fall_back)
    return FALSE;
  gh_count_frame(&frame->luma.samples, self->bins, result);
  return TRUE;
}

gboolean
gst_gpu_histogram_counting_collect(GstGpuHistogram *self,
                                   GpuHistogramFrame *frame, GhResult *result)
{
  gboolean verify;

  result->bins = self->result_bins;
  if (!get_result(self, frame, result))
    return FALSE;
  GST_OBJECT_LOCK(self);
  verify = self->settings.verify;
  self->stats.frames++;
  self->stats.bytes_uploaded += result->bytes_uploaded;
  self->stats.bytes_copied += result->bytes_copied;
  self->stats.device_time += result->device_ns;
  GST_OBJECT_UNLOCK(self);
  if (!verify || gh_result_is_consistent(result, self->bins))
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FAILED,
                    ("The histogram of frame %" G_GUINT64_FORMAT
                     " contradicts itself.",
                     frame->number),
                    ("pixels %" G_GUINT64_FORMAT ", sum %" G_GUINT64_FORMAT
                     ", sum by the bins %" G_GUINT64_FORMAT,
                     result->pixels, result->sum, result->level_sum));
  return FALSE;
}
