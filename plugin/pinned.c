/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pinned.h"

#include "gstgpuhistogram-private.h"

#define MEMORY_TYPE "GpuHistogramMemory"

/* Of one element. Pinned memory is taken from the rest of the system. */
#define MOST_BYTES ((guint64)2 << 30)

typedef struct {
  GstMemory parent;
  guint8 *base; /* (nullable): what is to be freed */
  gsize base_size;
  guint8 *data; /* aligned */
  gboolean pinned;
} PinnedMemory;

/* ---- The allocator ---- */

G_DEFINE_TYPE(GpuHistogramAllocator, gpu_histogram_allocator,
              GST_TYPE_ALLOCATOR)

static void
say_short_of_memory(GpuHistogramAllocator *self, const GhError *error)
{
  gboolean first;

  GST_OBJECT_LOCK(self);
  first = !self->short_of_memory;
  self->short_of_memory = TRUE;
  GST_OBJECT_UNLOCK(self);
  if (first)
    GST_INFO_OBJECT(self, "upstream gets ordinary memory as well: %s",
                    error->text);
}

/* Changes the bytes that are pinned; FALSE where these would be too many. */
static gboolean
account(GpuHistogramAllocator *self, gint64 bytes)
{
  gboolean fits;

  GST_OBJECT_LOCK(self);
  fits = bytes < 0 || self->bytes_pinned + (guint64)bytes <= MOST_BYTES;
  if (fits)
    self->bytes_pinned += (guint64)bytes;
  GST_OBJECT_UNLOCK(self);
  return fits;
}

static gboolean
get_base(GpuHistogramAllocator *self, PinnedMemory *memory, gsize size)
{
  GhError error = {"the limit is reached"};

  if (account(self, (gint64)size)) {
    memory->base = gh_pinned_alloc(self->pinned, size, &error);
    memory->pinned = memory->base != NULL;
    memory->base_size = size;
    if (memory->pinned)
      return TRUE;
    account(self, -(gint64)size);
  }
  say_short_of_memory(self, &error);
  memory->base = g_try_malloc(size);
  return memory->base != NULL;
}

static GstMemory *
allocator_alloc(GstAllocator *allocator, gsize size,
                GstAllocationParams *params)
{
  PinnedMemory *memory = g_new0(PinnedMemory, 1);
  gsize align = params->align | gst_memory_alignment;
  gsize max = size + params->prefix + params->padding;

  if (!get_base(GPU_HISTOGRAM_ALLOCATOR(allocator), memory, max + align)) {
    g_free(memory);
    return NULL;
  }
  memory->data = memory->base + (-(guintptr)memory->base & align);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset(memory->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset(memory->data + params->prefix + size, 0, params->padding);
  gst_memory_init(GST_MEMORY_CAST(memory), params->flags, allocator, NULL, max,
                  align, params->prefix, size);
  return GST_MEMORY_CAST(memory);
}

static void
allocator_free(GstAllocator *allocator, GstMemory *parent)
{
  GpuHistogramAllocator *self = GPU_HISTOGRAM_ALLOCATOR(allocator);
  PinnedMemory *memory = (PinnedMemory *)parent;

  if (memory->pinned && memory->base) {
    gh_pinned_free(self->pinned, memory->base);
    account(self, -(gint64)memory->base_size);
  } else {
    g_free(memory->base);
  }
  g_free(memory);
}

static gpointer
map(GstMemory *memory, gsize size, GstMapFlags flags)
{
  return ((PinnedMemory *)memory)->data;
}

static void
unmap(GstMemory *memory)
{
}

/* A part of it, which holds the whole. */
static GstMemory *
share(GstMemory *memory, gssize offset, gssize size)
{
  PinnedMemory *whole = (PinnedMemory *)memory;
  PinnedMemory *part = g_new0(PinnedMemory, 1);
  GstMemory *parent = memory->parent ? memory->parent : memory;

  part->data = whole->data;
  part->pinned = whole->pinned;
  if (size == -1)
    size = (gssize)memory->size - offset;
  gst_memory_init(GST_MEMORY_CAST(part),
                  GST_MINI_OBJECT_FLAGS(parent) |
                      GST_MINI_OBJECT_FLAG_LOCK_READONLY,
                  memory->allocator, parent, memory->maxsize, memory->align,
                  memory->offset + (gsize)offset, (gsize)size);
  return GST_MEMORY_CAST(part);
}

static void
allocator_finalize(GObject *object)
{
  gh_pinned_close(&GPU_HISTOGRAM_ALLOCATOR(object)->pinned);
  G_OBJECT_CLASS(gpu_histogram_allocator_parent_class)->finalize(object);
}

static void
gpu_histogram_allocator_class_init(GpuHistogramAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS(klass);

  G_OBJECT_CLASS(klass)->finalize = allocator_finalize;
  allocator_class->alloc = allocator_alloc;
  allocator_class->free = allocator_free;
}

static void
gpu_histogram_allocator_init(GpuHistogramAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR(self);

  allocator->mem_type = MEMORY_TYPE;
  allocator->mem_map = map;
  allocator->mem_unmap = unmap;
  allocator->mem_share = share;
}

GpuHistogramAllocator *
gpu_histogram_allocator_new(gint device_id, GhError *error)
{
  GpuHistogramAllocator *self;
  GhPinned *pinned;

  if (gh_pinned_open(&pinned, device_id, error) != GH_OK)
    return NULL;
  self = g_object_new(GPU_HISTOGRAM_TYPE_ALLOCATOR, NULL);
  self->pinned = pinned;
  return gst_object_ref_sink(self);
}

gboolean
gpu_histogram_memory_is_pinned(GstMemory *memory)
{
  return gst_memory_is_type(memory, MEMORY_TYPE) &&
         ((PinnedMemory *)memory)->pinned;
}

/* ---- The pool ---- */

typedef struct {
  GstVideoBufferPool parent;
  GpuHistogramAllocator *allocator;
} GpuHistogramPool;

typedef GstVideoBufferPoolClass GpuHistogramPoolClass;

static GType gpu_histogram_pool_get_type(void);
G_DEFINE_TYPE(GpuHistogramPool, gpu_histogram_pool, GST_TYPE_VIDEO_BUFFER_POOL)

/* Many who configure a pool put in the allocator that they would have taken
 * without one. */
static gboolean
pool_set_config(GstBufferPool *pool, GstStructure *config)
{
  GpuHistogramPool *self = (GpuHistogramPool *)pool;
  GstAllocationParams params;

  if (!gst_buffer_pool_config_get_allocator(config, NULL, &params))
    gst_allocation_params_init(&params);
  gst_buffer_pool_config_set_allocator(config, GST_ALLOCATOR(self->allocator),
                                       &params);
  return GST_BUFFER_POOL_CLASS(gpu_histogram_pool_parent_class)
      ->set_config(pool, config);
}

static void
pool_finalize(GObject *object)
{
  gst_clear_object(&((GpuHistogramPool *)object)->allocator);
  G_OBJECT_CLASS(gpu_histogram_pool_parent_class)->finalize(object);
}

static void
gpu_histogram_pool_class_init(GpuHistogramPoolClass *klass)
{
  G_OBJECT_CLASS(klass)->finalize = pool_finalize;
  GST_BUFFER_POOL_CLASS(klass)->set_config = pool_set_config;
}

static void
gpu_histogram_pool_init(GpuHistogramPool *self)
{
}

GstBufferPool *
gpu_histogram_pool_new(GpuHistogramAllocator *allocator)
{
  GpuHistogramPool *self = g_object_new(gpu_histogram_pool_get_type(), NULL);

  self->allocator = gst_object_ref(allocator);
  return gst_object_ref_sink(GST_BUFFER_POOL(self));
}
