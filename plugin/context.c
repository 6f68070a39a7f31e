/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CUDA context that the elements of a pipeline share, so that one of them
 * can read what another one wrote. */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

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

void
gst_gpu_histogram_join_context(GstGpuHistogram *self)
{
  GstObject *context;

  if (!self->on_gpu)
    return;
  context = gst_gpu_histogram_get_context(self);
  if (!context) {
    context =
        gpu_histogram_cuda_ask_context(GST_ELEMENT(self), get_device_id(self));
    if (!context)
      return;
    gst_gpu_histogram_set_context(self, context);
  }
  gst_gpu_histogram_counting_move(self, context);
  gst_object_unref(context);
}

static void
set_context(GstElement *element, GstContext *context)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(element);
  GstObject *taken =
      gpu_histogram_cuda_take_context(element, context, get_device_id(self));

  if (taken) {
    gst_gpu_histogram_set_context(self, taken);
    gst_object_unref(taken);
  }
  parent_class->set_context(element, context);
}

void
gst_gpu_histogram_context_class_init(GstElementClass *klass)
{
  parent_class = g_type_class_peek_parent(klass);
  klass->set_context = set_context;
}
