/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Memory of others that comes again and again, such as the buffers of a
 * decoder's pool. What is known of a memory hangs on it, so it goes when the
 * memory goes, and the driver forgets the memory just before.
 */

#include "gstgpuhistogram-private.h"
#include "pinned.h"

/* By one element at a time. Locking pages takes them from the rest of the
 * system. */
#define MOST_MEMORIES 64
#define MOST_BYTES ((guint64)1 << 30)

/* Smaller ones are copied as quickly. */
#define LEAST_BYTES ((gsize)1 << 16)

/* At this sight a memory is registered. The second one may be a duplicate of
 * the same frame. */
#define SIGHTS 3

/* Other elements may see it more often than who saw it first, as long as that
 * one does not see it any more. */
#define STRANGERS 16

typedef enum { COPIED, REGISTERING, REGISTERED, HOPELESS } State;

typedef struct {
  State state;
  gconstpointer watcher; /* whose sights count */
  guint sights;
  guint strangers; /* sights of others since */

  /* Where it is registered; constant from then on. */
  GpuHistogramAllocator *allocator;
  guint8 *data;
  gsize size;
} Sight;

/* Guards what hangs on memories: elements in different branches of a pipeline
 * can see the same one. Not held while the driver works. */
static GMutex lock;

/* Kept, as each frame asks for it. */
static GQuark sight_quark(void);
G_DEFINE_QUARK(gpu_histogram_sight, sight)

/* Whether the bounds leave room; takes it. */
static gboolean
reserve(GpuHistogramAllocator *self, gsize size)
{
  gboolean room;

  GST_OBJECT_LOCK(self);
  room = self->n_registered < MOST_MEMORIES &&
         self->bytes_registered + size <= MOST_BYTES;
  if (room) {
    self->n_registered++;
    self->bytes_registered += size;
  }
  GST_OBJECT_UNLOCK(self);
  return room;
}

static void
release(GpuHistogramAllocator *self, gsize size)
{
  GST_OBJECT_LOCK(self);
  self->n_registered--;
  self->bytes_registered -= size;
  GST_OBJECT_UNLOCK(self);
}

/* The memory is about to be freed, so nobody else has it. */
static void
forget(gpointer data)
{
  Sight *sight = data;

  if (sight->state == REGISTERED) {
    gh_pinned_unregister(sight->allocator->pinned, sight->data);
    release(sight->allocator, sight->size);
    gst_object_unref(sight->allocator);
  }
  g_free(sight);
}

/* Memory that stays where it is from its making to its freeing, unlike that of
 * file descriptors, which is mapped anew each time, and that of V4L2, which can
 * stand for other memory each time. */
static gboolean
stays_in_place(GstMemory *memory)
{
  return !GST_MEMORY_IS_READONLY(memory) &&
         gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) &&
         memory->size >= LEAST_BYTES;
}

/* Called with the lock. Counts a sight, and whether it is the one to register
 * the memory at. */
static gboolean
see(GpuHistogramAllocator *self, Sight *sight)
{
  if (sight->watcher != self && sight->watcher &&
      ++sight->strangers < STRANGERS)
    return FALSE;
  if (sight->watcher != self)
    sight->sights = 0;
  sight->watcher = self;
  sight->strangers = 0;
  if (++sight->sights < SIGHTS || sight->state != COPIED)
    return FALSE;
  sight->state = REGISTERING;
  return TRUE;
}

/* Called with the lock. What is known of a memory. */
static Sight *
get_sight(GstMemory *whole)
{
  Sight *sight =
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(whole), sight_quark());

  if (!sight) {
    sight = g_new0(Sight, 1);
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(whole), sight_quark(), sight,
                              forget);
  }
  return sight;
}

/* Without the lock, by the one who found it to be time. */
static State
register_memory(GpuHistogramAllocator *self, GstMemory *whole, Sight *sight)
{
  GhError error = {""};
  GstMapInfo map;

  if (!reserve(self, whole->size))
    return COPIED;
  if (gst_memory_map(whole, &map, GST_MAP_READ)) {
    sight->data = map.data;
    sight->size = map.size;
    gst_memory_unmap(whole, &map);
    if (gh_pinned_register(self->pinned, sight->data, sight->size, &error)) {
      sight->allocator = gst_object_ref(self);
      return REGISTERED;
    }
    GST_INFO_OBJECT(self, "a memory of %" G_GSIZE_FORMAT " bytes is copied: %s",
                    sight->size, error.text);
  }
  release(self, whole->size);
  return HOPELESS;
}

gboolean
gpu_histogram_allocator_registers(GpuHistogramAllocator *self,
                                  GstMemory *memory, gconstpointer data,
                                  gsize size)
{
  GstMemory *whole = memory->parent ? memory->parent : memory;
  const guint8 *from = data;
  gboolean registered;
  Sight *sight;

  if (!stays_in_place(whole))
    return FALSE;
  g_mutex_lock(&lock);
  sight = get_sight(whole);
  if (see(self, sight)) {
    State state;

    g_mutex_unlock(&lock);
    state = register_memory(self, whole, sight);
    g_mutex_lock(&lock);
    sight->state = state;
  }
  registered = sight->state == REGISTERED && from >= sight->data &&
               from + size <= sight->data + sight->size;
  g_mutex_unlock(&lock);
  return registered;
}

guint64
gpu_histogram_allocator_get_registered(GpuHistogramAllocator *self)
{
  guint64 bytes;

  GST_OBJECT_LOCK(self);
  bytes = self->bytes_registered;
  GST_OBJECT_UNLOCK(self);
  return bytes;
}
