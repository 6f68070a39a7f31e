/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which calls fail, and what is left in the end: fake-driver.h. */

#include "control.h"

#include "context.h"
#include "objects.h"
#include "stream.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_uint calls;
static atomic_uint lost;
static atomic_int excused;
static atomic_uint fail_call;
static atomic_int fail_code;
static atomic_int fail_ever;

PUBLIC void fake_driver_fail(unsigned call, int code, int ever);
PUBLIC unsigned fake_driver_calls(void);
PUBLIC void fake_driver_delay(unsigned microseconds);
PUBLIC unsigned fake_driver_objects(void);

__attribute__((constructor)) static void
read_environment(void)
{
  const char *delay = getenv("FAKE_DRIVER_DELAY");

  if (delay)
    fake_stream_set_delay((unsigned)strtoul(delay, NULL, 10));
}

void
fake_driver_fail(unsigned call, int code, int ever)
{
  atomic_store(&fail_code, code);
  atomic_store(&fail_ever, ever);
  atomic_store(&calls, 0);
  atomic_store(&lost, 0);
  atomic_store(&excused, 0);
  atomic_store(&fail_call, call);
}

unsigned
fake_driver_calls(void)
{
  return atomic_load(&calls);
}

void
fake_driver_delay(unsigned microseconds)
{
  fake_stream_set_delay(microseconds);
}

unsigned
fake_driver_objects(void)
{
  return fake_object_count() + fake_context_count() + atomic_load(&lost);
}

CUresult
fake_begin(void)
{
  unsigned call = atomic_fetch_add(&calls, 1) + 1;
  unsigned failing = atomic_load(&fail_call);

  if (failing &&
      (call == failing || (call > failing && atomic_load(&fail_ever))))
    return (CUresult)atomic_load(&fail_code);
  return CUDA_SUCCESS;
}

CUresult
fake_begin_in_context(void)
{
  CUresult result = fake_begin();

  return result == CUDA_SUCCESS ? fake_context_check() : result;
}

void
fake_fault(const char *what)
{
  fprintf(stderr, "fake driver: %s\n", what);
  abort();
}

void
fake_lose(unsigned objects)
{
  if (!atomic_load(&excused))
    atomic_fetch_add(&lost, objects);
}

void
fake_excuse_losses(void)
{
  atomic_store(&excused, 1);
}
