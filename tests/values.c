/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exact values, written out. */

#include "testing.h"

#define GRAY8(width, height) \
  "video/x-raw,format=GRAY8,framerate=25/1,width=" #width ",height=" #height

typedef struct {
  guint level;
  guint64 count;
} Bin;

static guint8
row_value(guint x, guint y, gpointer rows)
{
  return ((const guint8 *)rows)[y];
}

static guint8
first_is_255(guint x, guint y, gpointer unused)
{
  return x == 0 && y == 0 ? 255 : 0;
}

static guint8
scattered(guint x, guint y, gpointer width)
{
  guint64 i = (guint64)y * GPOINTER_TO_UINT(width) + x;

  return (guint8)((i * 37 + 11) % 256);
}

/* Measures one frame; bins that are not listed have to be empty. */
static void
check_values(const gchar *caps, TestPattern pattern, gpointer data,
             guint64 pixels, guint64 sum, const Bin *bins, guint n_listed)
{
  guint64 want[256] = {0};
  GstGpuHistogramMeta *meta;
  TestFixture f;
  GstBuffer *buffer;

  for (guint i = 0; i < n_listed; i++)
    want[bins[i].level] = bins[i].count;
  test_fixture_setup(&f, caps, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  test_fixture_push(&f, test_frame_new(&f.info, NULL, pattern, data));
  buffer = test_tap_pop_buffer(f.tap);
  meta = gst_buffer_get_gpu_histogram_meta(buffer);
  fail_unless(meta != NULL);
  fail_unless_equals_int(meta->n_bins, 256);
  for (guint level = 0; level < 256; level++)
    fail_unless_equals_uint64(meta->bins[level], want[level]);
  fail_unless_equals_uint64(meta->pixels, pixels);
  fail_unless_equals_uint64(meta->sum, sum);
  gst_buffer_unref(buffer);
  test_fixture_teardown(&f);
}

GST_START_TEST(rows_0_0_1_255)
{
  guint8 rows[] = {0, 0, 1, 255};
  const Bin bins[] = {{0, 8}, {1, 4}, {255, 4}};

  check_values(GRAY8(4, 4), row_value, rows, 16, 1024, bins, 3);
}
GST_END_TEST;

GST_START_TEST(rows_0_1_1_255)
{
  guint8 rows[] = {0, 1, 1, 255};
  const Bin bins[] = {{0, 4}, {1, 8}, {255, 4}};

  check_values(GRAY8(4, 4), row_value, rows, 16, 1028, bins, 3);
}
GST_END_TEST;

GST_START_TEST(one_pixel_of_255)
{
  const Bin alone[] = {{255, 1}};
  const Bin among_zeros[] = {{0, 640 * 480 - 1}, {255, 1}};

  check_values(GRAY8(1, 1), first_is_255, NULL, 1, 255, alone, 1);
  check_values(GRAY8(640, 480), first_is_255, NULL, 640 * 480, 255, among_zeros,
               2);
}
GST_END_TEST;

GST_START_TEST(equal_pixels_257)
{
  const Bin bins[] = {{7, 257}};

  check_values(GRAY8(257, 1), test_flat, GUINT_TO_POINTER(7), 257, 1799, bins,
               1);
  check_values(GRAY8(1, 257), test_flat, GUINT_TO_POINTER(7), 257, 1799, bins,
               1);
}
GST_END_TEST;

GST_START_TEST(equal_pixels_262145)
{
  const Bin zeros[] = {{0, 262145}};
  const Bin whites[] = {{255, 262145}};

  check_values(GRAY8(52429, 5), test_flat, GUINT_TO_POINTER(0), 262145, 0,
               zeros, 1);
  check_values(GRAY8(52429, 5), test_flat, GUINT_TO_POINTER(255), 262145,
               262145 * (guint64)255, whites, 1);
}
GST_END_TEST;

GST_START_TEST(scattered_1003x769)
{
  /* 37 and 256 have no common divisor: each run of 256 pixels holds every
   * level once. 1003 * 769 is 3012 such runs and 235 pixels more. */
  guint64 pixels = 1003 * 769, sum = 3012 * (guint64)32640;
  Bin bins[256];

  for (guint i = 0; i < 256; i++) {
    bins[i].level = (i * 37 + 11) % 256;
    bins[i].count = i < 235 ? 3013 : 3012;
    sum += i < 235 ? bins[i].level : 0;
  }
  check_values(GRAY8(1003, 769), scattered, GUINT_TO_POINTER(1003), pixels, sum,
               bins, 256);
}
GST_END_TEST;

static Suite *
values_suite(void)
{
  Suite *suite = suite_create("values");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, rows_0_0_1_255);
  tcase_add_test(chain, rows_0_1_1_255);
  tcase_add_test(chain, one_pixel_of_255);
  tcase_add_test(chain, equal_pixels_257);
  tcase_add_test(chain, equal_pixels_262145);
  tcase_add_test(chain, scattered_1003x769);
  return suite;
}

TEST_MAIN(values)
