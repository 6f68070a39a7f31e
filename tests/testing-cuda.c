/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-cuda.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <string.h>

GstCudaContext *test_cuda_context;

static void
setup(void)
{
  fail_unless(gst_cuda_load_library());
  gst_cuda_memory_init_once();
  test_cuda_context = gst_cuda_context_new(0);
  fail_unless(test_cuda_context != NULL);
}

static void
teardown(void)
{
  gst_object_unref(test_cuda_context);
}

void
test_cuda_add_fixture(TCase *tcase)
{
  tcase_add_checked_fixture(tcase, setup, teardown);
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

static GstBuffer *
flat_frame(GstBufferPool *pool, const GstVideoInfo *info, guint8 value,
           guint number)
{
  GstBuffer *buffer = test_cuda_take(pool, number);
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  gint pitch =
      GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info, 0);
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 0xEE, map.size);
  for (gint y = 0; y < info->height; y++)
    memset(map.data + (gsize)y * pitch, value, info->width);
  gst_memory_unmap(memory, &map);
  return buffer;
}

void
test_cuda_push_flat(TestFixture *fixture, GstBufferPool *pool, guint first,
                    guint n)
{
  const GstVideoInfo *info = &fixture->info;
  guint64 pixels = (guint64)info->width * (guint64)info->height;

  for (guint i = first; i < first + n; i++) {
    guint8 value = (guint8)(11 * i + 1);
    GstBuffer *in = flat_frame(pool, info, value, i);
    GstMemory *memory = gst_buffer_peek_memory(in, 0);
    GstBuffer *out;

    test_fixture_push(fixture, in);
    out = test_tap_pop_buffer(fixture->tap);
    fail_unless(gst_buffer_peek_memory(out, 0) == memory);
    test_check_flat(out, value, pixels);
    gst_buffer_unref(out);
  }
}

void
test_cuda_start_stream(TestFixture *fixture, const gchar *caps)
{
  test_set_state(fixture->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str(fixture->harness, caps);
  test_video_info(&fixture->info, caps);
  test_fixture_drain(fixture);
  test_tap_clear(fixture->tap);
}
