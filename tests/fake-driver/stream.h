/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams and events of the fake driver. */

#pragma once

#include <cuda.h>

/* One operation: run(data) on the stream's thread, in its turn. */
typedef void (*FakeRun)(void *data);

/* One that blocks keeps the order of its context's default stream: both put
 * their operations in the same queue. */
CUstream fake_stream_new(CUcontext context, int blocking);

/* Made when it is first asked for; NULL when there is no memory. */
CUstream fake_stream_default(CUcontext context);

/* Replaces the names of the default stream by the stream, and says whether
 * other streams exist in the current context. */
CUresult fake_stream_find(CUstream *stream);

/* Waits until all operations are done, then ends the thread. */
void fake_stream_free(CUstream stream);
void fake_stream_end_default(CUcontext context);
void fake_stream_wait(CUstream stream);
void fake_stream_wait_default(CUcontext context);
void fake_stream_wait_all(CUcontext context);

/* Copies `size` bytes of data, which the operation gets; 0 when there is no
 * memory. */
int fake_stream_push(CUstream stream, FakeRun run, const void *data,
                     size_t size);

void fake_stream_set_delay(unsigned microseconds);

CUevent fake_event_new(void);

/* It goes when no stream needs it any more. */
void fake_event_free(CUevent event);
int fake_event_record(CUevent event, CUstream stream);
/* What follows on the stream waits for what is recorded by now. */
int fake_stream_wait_event(CUstream stream, CUevent event);

int fake_event_is_done(CUevent event);

/* Nanoseconds, of events that are done. */
double fake_event_time(CUevent event);
