/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "objects.h"

#include "context.h"
#include "control.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Object {
  struct Object *next;
  FakeKind kind;
  CUcontext context;
  void *object;
  size_t size;
  FakeFree release;
} Object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Object *objects; /* guarded by the lock */

static void
append(Object *entry)
{
  Object **link = &objects;

  while (*link)
    link = &(*link)->next;
  *link = entry;
}

static Object *
object_new(FakeKind kind, void *object, size_t size, FakeFree release)
{
  Object *entry = calloc(1, sizeof(*entry));

  if (!entry)
    return NULL;
  entry->kind = kind;
  entry->context = fake_context_current();
  entry->object = object;
  entry->size = size;
  entry->release = release;
  return entry;
}

CUresult
fake_object_add(FakeKind kind, void *object, size_t size, FakeFree release)
{
  Object *entry;

  if (!object)
    return CUDA_ERROR_OUT_OF_MEMORY;
  entry = object_new(kind, object, size, release);
  if (!entry) {
    release(object);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  pthread_mutex_lock(&lock);
  append(entry);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static Object **
find(FakeKind kind, const void *object)
{
  Object **link = &objects;

  while (*link && ((*link)->kind != kind || (*link)->object != object))
    link = &(*link)->next;
  return link;
}

static Object *
take(Object **link)
{
  Object *entry = *link;

  if (entry)
    *link = entry->next;
  return entry;
}

static void
release(Object *entry)
{
  if (entry->release)
    entry->release(entry->object);
  free(entry);
}

int
fake_object_remove(FakeKind kind, void *object)
{
  Object *entry;

  pthread_mutex_lock(&lock);
  entry = take(find(kind, object));
  pthread_mutex_unlock(&lock);
  if (entry)
    release(entry);
  return entry != NULL;
}

CUresult
fake_object_check(FakeKind kind, const void *object)
{
  CUresult result = CUDA_ERROR_INVALID_HANDLE;
  const Object *entry;

  pthread_mutex_lock(&lock);
  entry = *find(kind, object);
  if (entry)
    result = entry->context == fake_context_current()
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult
fake_object_release(FakeKind kind, void *object, const char *call)
{
  CUresult result = fake_object_check(kind, object);

  if (!fake_object_remove(kind, object))
    fake_fault("what is to be freed is not there");
  /* As above: of any context. */
  if (kind == FAKE_HOST_MEMORY)
    result = CUDA_SUCCESS;
  CHECK(fake_begin_call_in_context(call));
  return result;
}

static Object *
take_of(CUcontext context)
{
  Object **link = &objects;
  Object *entry;

  pthread_mutex_lock(&lock);
  while (*link && (*link)->context != context)
    link = &(*link)->next;
  entry = take(link);
  pthread_mutex_unlock(&lock);
  return entry;
}

unsigned
fake_object_remove_all(CUcontext context)
{
  unsigned n = 0;
  Object *entry;

  for (; (entry = take_of(context)); n++)
    release(entry);
  return n;
}

unsigned
fake_object_count(void)
{
  unsigned n = 0;

  pthread_mutex_lock(&lock);
  for (Object *entry = objects; entry; entry = entry->next)
    n++;
  pthread_mutex_unlock(&lock);
  return n;
}

int
fake_memory_find(const void *start, size_t size, FakeMemory *memory)
{
  uintptr_t at = (uintptr_t)start;
  const Object *entry;

  pthread_mutex_lock(&lock);
  for (entry = objects; entry; entry = entry->next)
    if (at >= (uintptr_t)entry->object &&
        at - (uintptr_t)entry->object < entry->size &&
        size <= entry->size - (at - (uintptr_t)entry->object))
      break;
  if (entry)
    *memory =
        (FakeMemory){entry->kind, entry->context, entry->object, entry->size};
  pthread_mutex_unlock(&lock);
  return entry != NULL;
}

CUresult
fake_memory_check(const void *start, size_t size)
{
  FakeMemory memory;

  if (!fake_memory_find(start, size, &memory))
    return CUDA_ERROR_INVALID_VALUE;
  return memory.kind != FAKE_DEVICE_MEMORY ||
                 memory.context == fake_context_current()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_CONTEXT;
}

/* Other memory of the driver shares its pages with the program's. */
static int
overlap(const Object *entry, uintptr_t start, size_t size)
{
  uintptr_t page =
      entry->kind == FAKE_REGISTERED_MEMORY ? (uintptr_t)getpagesize() : 1;
  uintptr_t first = (uintptr_t)entry->object;

  return start / page <= (first + entry->size - 1) / page &&
         first / page <= (start + size - 1) / page;
}

CUresult
fake_memory_register(void *start, size_t size)
{
  Object *made = object_new(FAKE_REGISTERED_MEMORY, start, size, NULL);
  const Object *entry;

  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  for (entry = objects; entry; entry = entry->next)
    if (entry->size > 0 && overlap(entry, (uintptr_t)start, size))
      break;
  if (!entry)
    append(made);
  pthread_mutex_unlock(&lock);
  if (!entry)
    return CUDA_SUCCESS;
  free(made);
  return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
