/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-pool.h"

guint
test_pool_many_frames(void)
{
  return test_repeats(g_getenv("FAKE_DRIVER_DELAY") ? 200 : 2000);
}

GstBufferPool *
test_pool_proposed(TestFixture *fixture, guint *min)
{
  GstCaps *caps = gst_pad_get_current_caps(fixture->harness->srcpad);
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  GstAllocationParams params = {0};
  GstBufferPool *pool = NULL;
  guint size;

  fail_unless(gst_pad_peer_query(fixture->harness->srcpad, query));
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, min, NULL);
  if (pool) {
    GstStructure *config = gst_buffer_pool_get_config(pool);

    /* Without an allocator, as many elements do. */
    gst_buffer_pool_config_set_params(config, caps, size, *min, *min);
    gst_buffer_pool_config_set_allocator(config, NULL, &params);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  }
  gst_query_unref(query);
  gst_caps_unref(caps);
  return pool;
}

GstBufferPool *
test_pool_ordinary(const GstVideoInfo *info, guint n)
{
  GstBufferPool *pool = gst_video_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(pool);
  GstCaps *caps = gst_video_info_to_caps(info);
  /* On pages of its own, as a driver registers no page twice. */
  GstAllocationParams params = {.align = 4095, .padding = 4096};

  gst_buffer_pool_config_set_allocator(config, NULL, &params);
  gst_buffer_pool_config_set_params(config, caps, (guint)info->size, n, n);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  gst_caps_unref(caps);
  return pool;
}

void
test_pool_free(GstBufferPool *pool)
{
  fail_unless(gst_buffer_pool_set_active(pool, FALSE));
  gst_object_unref(pool);
}

GstBuffer *
test_pool_frame(GstBufferPool *pool, guint8 value, guint number)
{
  GstBuffer *buffer = NULL;

  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL),
                         GST_FLOW_OK);
  gst_buffer_memset(buffer, 0, value, gst_buffer_get_size(buffer));
  test_stamp(buffer, number);
  return buffer;
}

void
test_pool_push(TestFixture *fixture, GstBufferPool *pool, guint n)
{
  guint64 pixels = (guint64)fixture->info.width * fixture->info.height;

  for (guint i = 0; i < n; i++) {
    guint8 value = (guint8)(7 * i + 3);
    GstBuffer *out;

    test_fixture_push(fixture, test_pool_frame(pool, value, i));
    out = test_tap_pop_buffer(fixture->tap);
    test_check_flat(out, value, pixels);
    gst_buffer_unref(out);
  }
  /* Who pushed the last one may still hold it. */
  test_fixture_drain(fixture);
}
