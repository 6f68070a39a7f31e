/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines behind their C interface, without GStreamer. The engine is the
 * one that GPUHISTOGRAM_TEST_ENGINE names; see testing.h. */

#include "engine.h"
#include "cpu-count.h"

#include <dlfcn.h>
#include <gst/check/gstcheck.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static GhEngineKind kind = GH_ENGINE_CPU;

static GhEngine *
open_engine(guint depth, guint bins, guint n_threads)
{
  const GhSettings settings = {depth, bins, n_threads, -1};
  GhEngine *engine;
  GhError error = {""};

  fail_unless_equals_int(gh_engine_open(&engine, kind, &settings, &error),
                         GH_OK);
  fail_unless(engine != NULL, "%s", error.text);
  return engine;
}

static void
submit(GhEngine *engine, const GhFrame *frame)
{
  GhError error = {""};

  if (gh_engine_submit(engine, frame, &error) != GH_OK)
    ck_abort_msg("submit: %s", error.text);
}

static void
collect(GhEngine *engine, GhResult *result)
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

static void
count_and_check(GhEngine *engine, const GhFrame *frame, guint bins)
{
  guint64 counts[GH_LEVELS];
  GhResult result = {.bins = counts};

  submit(engine, frame);
  collect(engine, &result);
  check_result(frame, &result, bins);
  gh_count_frame(frame, bins, &result);
  check_result(frame, &result, bins);
}

GST_START_TEST(test_known_frames)
{
  static const guint8 a[16] = {0, 0, 0, 0, 0,   0,   0,   0,
                               1, 1, 1, 1, 255, 255, 255, 255};
  static const guint8 b[16] = {0, 0, 0, 0, 1,   1,   1,   1,
                               1, 1, 1, 1, 255, 255, 255, 255};
  GhEngine *engine = open_engine(1, 256, 1);
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};

  submit(engine, &(GhFrame){a, 4, 4, 4});
  collect(engine, &result);
  fail_unless_equals_uint64(bins[0], 8);
  fail_unless_equals_uint64(bins[1], 4);
  fail_unless_equals_uint64(bins[255], 4);
  fail_unless_equals_uint64(result.sum, 1024);
  submit(engine, &(GhFrame){b, 4, 4, 4});
  collect(engine, &result);
  fail_unless_equals_uint64(bins[0], 4);
  fail_unless_equals_uint64(bins[1], 8);
  fail_unless_equals_uint64(bins[255], 4);
  fail_unless_equals_uint64(result.sum, 1028);
  gh_engine_close(&engine);
  fail_unless(engine == NULL);
}
GST_END_TEST

GST_START_TEST(test_known_sizes)
{
  gsize size = 1003 * 769;
  guint8 *samples = g_malloc(size);
  GhEngine *engine = open_engine(2, 256, 1);

  memset(samples, 255, 1);
  count_and_check(engine, &(GhFrame){samples, 1, 1, 1}, 256);
  memset(samples, 7, 262145);
  count_and_check(engine, &(GhFrame){samples, 257, 257, 1}, 256);
  count_and_check(engine, &(GhFrame){samples, 1, 1, 257}, 256);
  count_and_check(engine, &(GhFrame){samples, 262145, 262145, 1}, 256);
  for (gsize i = 0; i < size; i++)
    samples[i] = (i * 37 + 11) % 256;
  count_and_check(engine, &(GhFrame){samples, 1003, 1003, 769}, 256);
  gh_engine_close(&engine);
  g_free(samples);
}
GST_END_TEST

GST_START_TEST(test_every_bin_count)
{
  guint8 samples[1024];

  for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
    samples[i] = i;
  for (guint bins = 2; bins <= 256; bins *= 2) {
    GhEngine *engine = open_engine(1, bins, 1);

    count_and_check(engine, &(GhFrame){samples, 33, 31, 30}, bins);
    gh_engine_close(&engine);
  }
}
GST_END_TEST

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

/* Memory that ends where a page begins that may not be touched. */
typedef struct {
  guint8 *start;
  gsize size;
  gsize mapped;
} Guarded;

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

static void
guarded_free(Guarded *guarded)
{
  gsize used = guarded->mapped - sysconf(_SC_PAGESIZE);

  munmap(guarded->start + guarded->size - used, guarded->mapped);
}

static void
random_frame(GRand *random, Guarded *guarded, GhFrame *frame)
{
  Content content = contents[g_rand_int_range(random, 0, 4)];
  guint8 *samples;

  frame->width = g_rand_int_range(random, 1, 400);
  frame->height = g_rand_int_range(random, 1, 60);
  frame->stride = frame->width + g_rand_int_range(random, 0, 40);
  *guarded = guarded_new(frame->stride * (frame->height - 1) + frame->width);
  samples = guarded->start;
  frame->samples = samples;
  for (gsize y = 0; y < frame->height; y++)
    for (gsize x = 0; x < frame->width; x++)
      samples[y * frame->stride + x] = content(random, y * frame->width + x);
}

static GRand *
seeded_random(void)
{
  const gchar *given = g_getenv("GPUHISTOGRAM_TEST_SEED");
  guint32 seed = given ? (guint32)strtoul(given, NULL, 10) : g_random_int();

  g_print("seed %u\n", seed);
  return g_rand_new_with_seed(seed);
}

GST_START_TEST(test_random_frames)
{
  GRand *random = seeded_random();

  for (guint n_threads = 0; n_threads < 5; n_threads++) {
    GhEngine *engine = open_engine(2, 256, n_threads);

    for (guint i = 0; i < 200; i++) {
      Guarded guarded;
      GhFrame frame;

      random_frame(random, &guarded, &frame);
      count_and_check(engine, &frame, 256);
      guarded_free(&guarded);
    }
    gh_engine_close(&engine);
  }
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_ways_agree)
{
  GRand *random = seeded_random();

  for (guint i = 0; i < 300; i++) {
    GhCounts expected = {{0}, 0};
    Guarded guarded;
    GhFrame frame;

    random_frame(random, &guarded, &frame);
    gh_count_ways[0].count(frame.samples, frame.stride, frame.width,
                           frame.height, &expected);
    for (const GhCountWay *way = gh_count_ways; way->name; way++) {
      GhCounts counts = {{0}, 0};

      way->count(frame.samples, frame.stride, frame.width, frame.height,
                 &counts);
      fail_unless(memcmp(&counts, &expected, sizeof(counts)) == 0, "%s",
                  way->name);
    }
    guarded_free(&guarded);
  }
  g_rand_free(random);
}
GST_END_TEST

/* Frame k is flat with value k, and its memory changes after the
 * submit. */
GST_START_TEST(test_slots_keep_order)
{
  guint8 samples[64 * 48];
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};
  GhError error;

  for (guint depth = 1; depth <= GH_MAX_DEPTH; depth++) {
    GhEngine *engine = open_engine(depth, 256, 1);
    const GhFrame frame = {samples, 64, 64, 48};

    fail_unless_equals_int(gh_engine_depth(engine), depth);
    fail_unless_equals_int(gh_engine_collect(engine, true, &result, &error),
                           GH_EMPTY);
    for (guint round = 0; round < 3; round++) {
      for (guint k = 0; k < depth; k++) {
        memset(samples, 10 * round + k, sizeof(samples));
        submit(engine, &frame);
        memset(samples, 0xEE, sizeof(samples));
      }
      fail_unless_equals_int(gh_engine_submit(engine, &frame, &error),
                             GH_NO_SLOT);
      for (guint k = 0; k < depth; k++) {
        collect(engine, &result);
        fail_unless_equals_uint64(bins[10 * round + k], sizeof(samples));
      }
      fail_unless_equals_int(gh_engine_collect(engine, false, &result, &error),
                             GH_EMPTY);
    }
    gh_engine_close(&engine);
  }
}
GST_END_TEST

GST_START_TEST(test_polling_ends)
{
  guint8 samples[640] = {0};
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};
  GhEngine *engine = open_engine(2, 256, 1);
  GhStatus status = GH_NOT_YET;
  gint64 end = g_get_monotonic_time() + 10 * G_TIME_SPAN_SECOND;
  GhError error = {""};

  submit(engine, &(GhFrame){samples, 640, 640, 1});
  while (status == GH_NOT_YET && g_get_monotonic_time() < end)
    status = gh_engine_collect(engine, false, &result, &error);
  fail_unless(status == GH_OK, "%s", error.text);
  fail_unless_equals_uint64(bins[0], 640);
  gh_engine_close(&engine);
}
GST_END_TEST

GST_START_TEST(test_flush_drops_everything)
{
  guint8 samples[1000];
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};
  GhEngine *engine = open_engine(3, 256, 1);
  const GhFrame frame = {samples, 1000, 1000, 1};
  GhError error;

  for (guint i = 0; i < 20; i++) {
    memset(samples, 10, sizeof(samples));
    for (guint k = 0; k <= i % 3; k++)
      submit(engine, &frame);
    gh_engine_flush(engine);
    fail_unless_equals_int(gh_engine_collect(engine, true, &result, &error),
                           GH_EMPTY);
    memset(samples, 200, sizeof(samples));
    count_and_check(engine, &frame, 256);
  }
  submit(engine, &frame);
  gh_engine_close(&engine);
  gh_engine_close(&engine);
}
GST_END_TEST

typedef struct {
  GhEngine *engine;
  guint n;
} Submitter;

static gpointer
submit_all(gpointer data)
{
  Submitter *submitter = data;
  guint8 samples[256];
  GhError error;

  for (guint k = 0; k < submitter->n;) {
    const GhFrame frame = {samples, 64, 1 + k % 64, 1 + k % 4};
    GhStatus status;

    memset(samples, k % 256, sizeof(samples));
    status = gh_engine_submit(submitter->engine, &frame, &error);
    if (status == GH_OK)
      k++;
    else if (status == GH_NO_SLOT)
      g_thread_yield();
    else
      return error.text[0] ? g_strdup(error.text) : g_strdup("failed");
  }
  return NULL;
}

GST_START_TEST(test_submit_and_collect_in_two_threads)
{
  Submitter submitter = {open_engine(2, 256, 1), 1000};
  GThread *thread = g_thread_new("submit", submit_all, &submitter);
  gint64 end = g_get_monotonic_time() + 30 * G_TIME_SPAN_SECOND;
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};
  GhError error = {""};

  for (guint k = 0; k < submitter.n;) {
    GhStatus status =
        gh_engine_collect(submitter.engine, true, &result, &error);

    fail_unless(g_get_monotonic_time() < end);
    if (status == GH_EMPTY) {
      g_thread_yield();
      continue;
    }
    fail_unless(status == GH_OK, "%s", error.text);
    fail_unless_equals_uint64(result.pixels, (1 + k % 64) * (1 + k % 4));
    fail_unless_equals_uint64(bins[k % 256], result.pixels);
    k++;
  }
  fail_unless(g_thread_join(thread) == NULL);
  gh_engine_close(&submitter.engine);
}
GST_END_TEST

GST_START_TEST(test_algorithms_agree)
{
  GRand *random = seeded_random();

  for (guint a = 0; a < GH_N_ALGORITHMS; a++) {
    const GhSettings settings = {2, 256, 1, -1, a};
    GhEngine *engine;
    GhError error = {""};

    fail_unless(gh_engine_open(&engine, kind, &settings, &error) == GH_OK, "%s",
                error.text);
    for (guint i = 0; i < 50; i++) {
      Guarded guarded;
      GhFrame frame;

      random_frame(random, &guarded, &frame);
      count_and_check(engine, &frame, 256);
      guarded_free(&guarded);
    }
    gh_engine_close(&engine);
  }
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_sizes_change)
{
  gsize sizes[] = {64, 640 * 480, 1, 1920 * 1080, 17, 4096};
  guint8 *samples = g_malloc(1920 * 1080);
  GhEngine *engine = open_engine(2, 256, 2);

  for (gsize i = 0; i < 1920 * 1080; i++)
    samples[i] = i * 7 + i / 1000;
  for (guint round = 0; round < 3; round++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
      count_and_check(engine, &(GhFrame){samples, sizes[i], sizes[i], 1}, 256);
  gh_engine_close(&engine);
  g_free(samples);
}
GST_END_TEST

GST_START_TEST(test_wrong_settings_are_refused)
{
  const GhSettings wrong[] = {{0, 256, 1, -1}, {17, 256, 1, -1},
                              {2, 0, 1, -1},   {2, 1, 1, -1},
                              {2, 100, 1, -1}, {2, 512, 1, -1}};

  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    GhEngine *engine = (GhEngine *)&wrong;
    GhError error = {""};

    fail_unless_equals_int(gh_engine_open(&engine, kind, &wrong[i], &error),
                           GH_FAILED);
    fail_unless(engine == NULL);
    fail_unless(error.text[0] != '\0');
  }
}
GST_END_TEST

GST_START_TEST(test_impossible_frames_are_refused)
{
  const GhFrame wrong[] = {
      {NULL, 1, 0, 1}, {NULL, 1, 1, 0}, {NULL, 65536, 65536, 65536}};
  GhEngine *engine = open_engine(2, 256, 1);
  GhError error = {""};

  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++)
    fail_unless_equals_int(gh_engine_submit(engine, &wrong[i], &error),
                           GH_FAILED);
  gh_engine_close(&engine);
}
GST_END_TEST

GST_START_TEST(test_unknown_device)
{
  const GhSettings settings = {2, 256, 1, 1000};
  GhEngine *engine;
  GhError error = {""};

  fail_unless_equals_int(
      gh_engine_open(&engine, GH_ENGINE_CUDA, &settings, &error), GH_FAILED);
  fail_unless(engine == NULL);
  fail_unless(strstr(error.text, "no CUDA device 1000") != NULL, "%s",
              error.text);
}
GST_END_TEST

/* The application's current context is as before
 * after each call. */
GST_START_TEST(test_context_is_left_alone)
{
  int (*get_current)(void **context);
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol, *context;
  guint8 samples[100] = {0};
  GhEngine *engine;

  fail_unless(library != NULL);
  symbol = dlsym(library, "cuCtxGetCurrent");
  memcpy(&get_current, &symbol, sizeof(symbol));
  engine = open_engine(2, 256, 1);
  fail_unless(get_current(&context) == 0 && context == NULL);
  count_and_check(engine, &(GhFrame){samples, 10, 10, 10}, 256);
  fail_unless(get_current(&context) == 0 && context == NULL);
  gh_engine_flush(engine);
  gh_engine_close(&engine);
  fail_unless(get_current(&context) == 0 && context == NULL);
  dlclose(library);
}
GST_END_TEST

GST_START_TEST(test_a_wrong_result_is_noticed)
{
  const guint8 samples[4] = {1, 2, 3, 4};
  guint64 bins[GH_LEVELS];
  GhResult result = {.bins = bins};

  gh_count_frame(&(GhFrame){samples, 4, 4, 1}, 256, &result);
  fail_unless(gh_result_is_consistent(&result, 256));
  bins[9]++;
  fail_if(gh_result_is_consistent(&result, 256));
  bins[1]--;
  result.level_sum += 8;
  fail_if(gh_result_is_consistent(&result, 256));
}
GST_END_TEST

static Suite *
engine_suite(void)
{
  Suite *suite = suite_create("engine");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_known_frames);
  tcase_add_test(tcase, test_known_sizes);
  tcase_add_test(tcase, test_every_bin_count);
  tcase_add_test(tcase, test_random_frames);
  tcase_add_test(tcase, test_slots_keep_order);
  tcase_add_test(tcase, test_polling_ends);
  tcase_add_test(tcase, test_flush_drops_everything);
  tcase_add_test(tcase, test_submit_and_collect_in_two_threads);
  tcase_add_test(tcase, test_algorithms_agree);
  tcase_add_test(tcase, test_sizes_change);
  tcase_add_test(tcase, test_wrong_settings_are_refused);
  tcase_add_test(tcase, test_impossible_frames_are_refused);
  if (kind == GH_ENGINE_CUDA) {
    tcase_add_test(tcase, test_unknown_device);
    tcase_add_test(tcase, test_context_is_left_alone);
  } else {
    tcase_add_test(tcase, test_ways_agree);
    tcase_add_test(tcase, test_a_wrong_result_is_noticed);
  }
  return suite;
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
main(int argc, char **argv)
{
  const gchar *name = g_getenv("GPUHISTOGRAM_TEST_ENGINE");

  if (g_strcmp0(name, "cuda") == 0)
    kind = GH_ENGINE_CUDA;
  if (kind == GH_ENGINE_CUDA && !cuda_works())
    return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_"
                              "REQUIRE_CUDA"),
                     "1")
               ? 77
               : 1;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(engine_suite(), "engine", __FILE__);
}
