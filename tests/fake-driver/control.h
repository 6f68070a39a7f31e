/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What every function of the fake driver begins with. */

#pragma once

#include <cuda.h>

#define PUBLIC __attribute__((visibility("default")))

/* Counts a call of the function of that name, and says how it ends. */
CUresult fake_begin_call(const char *name);

/* The same for calls that need a current context. */
CUresult fake_begin_call_in_context(const char *name);

/* Of the function that these stand in. */
#define fake_begin() fake_begin_call(__func__)
#define fake_begin_in_context() fake_begin_call_in_context(__func__)

/* Around what the device does with memory; 0 where there is no device any more
 * to do it. */
int fake_work_begin(void);
void fake_work_end(void);

/* What cuDriverGetVersion gives, and the compute capability, as 90 for 9.0. */
int fake_version(void);
int fake_capability(void);

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
