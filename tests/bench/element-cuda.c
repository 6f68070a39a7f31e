/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of the device, where GStreamer has it. */

#include "element.h"

#ifdef HAVE_GST_CUDA
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

/* One context for all cases, as a pipeline has one. */
static GstCudaContext *
get_context(void)
{
  static GstCudaContext *context;
  static gboolean tried;

  if (!tried && gst_cuda_load_library()) {
    gst_cuda_memory_init_once();
    context = gst_cuda_context_new(0);
  }
  tried = TRUE;
  return context;
}

GstBufferPool *
bench_cuda_pool_new(const gchar **why)
{
  GstCudaContext *context = get_context();

  if (context)
    return gst_cuda_buffer_pool_new(context);
  *why = "no CUDA device";
  return NULL;
}

void
bench_cuda_share_context(GstElement *element)
{
  GstCudaContext *cuda = get_context();
  GstContext *context;

  if (!cuda)
    return;
  context = gst_context_new_cuda_context(cuda);
  gst_element_set_context(element, context);
  gst_context_unref(context);
}

#else

GstBufferPool *
bench_cuda_pool_new(const gchar **why)
{
  *why = "built without gstreamer-cuda-1.0";
  return NULL;
}

void
bench_cuda_share_context(GstElement *element)
{
}

#endif
