/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "context.h"

#include "control.h"
#include "objects.h"
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MOST_PUSHED 32

/* Those that were made stay for ever, for the threads that have destroyed ones
 * in their stacks. */
struct CUctx_st {
  CUcontext next;
  atomic_int alive;
};

static struct CUctx_st primary = {.alive = 1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext made; /* under the lock */

static _Thread_local CUcontext stack[MOST_PUSHED];
static _Thread_local unsigned depth;

static atomic_uint retained;
static atomic_uint alive; /* of those made */
static atomic_uint pushed;

CUcontext
fake_context_current(void)
{
  return depth > 0 ? stack[depth - 1] : NULL;
}

CUresult
fake_context_check(void)
{
  CUcontext context = fake_context_current();

  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  return atomic_load(&context->alive) ? CUDA_SUCCESS
                                      : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

unsigned
fake_context_count(void)
{
  return atomic_load(&retained) + atomic_load(&alive) + atomic_load(&pushed);
}

static CUresult
push(CUcontext context)
{
  if (depth == MOST_PUSHED)
    return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  atomic_fetch_add(&pushed, 1);
  return CUDA_SUCCESS;
}

static void
pop(void)
{
  depth--;
  atomic_fetch_sub(&pushed, 1);
}

static void
empty(CUcontext context)
{
  fake_stream_wait_all(context);
  fake_lose(fake_object_remove_all(context));
  fake_stream_end_default(context);
}

PUBLIC CUresult CUDAAPI
cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
  CHECK(fake_begin());
  *context = &primary;
  atomic_fetch_add(&retained, 1);
  return CUDA_SUCCESS;
}

PUBLIC CUresult CUDAAPI
cuDevicePrimaryCtxRelease(CUdevice device)
{
  if (atomic_load(&retained) == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (atomic_fetch_sub(&retained, 1) == 1)
    empty(&primary);
  return fake_begin();
}

/* Newer headers know other versions of this function alone. */
PUBLIC CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned flags,
                                       CUdevice device);

CUresult CUDAAPI
cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
  CUcontext self;

  CHECK(fake_begin());
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  self = calloc(1, sizeof(*self));
  if (!self)
    return CUDA_ERROR_OUT_OF_MEMORY;
  atomic_store(&self->alive, 1);
  pthread_mutex_lock(&lock);
  self->next = made;
  made = self;
  pthread_mutex_unlock(&lock);
  atomic_fetch_add(&alive, 1);
  *context = self;
  return push(self);
}

PUBLIC CUresult CUDAAPI
cuCtxDestroy(CUcontext context)
{
  if (context == &primary || !atomic_exchange(&context->alive, 0))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (fake_context_current() == context)
    pop();
  empty(context);
  atomic_fetch_sub(&alive, 1);
  return fake_begin();
}

PUBLIC CUresult CUDAAPI
cuCtxPushCurrent(CUcontext context)
{
  CUresult result = fake_begin();

  if (result != CUDA_SUCCESS) {
    fake_excuse_losses();
    return result;
  }
  if (!context || !atomic_load(&context->alive))
    return CUDA_ERROR_INVALID_CONTEXT;
  return push(context);
}

PUBLIC CUresult CUDAAPI
cuCtxPopCurrent(CUcontext *context)
{
  if (depth == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context)
    *context = fake_context_current();
  pop();
  return fake_begin();
}

PUBLIC CUresult CUDAAPI
cuCtxGetCurrent(CUcontext *context)
{
  CHECK(fake_begin());
  *context = fake_context_current();
  return CUDA_SUCCESS;
}

/* Newer headers give the plain name to a later version. */
#undef cuCtxGetDevice
PUBLIC CUresult CUDAAPI cuCtxGetDevice(CUdevice *device);

CUresult CUDAAPI
cuCtxGetDevice(CUdevice *device)
{
  CHECK(fake_begin_in_context());
  *device = 0;
  return CUDA_SUCCESS;
}

#undef cuCtxSynchronize
PUBLIC CUresult CUDAAPI cuCtxSynchronize(void);

CUresult CUDAAPI
cuCtxSynchronize(void)
{
  if (fake_context_check() == CUDA_SUCCESS)
    fake_stream_wait_all(fake_context_current());
  return fake_begin_in_context();
}
