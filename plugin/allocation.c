/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What upstream is told about buffers: how many, and of which memory. */

#include "cudamemory.h"
#include "gstgpuhistogram-private.h"

/* (transfer full) (nullable): memory that the GPU reads by itself, for upstream
 * to put frames in. */
static GpuHistogramAllocator *
get_allocator(GstGpuHistogram *self, GstCaps *caps)
{
  GpuHistogramAllocator *allocator;

  if (!caps || gpu_histogram_cuda_has_feature(caps))
    return NULL;
  GST_OBJECT_LOCK(self);
  allocator = self->allocator ? gst_object_ref(self->allocator) : NULL;
  GST_OBJECT_UNLOCK(self);
  return allocator;
}

/* Ahead of all others, unless downstream wants its own. */
static void
offer_allocator(GstQuery *query, GpuHistogramAllocator *allocator)
{
  GstAllocator *first = NULL;
  GstAllocationParams params;

  if (gst_query_get_n_allocation_params(query) == 0) {
    gst_allocation_params_init(&params);
    gst_query_add_allocation_param(query, GST_ALLOCATOR(allocator), &params);
    return;
  }
  gst_query_parse_nth_allocation_param(query, 0, &first, &params);
  if (first)
    gst_object_unref(first);
  else
    gst_query_set_nth_allocation_param(query, 0, GST_ALLOCATOR(allocator),
                                       &params);
}

static GstBufferPool *
new_pool(GpuHistogramAllocator *allocator, GstCaps *caps, guint size, guint min)
{
  GstBufferPool *pool = gpu_histogram_pool_new(allocator);
  GstStructure *config = gst_buffer_pool_get_config(pool);

  gst_buffer_pool_config_set_params(config, caps, size, min, 0);
  if (gst_buffer_pool_set_config(pool, config))
    return pool;
  gst_object_unref(pool);
  return NULL;
}

/* Adds to the buffers of what downstream proposes, as the frames in flight and
 * the one being pushed stay away from their pool; and puts a pool of
 * @allocator where downstream has none. */
static void
complete_pool(GstQuery *query, guint i, GstCaps *caps, guint more,
              GpuHistogramAllocator *allocator)
{
  GstBufferPool *pool;
  guint size, min, max;

  gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
  min += more;
  if (max > 0)
    min = MIN(min, max);
  if (!pool && allocator && i == 0)
    pool = new_pool(allocator, caps, size, min);
  gst_query_set_nth_allocation_pool(query, i, pool, size, min, max);
  gst_clear_object(&pool);
}

static void
propose_pools(GstQuery *query, GstCaps *caps, guint more,
              GpuHistogramAllocator *allocator)
{
  GstVideoInfo info;

  if (gst_query_get_n_allocation_pools(query) == 0 && caps &&
      gst_video_info_from_caps(&info, caps))
    gst_query_add_allocation_pool(query, NULL, GST_VIDEO_INFO_SIZE(&info), 0,
                                  0);
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); i++)
    complete_pool(query, i, caps, more, allocator);
  if (allocator)
    offer_allocator(query, allocator);
}

/*
 * Frames go on as they came, so upstream may do what downstream understands,
 * and no more. But for cropping: unless what is left is counted, too, the whole
 * frame is, so what is to be cut off must be cut off before.
 */
gboolean
gst_gpu_histogram_propose_allocation(GstBaseTransform *trans, GstQuery *decide,
                                     GstQuery *query)
{
  GstGpuHistogram *self = GST_GPU_HISTOGRAM(trans);
  gboolean answered =
      gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(trans), query);
  GpuHistogramAllocator *allocator;
  guint depth, index;
  gboolean may_crop;
  GstCaps *caps;

  gst_query_parse_allocation(query, &caps, NULL);
  allocator = get_allocator(self, caps);
  /* Downstream need not want anything for itself. */
  if (!answered && !allocator)
    return FALSE;
  GST_OBJECT_LOCK(self);
  depth = self->settings.async_depth;
  may_crop = self->settings.regions.crop_meta;
  GST_OBJECT_UNLOCK(self);
  if (!may_crop && gst_query_find_allocation_meta(
                       query, GST_VIDEO_CROP_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta(query, index);
  propose_pools(query, caps, depth + 1, allocator);
  gst_clear_object(&allocator);
  return TRUE;
}
