/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in GStreamer's memory on the GPU. */

#pragma once

#include "testing.h"

#include <gst/cuda/gstcudacontext.h>

/* The first GPU's context, which the fixture makes and lets go of. It also
 * makes the library ready. */
extern GstCudaContext *test_cuda_context;
void test_cuda_add_fixture(TCase *tcase);

/* (transfer full): a pool of @n buffers in @context, started. The library
 * aborts where it does not know the format. */
GstBufferPool *test_cuda_pool_new(GstCudaContext *context, const gchar *caps,
                                  guint n);
void test_cuda_pool_free(GstBufferPool *pool);

/* (transfer full): a buffer with the times of frame @number. */
GstBuffer *test_cuda_take(GstBufferPool *pool, guint number);

/* (transfer full): the same, all of whose bytes on the host are noise. Only
 * what is within its rows goes from there to the GPU. */
GstBuffer *test_cuda_noise(GstBufferPool *pool);

/* Frames @first to @first + @n - 1 of the pool, each of another value on the
 * host and with 0xEE between the rows and in the other plane; each comes out in
 * its own memory, exact. */
void test_cuda_push_flat(TestFixture *fixture, GstBufferPool *pool, guint first,
                         guint n);

/* Starts an element that was made without caps. */
void test_cuda_start_stream(TestFixture *fixture, const gchar *caps);
