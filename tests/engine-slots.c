/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines' slots: order, limits, flush, threads, and what they refuse. */

#include "testing-engine.h"

#include <dlfcn.h>
#include <string.h>

/* Frame k is flat with value k, and its memory changes after the
 * submit. */
GST_START_TEST(test_slots_keep_order)
{
  guint8 samples[64 * 48];
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};
  GhError error;

  for (guint depth = 1; depth <= GH_MAX_DEPTH; depth++) {
    GhEngine *engine = test_engine_open(depth, 256, 1);
    const GhFrame frame = {samples, 64, 64, 48};

    fail_unless_equals_int(gh_engine_depth(engine), depth);
    fail_unless_equals_int(gh_engine_collect(engine, true, &result, &error),
                           GH_EMPTY);
    for (guint round = 0; round < 3; round++) {
      for (guint k = 0; k < depth; k++) {
        memset(samples, 10 * round + k, sizeof(samples));
        test_engine_submit(engine, &frame);
        memset(samples, 0xEE, sizeof(samples));
      }
      fail_unless_equals_int(gh_engine_submit(engine, &frame, &error),
                             GH_NO_SLOT);
      for (guint k = 0; k < depth; k++) {
        test_engine_collect(engine, &result);
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
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};
  GhEngine *engine = test_engine_open(2, 256, 1);
  GhStatus status = GH_NOT_YET;
  gint64 end = g_get_monotonic_time() + 10 * G_TIME_SPAN_SECOND;
  GhError error = {""};

  test_engine_submit(engine, &(GhFrame){samples, 640, 640, 1});
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
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};
  GhEngine *engine = test_engine_open(3, 256, 1);
  const GhFrame frame = {samples, 1000, 1000, 1};
  GhError error;

  for (guint i = 0; i < 20; i++) {
    memset(samples, 10, sizeof(samples));
    for (guint k = 0; k <= i % 3; k++)
      test_engine_submit(engine, &frame);
    gh_engine_flush(engine);
    fail_unless_equals_int(gh_engine_collect(engine, true, &result, &error),
                           GH_EMPTY);
    memset(samples, 200, sizeof(samples));
    test_engine_measure(engine, &frame, 256);
  }
  test_engine_submit(engine, &frame);
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
  Submitter submitter = {test_engine_open(2, 256, 1), 1000};
  GThread *thread = g_thread_new("submit", submit_all, &submitter);
  gint64 end = g_get_monotonic_time() + 30 * G_TIME_SPAN_SECOND;
  guint64 bins[256];
  GhResult result = {.whole = {.bins = bins}};
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
    fail_unless_equals_uint64(result.whole.pixels, (1 + k % 64) * (1 + k % 4));
    fail_unless_equals_uint64(bins[k % 256], result.whole.pixels);
    k++;
  }
  fail_unless(g_thread_join(thread) == NULL);
  gh_engine_close(&submitter.engine);
}
GST_END_TEST

GST_START_TEST(test_wrong_settings_are_refused)
{
  const GhSettings wrong[] = {{0, 256, 1, -1}, {17, 256, 1, -1},
                              {2, 0, 1, -1},   {2, 1, 1, -1},
                              {2, 100, 1, -1}, {2, 131072, 1, -1}};

  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    GhEngine *engine = (GhEngine *)&wrong;
    GhError error = {""};

    fail_unless_equals_int(
        gh_engine_open(&engine, test_engine_kind(), &wrong[i], &error),
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
  GhEngine *engine = test_engine_open(2, 256, 1);
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
  engine = test_engine_open(2, 256, 1);
  fail_unless(get_current(&context) == 0 && context == NULL);
  test_engine_measure(engine, &(GhFrame){samples, 10, 10, 10}, 256);
  fail_unless(get_current(&context) == 0 && context == NULL);
  gh_engine_flush(engine);
  gh_engine_close(&engine);
  fail_unless(get_current(&context) == 0 && context == NULL);
  dlclose(library);
}
GST_END_TEST

static Suite *
engine_slots_suite(void)
{
  Suite *suite = suite_create("engine-slots");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_slots_keep_order);
  tcase_add_test(tcase, test_polling_ends);
  tcase_add_test(tcase, test_flush_drops_everything);
  tcase_add_test(tcase, test_submit_and_collect_in_two_threads);
  tcase_add_test(tcase, test_wrong_settings_are_refused);
  tcase_add_test(tcase, test_impossible_frames_are_refused);
  if (test_engine_kind() == GH_ENGINE_CUDA) {
    tcase_add_test(tcase, test_unknown_device);
    tcase_add_test(tcase, test_context_is_left_alone);
  }
  return suite;
}

int
main(int argc, char **argv)
{
  return test_engine_main(argc, argv, engine_slots_suite, "engine-slots");
}
