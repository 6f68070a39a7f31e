/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which calls fail, and what is left in the end: fake-driver.h. */

#include "control.h"

#include "context.h"
#include "objects.h"
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPABILITY 90 /* unless a test says otherwise */
#define MOST_NAMES 64

static atomic_uint calls;
static atomic_uint lost;
static atomic_int excused;
static atomic_int version = CUDA_VERSION;
static atomic_int capability = CAPABILITY;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  unsigned call;
  int code;
  int ever;
  const char *function;
  int function_code;
  const char *failed[MOST_NAMES]; /* up to a NULL; each once */
} faults;                         /* guarded by the lock */

/* The device works on memory while it has this for reading. */
static pthread_rwlock_t plug = PTHREAD_RWLOCK_INITIALIZER;
static int unplugged; /* guarded by plug */

PUBLIC void fake_driver_fail(unsigned call, int code, int ever);
PUBLIC void fake_driver_fail_function(const char *name, int code);
PUBLIC void fake_driver_unplug(int code);
PUBLIC int fake_driver_failed(const char *name);
PUBLIC unsigned fake_driver_calls(void);
PUBLIC void fake_driver_delay(unsigned microseconds);
PUBLIC unsigned fake_driver_objects(void);
PUBLIC void fake_driver_pose(int as_version, int as_capability);

__attribute__((constructor)) static void
read_environment(void)
{
  const char *delay = getenv("FAKE_DRIVER_DELAY");

  if (delay)
    fake_stream_set_delay((unsigned)strtoul(delay, NULL, 10));
}

static void
set_unplugged(int value)
{
  pthread_rwlock_wrlock(&plug);
  unplugged = value;
  pthread_rwlock_unlock(&plug);
}

void
fake_driver_fail(unsigned call, int code, int ever)
{
  set_unplugged(0);
  pthread_mutex_lock(&lock);
  memset(&faults, 0, sizeof(faults));
  faults.call = call;
  faults.code = code;
  faults.ever = ever;
  atomic_store(&calls, 0);
  atomic_store(&lost, 0);
  atomic_store(&excused, 0);
  pthread_mutex_unlock(&lock);
}

void
fake_driver_unplug(int code)
{
  fake_driver_fail(1, code, 1);
  set_unplugged(1);
}

int
fake_work_begin(void)
{
  pthread_rwlock_rdlock(&plug);
  if (!unplugged)
    return 1;
  pthread_rwlock_unlock(&plug);
  return 0;
}

void
fake_work_end(void)
{
  pthread_rwlock_unlock(&plug);
}

void
fake_driver_fail_function(const char *name, int code)
{
  pthread_mutex_lock(&lock);
  faults.function = name;
  faults.function_code = code;
  pthread_mutex_unlock(&lock);
}

/* Whether these name the same function, in whatever version. */
static int
are_same(const char *name, const char *other)
{
  size_t length = strcspn(name, "_");

  return strcspn(other, "_") == length && strncmp(name, other, length) == 0;
}

/* Called with the lock. The place of the name, or the one after the last. */
static const char **
find_failed(const char *name)
{
  const char **place = faults.failed;
  const char **last = &faults.failed[MOST_NAMES - 1];

  while (place < last && *place && !are_same(*place, name))
    place++;
  return place;
}

int
fake_driver_failed(const char *name)
{
  int failed;

  pthread_mutex_lock(&lock);
  failed = *find_failed(name) != NULL;
  pthread_mutex_unlock(&lock);
  return failed;
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

void
fake_driver_pose(int as_version, int as_capability)
{
  atomic_store(&version, as_version ? as_version : CUDA_VERSION);
  atomic_store(&capability, as_capability ? as_capability : CAPABILITY);
}

int
fake_version(void)
{
  return atomic_load(&version);
}

int
fake_capability(void)
{
  return atomic_load(&capability);
}

/* Called with the lock. */
static int
code_for(const char *name, unsigned call)
{
  if (faults.function && are_same(faults.function, name))
    return faults.function_code;
  return faults.call &&
                 (call == faults.call || (call > faults.call && faults.ever))
             ? faults.code
             : CUDA_SUCCESS;
}

CUresult
fake_begin_call(const char *name)
{
  int code;

  pthread_mutex_lock(&lock);
  code = code_for(name, atomic_fetch_add(&calls, 1) + 1);
  if (code != CUDA_SUCCESS)
    *find_failed(name) = name;
  pthread_mutex_unlock(&lock);
  return (CUresult)code;
}

CUresult
fake_begin_call_in_context(const char *name)
{
  CUresult result = fake_begin_call(name);

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
