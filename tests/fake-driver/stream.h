/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams and events of the fake driver. */

#pragma once

#include <cuda.h>

/* One operation: run(data) on the stream's thread, in its turn. */
typedef void (*FakeRun)(void *data);

CUstream fake_stream_new(void);

/* Waits until all operations are done, then ends the thread. */
void fake_stream_free(CUstream stream);
void fake_stream_wait(CUstream stream);

/* Copies `size` bytes of data, which the operation gets; 0 when there is no
 * memory. */
int fake_stream_push(CUstream stream, FakeRun run, const void *data,
                     size_t size);

void fake_stream_set_delay(unsigned microseconds);

CUevent fake_event_new(void);
void fake_event_free(CUevent event);
int fake_event_record(CUevent event, CUstream stream);
int fake_event_is_done(CUevent event);
void fake_event_wait(CUevent event);

/* Nanoseconds, of events that are done. */
double fake_event_time(CUevent event);
