/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the fake driver has given out. */

#pragma once

#include <cuda.h>

typedef enum {
  FAKE_STREAM,
  FAKE_EVENT,
  FAKE_MODULE,
  FAKE_DEVICE_MEMORY,
  FAKE_HOST_MEMORY,
  FAKE_REGISTERED_MEMORY,
} FakeKind;

typedef void (*FakeFree)(void *object);

/* Of the current context. `size` is 0 for what is no memory. The object is
 * freed where this fails; NULL is no memory either. */
CUresult fake_object_add(FakeKind kind, void *object, size_t size,
                         FakeFree release);

/* Frees it. Returns 0 if there is no such object. */
int fake_object_remove(FakeKind kind, void *object);

/* The same for a call that frees, by its name: whose object it must be, and in
 * whose context. */
CUresult fake_object_release(FakeKind kind, void *object, const char *call);

/* Whether it is there and of the current context. */
CUresult fake_object_check(FakeKind kind, const void *object);

/* Frees all of a context, whose streams are idle, and returns how many there
 * were. */
unsigned fake_object_remove_all(CUcontext context);

unsigned fake_object_count(void);

typedef struct {
  FakeKind kind;
  CUcontext context;
  char *start;
  size_t size;
} FakeMemory;

/* The memory that has all these bytes; 0 where there is none. */
int fake_memory_find(const void *start, size_t size, FakeMemory *memory);

/* Whether the device can work on these bytes in the current context. With
 * unified addressing host memory belongs to every context. */
CUresult fake_memory_check(const void *start, size_t size);

/* Registers host memory, unless some of it is known already: whole pages are
 * pinned. */
CUresult fake_memory_register(void *start, size_t size);
