/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines where the system gives no memory, or no thread: each request
 * fails once. The linker has the engine call the functions below. */

#include "host-memory.h"
#include "testing-engine.h"

#include <errno.h>
#include <pthread.h>

#define THREADS 3
#define BINS 256

/* Of one thread alone, as the engine's workers allocate nothing. */
static struct {
  guint made;
  guint fails; /* number of the request that fails; 0 for none */
  gint held;   /* what was given and is not free yet */
} requests;

/* Whether this request is to fail. */
static gboolean
request(void)
{
  requests.made++;
  return requests.made == requests.fails;
}

static void *
hold(void *memory)
{
  requests.held += memory != NULL;
  return memory;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *
__wrap_malloc(size_t size)
{
  return request() ? NULL : hold(__real_malloc(size));
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *
__wrap_calloc(size_t n, size_t size)
{
  return request() ? NULL : hold(__real_calloc(n, size));
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return request() ? NULL : hold(__real_aligned_alloc(alignment, size));
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *
__wrap_realloc(void *memory, size_t size)
{
  if (request())
    return NULL;
  return memory ? __real_realloc(memory, size) : hold(__real_malloc(size));
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void
__wrap_free(void *memory)
{
  requests.held -= memory != NULL;
  __real_free(memory);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *data);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*start)(void *), void *data)
{
  return request() ? EAGAIN
                   : __real_pthread_create(thread, attributes, start, data);
}

static void
fail_at(guint number)
{
  requests.made = 0;
  requests.fails = number;
}

/* Whether request @number was made, and failed; from here on none does. */
static gboolean
has_failed(guint number)
{
  gboolean failed = requests.made >= number;

  fail_at(0);
  return failed;
}

static gboolean
check_open(guint number)
{
  const GhSettings settings = {2, BINS, THREADS, -1};
  GhError error = {""};
  gint held = requests.held;
  GhEngine *engine;
  GhStatus status;

  fail_at(number);
  status = gh_engine_open(&engine, test_engine_kind(), &settings, &error);
  if (!has_failed(number)) {
    fail_unless_equals_int(status, GH_OK);
    gh_engine_close(&engine);
    fail_unless_equals_int(requests.held, held);
    return FALSE;
  }
  fail_unless_equals_int(status, GH_FAILED);
  fail_unless(engine == NULL);
  fail_unless(error.text[0] != '\0');
  fail_unless_equals_int(requests.held, held);
  return TRUE;
}

GST_START_TEST(test_opening)
{
  guint number = 1;

  while (check_open(number))
    number++;
  fail_unless(number > 2);
}
GST_END_TEST

/* A frame that needs more than any before: more bytes, cells, rows. Then the
 * same once more, or after one @between. */
static gboolean
check_submit(const GhFrame *frame, gboolean between, guint number)
{
  const GhFrame small = {.samples = frame->samples,
                         .stride = 8,
                         .width = 8,
                         .height = 4,
                         .rows = true};
  GhEngine *engine = test_engine_open(1, BINS, THREADS);
  GhError error = {""};
  gboolean failed;
  GhStatus status;

  test_engine_measure(engine, &small, BINS);
  fail_at(number);
  status = gh_engine_submit(engine, frame, &error);
  failed = has_failed(number);
  /* It can do without threads that only help to copy. */
  fail_unless(failed || status == GH_OK, "%s", error.text);
  fail_unless(status == GH_OK ||
              (status == GH_FAILED && error.text[0] != '\0'));
  /* What it could not count is not among what it gives. */
  if (status == GH_OK)
    gh_engine_flush(engine);
  if (between)
    test_engine_measure(engine, &small, BINS);
  test_engine_measure(engine, frame, BINS);
  gh_engine_close(&engine);
  return failed;
}

GST_START_TEST(test_submitting)
{
  const guint width = 1200, height = 900;
  GhRect regions[] = {{0, 0, 600, 450}, {300, 200, 600, 450}};
  guint8 *samples = g_malloc(width * height);
  const GhFrame frame = {.samples = samples,
                         .stride = width,
                         .width = width,
                         .height = height,
                         .regions = regions,
                         .n_regions = G_N_ELEMENTS(regions),
                         .rows = true};
  gint held = requests.held;
  guint number = 1;

  for (guint i = 0; i < width * height; i++)
    samples[i] = (guint8)(i * 7 + i / width);
  while (check_submit(&frame, __i__ > 0, number))
    number++;
  fail_unless(number > 4);
  fail_unless_equals_int(requests.held, held);
  g_free(samples);
}
GST_END_TEST

GST_START_TEST(test_pinned_memory)
{
  GhError error = {""};
  GhPinned *pinned;

  fail_at(1);
  fail_unless_equals_int(gh_pinned_open(&pinned, -1, &error), GH_FAILED);
  fail_at(0);
  fail_unless(pinned == NULL);
  fail_unless_equals_string(error.text, "out of memory");
}
GST_END_TEST

static Suite *
no_memory_suite(void)
{
  Suite *suite = suite_create("no-memory");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_opening);
  tcase_add_loop_test(tcase, test_submitting, 0, 2);
  if (test_engine_kind() == GH_ENGINE_CUDA)
    tcase_add_test(tcase, test_pinned_memory);
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, no_memory_suite, "no-memory");
}
