/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fake driver's calls for streams and events. */

#include "context.h"
#include "control.h"
#include "objects.h"
#include "stream.h"

/* The header gives these names to later versions of the functions. */
#undef cuStreamDestroy
#undef cuEventElapsedTime

static void
free_stream(void *stream)
{
  fake_stream_free(stream);
}

static void
free_event(void *event)
{
  fake_event_free(event);
}

CUresult
fake_stream_find(CUstream *stream)
{
  CUcontext context = fake_context_current();

  if (*stream && *stream != CU_STREAM_LEGACY && *stream != CU_STREAM_PER_THREAD)
    return fake_object_check(FAKE_STREAM, *stream);
  *stream = fake_stream_default(context);
  return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuStreamCreate(CUstream *stream, unsigned flags)
{
  CHECK(fake_begin_in_context());
  *stream = fake_stream_new(fake_context_current(),
                            !(flags & CU_STREAM_NON_BLOCKING));
  return fake_object_add(FAKE_STREAM, *stream, 0, free_stream);
}

/* The name from before _v2 is the one that libgstcuda asks for. */
PUBLIC CUresult CUDAAPI cuStreamDestroy(CUstream stream);
PUBLIC CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream);

CUresult CUDAAPI
cuStreamDestroy_v2(CUstream stream)
{
  return fake_object_release(FAKE_STREAM, stream, __func__);
}

CUresult CUDAAPI
cuStreamDestroy(CUstream stream)
{
  return cuStreamDestroy_v2(stream);
}

/* Waits even where it fails: what follows may be the end of the memory. */
PUBLIC CUresult CUDAAPI
cuStreamSynchronize(CUstream stream)
{
  CUresult found = fake_context_check();

  if (found == CUDA_SUCCESS)
    found = fake_stream_find(&stream);
  if (found == CUDA_SUCCESS)
    fake_stream_wait(stream);
  CHECK(fake_begin_in_context());
  return found;
}

/* The event may be another context's. */
PUBLIC CUresult CUDAAPI
cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_stream_find(&stream));
  if (fake_object_check(FAKE_EVENT, event) == CUDA_ERROR_INVALID_HANDLE)
    return CUDA_ERROR_INVALID_HANDLE;
  return fake_stream_wait_event(stream, event) ? CUDA_SUCCESS
                                               : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuEventCreate(CUevent *event, unsigned flags)
{
  CHECK(fake_begin_in_context());
  *event = fake_event_new();
  return fake_object_add(FAKE_EVENT, *event, 0, free_event);
}

PUBLIC CUresult CUDAAPI
cuEventDestroy(CUevent event)
{
  return fake_object_release(FAKE_EVENT, event, __func__);
}

PUBLIC CUresult CUDAAPI
cuEventRecord(CUevent event, CUstream stream)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_object_check(FAKE_EVENT, event));
  CHECK(fake_stream_find(&stream));
  return fake_event_record(event, stream) ? CUDA_SUCCESS
                                          : CUDA_ERROR_OUT_OF_MEMORY;
}

PUBLIC CUresult CUDAAPI
cuEventQuery(CUevent event)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_object_check(FAKE_EVENT, event));
  return fake_event_is_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

PUBLIC CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start,
                                           CUevent end);

CUresult CUDAAPI
cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
  CHECK(fake_begin_in_context());
  CHECK(fake_object_check(FAKE_EVENT, start));
  CHECK(fake_object_check(FAKE_EVENT, end));
  *milliseconds =
      (float)((fake_event_time(end) - fake_event_time(start)) * 1e-6);
  return CUDA_SUCCESS;
}
