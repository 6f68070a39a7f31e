/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CUDA context that the elements of a pipeline share, so that one of them
 * can read what another one wrote. */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

/* GST_CUDA_CONTEXT_TYPE, which is not there in every build. */
#define CONTEXT_TYPE "gst.cuda.context"

static GstElementClass *parent_class;

GstObject *
gst_gpu_histogram_get_context(GstGpuHistogram *self)
{
  GstObject *context;

  GST_OBJECT_LOCK(self);
  context = self->context ? gst_object_ref(self->context) : NULL;
  GST_OBJECT_UNLOCK(self);
  return context;
}

void
gst_gpu_histogram_set_context(GstGpuHistogram *self, GstObject *context)
{
  GstObject *before;

  GST_OBJECT_LOCK(self);
  before = self->context;
  self->context = gst_object_ref(context);
  GST_OBJECT_UNLOCK(self);
  gst_clear_object(&before);
}

static gint
get_device_id(GstGpuHistogram *self)
{
  gint id;

  GST_OBJECT_LOCK(self);
  id = self->settings.cuda_device_id;
  GST_OBJECT_UNLOCK(self);
  return id;
}

/* Only this thread puts the answer there, as long as it asks. */
static GstObject *
ask_context(GstGpuHistogram *self)
{
  GST_OBJECT_LOCK(self);
  self->asking = g_thread_self();
  GST_OBJECT_UNLOCK(self);
  gpu_histogram_cuda_ask_context(GST_ELEMENT(self), get_device_id(self),
                                 &self->answer);
  GST_OBJECT_LOCK(self);
  self->asking = NULL;
  GST_OBJECT_UNLOCK(self);
  return g_steal_pointer(&self->answer);
}

void
gst_gpu_histogram_join_context(GstGpuHistogram *self)
{
  GstObject *context;

  if (!self->on_gpu)
    return;
  context = gst_gpu_histogram_get_context(self);
  if (!context) {
    context = ask_context(self);
    if (!context)
      return;
    gst_gpu_histogram_set_context(self, context);
  }
  gst_gpu_histogram_counting_move(self, context);
  gst_object_unref(context);
}

/* Takes it where it is a context of the right device. */
static void
take_context(GstGpuHistogram *self, GstContext *context)
{
  GstObject *taken = gpu_histogram_cuda_take_context(GST_ELEMENT(self), context,
                                                     get_device_id(self));
  gboolean answers;

  if (!taken)
    return;
  gst_gpu_histogram_set_context(self, taken);
  GST_OBJECT_LOCK(self);
  answers = self->asking == g_thread_self();
  GST_OBJECT_UNLOCK(self);
  if (answers && !self->answer)
    self->answer = gst_object_ref(taken);
  gst_object_unref(taken);
}

static void
set_context(GstElement *element, GstContext *context)
{
  take_context(GST_GPU_HISTOGRAM(element), context);
  parent_class->set_context(element, context);
}

void
gst_gpu_histogram_start_context(GstGpuHistogram *self)
{
  GstContext *context =
      gst_element_get_context(GST_ELEMENT(self), CONTEXT_TYPE);

  gst_gpu_histogram_stop_context(self);
  if (!context)
    return;
  take_context(self, context);
  gst_context_unref(context);
}

void
gst_gpu_histogram_stop_context(GstGpuHistogram *self)
{
  GstObject *context;

  GST_OBJECT_LOCK(self);
  context = g_steal_pointer(&self->context);
  GST_OBJECT_UNLOCK(self);
  gst_clear_object(&context);
}

void
gst_gpu_histogram_context_class_init(GstElementClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->set_context = set_context;
}
