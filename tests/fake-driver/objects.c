/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "objects.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Object {
  struct Object *next;
  void *object;
  FakeFree release;
} Object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Object *objects; /* the oldest first */
static Object **newest = &objects;

int
fake_object_add(void *object, FakeFree release)
{
  Object *entry = malloc(sizeof(*entry));

  if (!entry) {
    release(object);
    return 0;
  }
  entry->object = object;
  entry->release = release;
  entry->next = NULL;
  pthread_mutex_lock(&lock);
  *newest = entry;
  newest = &entry->next;
  pthread_mutex_unlock(&lock);
  return 1;
}

static Object *
take(const void *object)
{
  Object **link = &objects;
  Object *entry;

  pthread_mutex_lock(&lock);
  while (*link && object && (*link)->object != object)
    link = &(*link)->next;
  entry = *link;
  if (entry) {
    *link = entry->next;
    if (!*link)
      newest = link;
  }
  pthread_mutex_unlock(&lock);
  return entry;
}

/* Freeing what is not there is a fault of the caller. */
void
fake_object_remove(void *object)
{
  Object *entry = take(object);

  if (!entry)
    abort();
  entry->release(entry->object);
  free(entry);
}

unsigned
fake_object_remove_all(void)
{
  unsigned n = 0;
  Object *entry;

  for (; (entry = take(NULL)); n++) {
    entry->release(entry->object);
    free(entry);
  }
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
