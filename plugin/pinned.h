/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Host memory that the GPU reads by itself, so that frames in it need no copy
 * on their way: an allocator of it and a pool of buffers (pinned.c), and the
 * registration of memory of others that comes again and again (registered.c).
 *
 * Memory may outlive the element and its engine: it holds on to the allocator,
 * and that to the driver.
 */

#pragma once

#include "host-memory.h"

#include <gst/video/gstvideopool.h>

struct _GpuHistogramAllocator {
  GstAllocator parent;

  GhPinned *pinned;

  /* Under the object lock. */
  gboolean short_of_memory; /* and it has been said */
  guint64 bytes_pinned;
  guint n_registered;
  guint64 bytes_registered;
};

#define GPU_HISTOGRAM_TYPE_ALLOCATOR gpu_histogram_allocator_get_type()
G_DECLARE_FINAL_TYPE(GpuHistogramAllocator, gpu_histogram_allocator,
                     GPU_HISTOGRAM, ALLOCATOR, GstAllocator)

/* Returns: (transfer full) (nullable): an allocator of memory for that device;
 *     %NULL with a cause. Its memory is ordinary memory where the driver gives
 *     none, as beyond a limit. */
GpuHistogramAllocator *gpu_histogram_allocator_new(gint device_id,
                                                   GhError *error);

/* Returns: (transfer full): a pool whose buffers are of @allocator, whatever
 *     else it is configured for. */
GstBufferPool *gpu_histogram_pool_new(GpuHistogramAllocator *allocator);

/* Whether @memory is of such an allocator, and no ordinary memory. */
gboolean gpu_histogram_memory_is_pinned(GstMemory *memory);

/*
 * Whether the @size bytes at @data, mapped from @memory, are registered with
 * the driver. That is done when a memory is seen for the third time, and undone
 * before it is freed; only with memory that is at the same place all its life,
 * is writable, and no more than some dozens of them. From any thread; takes up
 * to a few milliseconds at the third sight.
 */
gboolean gpu_histogram_allocator_registers(GpuHistogramAllocator *allocator,
                                           GstMemory *memory,
                                           gconstpointer data, gsize size);

/* Bytes of others' memory that are registered now. */
guint64
gpu_histogram_allocator_get_registered(GpuHistogramAllocator *allocator);
