/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-cuda.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

GstCudaContext *
test_cuda_context_new(void)
{
  GstCudaContext *context;

  fail_unless(gst_cuda_load_library());
  gst_cuda_memory_init_once();
  context = gst_cuda_context_new(0);
  fail_unless(context != NULL);
  return context;
}

GstBufferPool *
test_cuda_pool_new(GstCudaContext *context, const gchar *text, guint n)
{
  GstBufferPool *pool = gst_cuda_buffer_pool_new(context);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  GstCaps *caps = gst_caps_from_string(text);
  GstVideoInfo info;

  fail_unless(gst_video_info_from_caps(&info, caps));
  gst_buffer_pool_config_set_params(config, caps, (guint)info.size, n, n);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  gst_caps_unref(caps);
  return pool;
}

void
test_cuda_pool_free(GstBufferPool *pool)
{
  fail_unless(gst_buffer_pool_set_active(pool, FALSE));
  gst_object_unref(pool);
}

GstBuffer *
test_cuda_take(GstBufferPool *pool, guint number)
{
  GstBuffer *buffer = NULL;

  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL),
                         GST_FLOW_OK);
  test_stamp(buffer, number);
  return buffer;
}

GstBuffer *
test_cuda_noise(GstBufferPool *pool)
{
  GstBuffer *buffer = test_cuda_take(pool, 0);
  GstMapInfo map;

  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize b = 0; b < map.size; b++)
    map.data[b] = (guint8)(b * 2654435761u >> 13);
  gst_buffer_unmap(buffer, &map);
  return buffer;
}
