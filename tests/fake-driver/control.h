/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What every function of the fake driver begins with. */

#pragma once

#include <cuda.h>

#define PUBLIC __attribute__((visibility("default")))

/* Counts the call, and says how it ends. */
CUresult fake_begin(void);

/* The same for calls that need a current context. */
CUresult fake_begin_in_context(void);

/* Returns from a function of the driver where something fails. */
#define CHECK(call)              \
  do {                           \
    CUresult checked = (call);   \
    if (checked != CUDA_SUCCESS) \
      return checked;            \
  } while (0)

/* A fault that a real driver would answer with anything at all. */
_Noreturn void fake_fault(const char *what);

/* Objects that went with their context although they could have been freed. */
void fake_lose(unsigned objects);

/* A context could not be made current; then nobody can free what is in it. */
void fake_excuse_losses(void);
