/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

GhEngineKind
test_engine_kind(void)
{
  return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_ENGINE"), "cuda") == 0
             ? GH_ENGINE_CUDA
             : GH_ENGINE_CPU;
}

GhEngine *
test_engine_open(guint depth, guint bins, guint n_threads)
{
  const GhSettings settings = {depth, bins, n_threads, -1};
  GhEngine *engine;
  GhError error = {""};

  fail_unless_equals_int(
      gh_engine_open(&engine, test_engine_kind(), &settings, &error), GH_OK);
  fail_unless(engine != NULL, "%s", error.text);
  return engine;
}

void
test_engine_submit(GhEngine *engine, const GhFrame *frame)
{
  GhError error = {""};

  if (gh_engine_submit(engine, frame, &error) != GH_OK)
    ck_abort_msg("submit: %s", error.text);
}

void
test_engine_collect(GhEngine *engine, GhResult *result)
{
  GhError error = {""};

  if (gh_engine_collect(engine, true, result, &error) != GH_OK)
    ck_abort_msg("collect: %s", error.text);
}

/* The oracle: sample by sample. */
static void
check_result(const GhFrame *frame, const GhResult *result, guint bins)
{
  guint64 expected[GH_LEVELS] = {0}, sum = 0, total = 0;

  for (gsize y = 0; y < frame->height; y++) {
    for (gsize x = 0; x < frame->width; x++) {
      guint8 sample = frame->samples[y * frame->stride + x];

      expected[sample * bins / 256]++;
      sum += sample;
    }
  }
  for (guint b = 0; b < bins; b++) {
    fail_unless_equals_uint64(result->bins[b], expected[b]);
    total += result->bins[b];
  }
  fail_unless_equals_uint64(result->sum, sum);
  fail_unless_equals_uint64(result->level_sum, sum);
  fail_unless_equals_uint64(result->pixels,
                            (guint64)frame->width * frame->height);
  fail_unless_equals_uint64(total, result->pixels);
  fail_unless(gh_result_is_consistent(result, bins));
}

void
test_engine_measure(GhEngine *engine, const GhFrame *frame, guint bins)
{
  guint64 counts[GH_LEVELS];
  GhResult result = {.bins = counts};

  test_engine_submit(engine, frame);
  test_engine_collect(engine, &result);
  check_result(frame, &result, bins);
  gh_count_frame(frame, bins, &result);
  check_result(frame, &result, bins);
}

typedef guint8 (*Content)(GRand *random, gsize i);

static guint8
content_flat(GRand *random, gsize i)
{
  return 7;
}

static guint8
content_noise(GRand *random, gsize i)
{
  return g_rand_int_range(random, 0, 256);
}

static guint8
content_runs(GRand *random, gsize i)
{
  return (i / 40) % 5 * 51;
}

static guint8
content_hot(GRand *random, gsize i)
{
  return g_rand_int_range(random, 0, 10) ? 0 : 255;
}

static const Content contents[] = {content_flat, content_noise, content_runs,
                                   content_hot};

static Guarded
guarded_new(gsize size)
{
  gsize page = sysconf(_SC_PAGESIZE);
  gsize used = (size + page - 1) / page * page;
  guint8 *base = mmap(NULL, used + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  fail_unless(base != MAP_FAILED);
  fail_unless(mprotect(base + used, page, PROT_NONE) == 0);
  memset(base, 0xEE, used);
  return (Guarded){base + used - size, size, used + page};
}

void
test_engine_frame_free(Guarded *guarded)
{
  gsize used = guarded->mapped - sysconf(_SC_PAGESIZE);

  munmap(guarded->start + guarded->size - used, guarded->mapped);
}

static void
fill_frame(GRand *random, Content content, Guarded *guarded, GhFrame *frame)
{
  guint8 *samples;

  *guarded = guarded_new(frame->stride * (frame->height - 1) + frame->width);
  samples = guarded->start;
  frame->samples = samples;
  for (gsize y = 0; y < frame->height; y++)
    for (gsize x = 0; x < frame->width; x++)
      samples[y * frame->stride + x] = content(random, y * frame->width + x);
}

void
test_engine_frame(GRand *random, Guarded *guarded, GhFrame *frame)
{
  Content content = contents[g_rand_int_range(random, 0, 4)];

  frame->width = g_rand_int_range(random, 1, 400);
  frame->height = g_rand_int_range(random, 1, 60);
  frame->stride = frame->width + g_rand_int_range(random, 0, 40);
  fill_frame(random, content, guarded, frame);
}

void
test_engine_noise(GRand *random, Guarded *guarded, GhFrame *frame)
{
  fill_frame(random, content_noise, guarded, frame);
}

GRand *
test_engine_random(void)
{
  const gchar *given = g_getenv("GPUHISTOGRAM_TEST_SEED");
  guint32 seed = given ? (guint32)strtoul(given, NULL, 10) : g_random_int();

  g_print("seed %u\n", seed);
  return g_rand_new_with_seed(seed);
}

/* In a child, as CUDA does not survive the fork
 * before each test. */
static gboolean
cuda_works(void)
{
  const GhSettings settings = {1, 256, 1, -1};
  pid_t child = fork();
  int status = 1;

  if (child == 0) {
    GhEngine *engine;
    GhError error = {""};

    if (gh_engine_open(&engine, GH_ENGINE_CUDA, &settings, &error) != GH_OK)
      g_print("%s\n", error.text);
    _exit(engine ? 0 : 1);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

int
test_engine_main(int argc, char **argv, Suite *(*suite)(void), const char *name)
{
  if (test_engine_kind() == GH_ENGINE_CUDA && !cuda_works())
    return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_REQUIRE_CUDA"), "1") ? 77 : 1;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(suite(), name, __FILE__);
}
