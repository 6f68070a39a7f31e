/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cudamemory.h"

#ifdef HAVE_GST_CUDA

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif

void
gpu_histogram_cuda_add_caps(GstCaps *caps)
{
  GstCaps *device = gst_caps_copy(caps);

  gst_caps_set_features_simple(
      device, gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
  gst_caps_append(caps, device);
}

gboolean
gpu_histogram_cuda_has_feature(GstCaps *caps)
{
  return gst_caps_features_contains(gst_caps_get_features(caps, 0),
                                    GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY);
}

gboolean
gpu_histogram_cuda_is_memory(GstMemory *memory)
{
  return gst_is_cuda_memory(memory);
}

const GstVideoInfo *
gpu_histogram_cuda_get_layout(GstMemory *memory)
{
  return &GST_CUDA_MEMORY_CAST(memory)->info;
}

GstMapFlags
gpu_histogram_cuda_map_flags(void)
{
  return (GstMapFlags)(GST_MAP_READ | GST_MAP_CUDA);
}

#if GST_CHECK_VERSION(1, 24, 0)

void
gpu_histogram_cuda_set_ready(GstMemory *memory, GhFrame *samples)
{
  GstCudaStream *stream;

  samples->ready = GH_READY;
  if (!GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC))
    return;
  stream = gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory));
  samples->ready = stream ? GH_READY_AFTER_STREAM : GH_READY_AFTER_CONTEXT;
  samples->stream = stream ? gst_cuda_stream_get_handle(stream) : NULL;
}

#else

/* The library does not say which stream writes a memory, nor whether it is
 * done. */
void
gpu_histogram_cuda_set_ready(GstMemory *memory, GhFrame *samples)
{
  samples->ready = GH_READY_AFTER_CONTEXT;
}

#endif

GstObject *
gpu_histogram_cuda_get_context(GstMemory *memory)
{
  return gst_object_ref(GST_OBJECT(GST_CUDA_MEMORY_CAST(memory)->context));
}

gpointer
gpu_histogram_cuda_get_handle(GstObject *context)
{
  return gst_cuda_context_get_handle(GST_CUDA_CONTEXT(context));
}

void
gpu_histogram_cuda_ask_context(GstElement *element, gint device_id,
                               GstObject **context)
{
  if (gst_cuda_load_library())
    gst_cuda_ensure_element_context(element, device_id,
                                    (GstCudaContext **)context);
}

GstObject *
gpu_histogram_cuda_take_context(GstElement *element, GstContext *context,
                                gint device_id)
{
  GstCudaContext *taken = NULL;

  gst_cuda_handle_set_context(element, context, device_id, &taken);
  return taken ? GST_OBJECT(taken) : NULL;
}

gboolean
gpu_histogram_cuda_answer(GstElement *element, GstQuery *query,
                          GstObject *context)
{
  return gst_cuda_handle_context_query(element, query,
                                       GST_CUDA_CONTEXT(context));
}

#else

void
gpu_histogram_cuda_add_caps(GstCaps *caps)
{
}

gboolean
gpu_histogram_cuda_has_feature(GstCaps *caps)
{
  return FALSE;
}

gboolean
gpu_histogram_cuda_is_memory(GstMemory *memory)
{
  return FALSE;
}

const GstVideoInfo *
gpu_histogram_cuda_get_layout(GstMemory *memory)
{
  return NULL;
}

GstMapFlags
gpu_histogram_cuda_map_flags(void)
{
  return GST_MAP_READ;
}

void
gpu_histogram_cuda_set_ready(GstMemory *memory, GhFrame *samples)
{
}

GstObject *
gpu_histogram_cuda_get_context(GstMemory *memory)
{
  return NULL;
}

gpointer
gpu_histogram_cuda_get_handle(GstObject *context)
{
  return NULL;
}

void
gpu_histogram_cuda_ask_context(GstElement *element, gint device_id,
                               GstObject **context)
{
}

GstObject *
gpu_histogram_cuda_take_context(GstElement *element, GstContext *context,
                                gint device_id)
{
  return NULL;
}

gboolean
gpu_histogram_cuda_answer(GstElement *element, GstQuery *query,
                          GstObject *context)
{
  return FALSE;
}

#endif

GstMemory *
gpu_histogram_cuda_get_memory(GstBuffer *buffer)
{
  GstMemory *memory;

  if (gst_buffer_n_memory(buffer) != 1)
    return NULL;
  memory = gst_buffer_peek_memory(buffer, 0);
  return gpu_histogram_cuda_is_memory(memory) ? memory : NULL;
}
