/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames without end, through all changes that may come, leave nothing behind.
 *
 *   test-soak [FRAMES]
 *
 * The tests have a short form; a million frames take some minutes. */

#include "soak.h"
#include "testing-fake.h"
#include "testing-use.h"

#include "testing-quiet.h"

#include <malloc.h>

#define SHORT_FORM 5000
#define REPORTS 5
/* What may be more in the end, in bytes. GStreamer keeps some hundred of every
 * pipeline, as names. */
#define HEAP 32768
#define HEAP_OF_FRAME 4
#define RESIDENT (8 << 20)

static guint64 n_frames; /* 0 for the short form */

guint
soak_number(Soak *soak, guint first, guint end)
{
  return (guint)g_rand_int_range(soak->random, (gint)first, (gint)end);
}

gboolean
soak_once_in(Soak *soak, guint n)
{
  return soak_number(soak, 0, n) == 0;
}

gchar *
soak_caps(Soak *soak, const gchar *const *formats, guint n_formats)
{
  /* Few are large, as the plain count is slow. */
  gboolean large = soak_once_in(soak, 100);
  guint width = soak_number(soak, 16, large ? 800 : 128);
  guint height = soak_number(soak, 8, large ? 600 : 48);

  return g_strdup_printf(
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1",
      formats[soak_number(soak, 0, n_formats)], width, height);
}

void
soak_fill(Soak *soak, GstBuffer *buffer)
{
  GstMapInfo map;

  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i += 4) {
    guint32 noise = g_rand_int(soak->random);

    for (gsize k = i; k < MIN(i + 4, map.size); k++, noise >>= 8)
      map.data[k] = (guint8)noise;
  }
  gst_buffer_unmap(buffer, &map);
}

static void
run_until(Soak *soak, SoakElement *element, guint64 frames)
{
  while (soak->checked < frames) {
    if (soak_once_in(soak, 40))
      soak_tee(soak);
    else if (soak_once_in(soak, 80))
      soak_seeks(soak);
    else
      soak_element_step(element);
  }
  soak_element_rest(element);
}

/* Until there is all that is made once and stays. */
static void
warm_up(Soak *soak, SoakElement *element, guint64 frames)
{
  for (guint i = 0; i < 8; i++) {
    soak_tee(soak);
    soak_seeks(soak);
  }
  run_until(soak, element, frames);
}

static void
report(const Soak *soak)
{
  TestUse use;

  test_use_take(&use);
  g_printerr("%" G_GUINT64_FORMAT " frames; in use: %" G_GUINT64_FORMAT
             " bytes of the heap, %" G_GUINT64_FORMAT
             " KiB, %u threads, %u descriptors, %" G_GUINT64_FORMAT
             " of the driver\n",
             soak->checked, use.heap, use.resident >> 10, use.threads, use.fds,
             use.driver);
}

GST_START_TEST(nothing_grows)
{
  guint64 frames = n_frames > 0 ? n_frames : test_repeats(SHORT_FORM);
  gboolean cuda = g_str_equal(test_engine(), "cuda");
  Soak soak = {test_random()};
  SoakElement *element = soak_element_new(&soak);
  TestUse use;

  warm_up(&soak, element, MIN(frames / 3, 20000));
  test_use_take(&use);
  for (guint i = 1; i <= REPORTS; i++) {
    run_until(&soak, element, frames * i / REPORTS);
    report(&soak);
  }
  test_use_check(&use, HEAP + HEAP_OF_FRAME * frames, RESIDENT);
  soak_element_free(element);
  if (cuda && test_fake_find())
    fail_unless_equals_int(test_fake.objects(), 0);
  g_rand_free(soak.random);
}
GST_END_TEST

static Suite *
soak_suite(void)
{
  Suite *suite = suite_create("soak");
  TCase *tcase = tcase_create("all");

  /* A long run takes as long as it takes. */
  tcase_set_timeout(tcase, n_frames > 0 ? 0 : 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, nothing_grows);
  return suite;
}

int
main(int argc, char **argv)
{
#ifdef M_ARENA_MAX
  /* With a heap for each thread, what is resident says little. */
  mallopt(M_ARENA_MAX, 1);
#endif
  if (argc > 1) {
    if (argc > 2 || !g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT64,
                                                &n_frames, NULL)) {
      g_printerr("usage: test-soak [FRAMES]\n");
      return 2;
    }
    argc = 1;
  }
  return test_main(argc, argv, soak_suite, "soak");
}
