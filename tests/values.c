/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exact values, written out, and every format of the pad template against the
 * plain count. */

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

/* ---- Formats ---- */

static GstCaps *
template_caps(void)
{
  GstElement *element = test_element(NULL);
  GstPad *sink = gst_element_get_static_pad(element, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps(sink);

  gst_object_unref(sink);
  gst_object_unref(element);
  return caps;
}

static void
add_formats(GHashTable *formats, const GValue *value)
{
  if (G_VALUE_HOLDS_STRING(value)) {
    g_hash_table_add(formats, g_value_dup_string(value));
    return;
  }
  fail_unless(GST_VALUE_HOLDS_LIST(value));
  for (guint i = 0; i < gst_value_list_get_size(value); i++)
    add_formats(formats, gst_value_list_get_value(value, i));
}

/* The names of all the formats in system memory. */
static GHashTable *
template_formats(void)
{
  GHashTable *formats =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GstCaps *caps = template_caps();

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *structure = gst_caps_get_structure(caps, i);

    if (gst_caps_features_is_equal(gst_caps_get_features(caps, i),
                                   GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      add_formats(formats, gst_structure_get_value(structure, "format"));
  }
  gst_caps_unref(caps);
  return formats;
}

GST_START_TEST(template_has_the_8_bit_luma_formats)
{
  static const gchar *const wanted[] = {"GRAY8", "I420", "YV12", "NV12", "NV21",
                                        "NV16",  "NV61", "NV24", "Y42B", "Y41B",
                                        "Y444",  "YUV9", "YVU9", "A420"};
  GHashTable *formats = template_formats();

  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
    fail_unless(g_hash_table_contains(formats, wanted[i]), "no %s", wanted[i]);
  g_hash_table_unref(formats);
}
GST_END_TEST;

GST_START_TEST(template_has_only_formats_whose_first_plane_is_luma)
{
  GHashTable *formats = template_formats();
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init(&iter, formats);
  while (g_hash_table_iter_next(&iter, &name, NULL)) {
    const GstVideoFormatInfo *info =
        gst_video_format_get_info(gst_video_format_from_string(name));

    fail_unless(GST_VIDEO_FORMAT_INFO_IS_YUV(info) ||
                    GST_VIDEO_FORMAT_INFO_IS_GRAY(info),
                "%s has no luma", (const gchar *)name);
    fail_if(GST_VIDEO_FORMAT_INFO_IS_TILED(info), "%s is tiled",
            (const gchar *)name);
    fail_unless_equals_int(GST_VIDEO_FORMAT_INFO_PLANE(info, 0), 0);
    fail_unless_equals_int(GST_VIDEO_FORMAT_INFO_POFFSET(info, 0), 0);
    fail_unless_equals_int(GST_VIDEO_FORMAT_INFO_PSTRIDE(info, 0), 1);
    fail_unless_equals_int(GST_VIDEO_FORMAT_INFO_DEPTH(info, 0), 8);
  }
  g_hash_table_unref(formats);
}
GST_END_TEST;

static void
random_layout(TestLayout *layout, const GstVideoInfo *info, GRand *random)
{
  layout->before = (gsize)g_rand_int_range(random, 0, 129);
  layout->stride =
      GST_VIDEO_INFO_PLANE_STRIDE(info, 0) + g_rand_int_range(random, 0, 131);
  layout->rows_below = (guint)g_rand_int_range(random, 0, 3);
}

/* One stream that changes its size: usual layout and odd ones, by turns. */
static void
measure_sizes(const gchar *format, GRand *random)
{
  static const gint sizes[][2] = {{64, 48}, {1, 1},   {33, 17},   {16, 1},
                                  {1, 37},  {641, 5}, {320, 240}, {255, 257}};
  TestFixture f;

  test_fixture_setup(&f, NULL, NULL);
  gst_harness_set_src_caps_str(f.harness, GRAY8(8, 8));
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    TestLayout layout;
    gchar *caps =
        g_strdup_printf("video/x-raw,format=%s,framerate=25/1,width=%d,"
                        "height=%d",
                        format, sizes[i][0], sizes[i][1]);

    fail_unless(test_fixture_renegotiate(&f, caps), "%s refused", caps);
    test_tap_skip_until(f.tap, GST_EVENT_CAPS);
    test_fixture_measure(&f, test_frame_new(&f.info, NULL, test_noise, random),
                         256);
    random_layout(&layout, &f.info, random);
    test_fixture_measure(
        &f, test_frame_new(&f.info, &layout, test_noise, random), 256);
    g_free(caps);
  }
  test_fixture_teardown(&f);
}

GST_START_TEST(every_format_and_layout)
{
  GHashTable *formats = template_formats();
  GRand *random = test_random();
  GHashTableIter iter;
  gpointer format;

  g_hash_table_iter_init(&iter, formats);
  while (g_hash_table_iter_next(&iter, &format, NULL))
    measure_sizes(format, random);
  g_rand_free(random);
  g_hash_table_unref(formats);
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
  tcase_add_test(chain, template_has_the_8_bit_luma_formats);
  tcase_add_test(chain, template_has_only_formats_whose_first_plane_is_luma);
  tcase_add_test(chain, every_format_and_layout);
  return suite;
}

TEST_MAIN(values)
