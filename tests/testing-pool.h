/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames from pools: the one that the element proposes, and an ordinary one. */

#pragma once

#include "testing.h"

/* How many frames a race is given to show; the fake driver counts as slowly as
 * a plain loop does. */
guint test_pool_many_frames(void);

/* (transfer full) (nullable): the pool that the element proposes, started, and
 * the least number of its buffers, which is also the most. */
GstBufferPool *test_pool_proposed(TestFixture *fixture, guint *min);

/* (transfer full): a pool of @n buffers of ordinary memory, started. */
GstBufferPool *test_pool_ordinary(const GstVideoInfo *info, guint n);
void test_pool_free(GstBufferPool *pool);

/* (transfer full): a buffer filled with @value and the times of frame @number;
 * waits for one to come back where the pool has none. */
GstBuffer *test_pool_frame(GstBufferPool *pool, guint8 value, guint number);

/* Pushes @n frames from the pool, each of another value, and checks each. */
void test_pool_push(TestFixture *fixture, GstBufferPool *pool, guint n);
