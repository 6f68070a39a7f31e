/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Contexts of the fake driver, and each thread's stack of them. */

#pragma once

#include <cuda.h>

/* The calling thread's, or NULL. */
CUcontext fake_context_current(void);

/* Whether the calling thread has one that still exists. */
CUresult fake_context_check(void);

/* Contexts that were retained or made and are still there, and places in the
 * threads' stacks that are still taken. */
unsigned fake_context_count(void);
