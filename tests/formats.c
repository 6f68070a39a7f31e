/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which formats are counted, and every one of them, in every layout, against
 * the plain count; and the plain count against what GStreamer unpacks. */

#include "testing.h"

#include <string.h>

/* ---- Which ---- */

static void
add_formats(GHashTable *formats, const GValue *value)
{
  fail_unless(GST_VALUE_HOLDS_LIST(value));
  for (guint i = 0; i < gst_value_list_get_size(value); i++)
    g_hash_table_add(formats,
                     g_value_dup_string(gst_value_list_get_value(value, i)));
}

/* The names of all the formats in system memory. */
static GHashTable *
template_formats(void)
{
  GHashTable *formats =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GstElement *element = test_element(NULL);
  GstPad *sink = gst_element_get_static_pad(element, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps(sink);

  add_formats(formats, gst_structure_get_value(gst_caps_get_structure(caps, 0),
                                               "format"));
  gst_caps_unref(caps);
  gst_object_unref(sink);
  gst_object_unref(element);
  return formats;
}

GST_START_TEST(template_has_what_cameras_send)
{
  static const gchar *const wanted[] = {
      "GRAY8",     "I420",        "YV12",        "NV12",        "NV21",
      "NV16",      "NV61",        "NV24",        "Y42B",        "Y41B",
      "Y444",      "YUV9",        "YVU9",        "A420",        "YUY2",
      "UYVY",      "YVYU",        "VYUY",        "AYUV",        "VUYA",
      "v308",      "IYU2",        "GRAY16_LE",   "GRAY16_BE",   "GRAY10_LE32",
      "P010_10LE", "P010_10BE",   "P012_LE",     "P012_BE",     "P016_LE",
      "P016_BE",   "I420_10LE",   "I420_10BE",   "I420_12LE",   "I420_12BE",
      "I422_10LE", "I422_10BE",   "I422_12LE",   "I422_12BE",   "Y444_10LE",
      "Y444_10BE", "Y444_12LE",   "Y444_12BE",   "Y444_16LE",   "Y444_16BE",
      "A444_10LE", "NV12_10LE32", "NV16_10LE32", "NV12_10LE40", "Y210",
      "Y212_LE",   "Y410",        "Y412_LE",     "AYUV64",      "v216"};
  GHashTable *formats = template_formats();

  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
    fail_unless(g_hash_table_contains(formats, wanted[i]), "no %s", wanted[i]);
  g_hash_table_unref(formats);
}
GST_END_TEST;

/* Of the formats with luma only those are left out whose luma is not in bytes
 * or words one after the other. */
GST_START_TEST(template_has_all_luma_and_nothing_else)
{
  GHashTable *formats = template_formats();
  guint n;
  const GstVideoFormat *all = gst_video_formats_raw(&n);

  for (guint i = 0; i < n; i++) {
    const GstVideoFormatInfo *info = gst_video_format_get_info(all[i]);
    const gchar *name = GST_VIDEO_FORMAT_INFO_NAME(info);
    gboolean luma = GST_VIDEO_FORMAT_INFO_IS_YUV(info) ||
                    GST_VIDEO_FORMAT_INFO_IS_GRAY(info);

    if (g_hash_table_contains(formats, name))
      fail_unless(luma && !GST_VIDEO_FORMAT_INFO_IS_TILED(info), "%s", name);
    else
      fail_if(luma && !GST_VIDEO_FORMAT_INFO_IS_COMPLEX(info) &&
                  !g_str_equal(name, "IYU1"),
              "%s is left out", name);
  }
  g_hash_table_unref(formats);
}
GST_END_TEST;

/* ---- Every format ---- */

typedef void (*Check)(TestFixture *f, GRand *random);

/* Has @check called for each format and size of a list that 0, 0 ends, in one
 * stream. */
static void
for_each_format(const gint (*sizes)[2], Check check)
{
  GHashTable *formats = template_formats();
  GRand *random = test_random();
  GHashTableIter iter;
  gpointer format;
  TestFixture f;

  test_fixture_setup(&f, "video/x-raw,format=GRAY8,width=8,height=8", NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  g_hash_table_iter_init(&iter, formats);
  while (g_hash_table_iter_next(&iter, &format, NULL)) {
    for (guint i = 0; sizes[i][0] != 0; i++) {
      gchar *caps = g_strdup_printf(
          "video/x-raw,format=%s,framerate=25/1,width=%d,height=%d",
          (const gchar *)format, sizes[i][0], sizes[i][1]);

      fail_unless(test_fixture_renegotiate(&f, caps), "%s refused", caps);
      test_tap_skip_until(f.tap, GST_EVENT_CAPS);
      check(&f, random);
      g_free(caps);
    }
  }
  test_fixture_teardown(&f);
  g_rand_free(random);
  g_hash_table_unref(formats);
}

static guint
deep_noise(guint x, guint y, gpointer random)
{
  return g_rand_int(random) & 0xffff;
}

static void
random_layout(TestLayout *layout, const GstVideoInfo *info, GRand *random)
{
  layout->before = (gsize)g_rand_int_range(random, 0, 129);
  layout->stride =
      GST_VIDEO_INFO_PLANE_STRIDE(info, 0) + g_rand_int_range(random, 0, 131);
  layout->rows_below = (guint)g_rand_int_range(random, 0, 3);
}

static void
check_layouts(TestFixture *f, GRand *random)
{
  TestLayout layout;

  test_fixture_measure(
      f, test_deep_frame_new(&f->info, NULL, deep_noise, random), 256);
  random_layout(&layout, &f->info, random);
  test_fixture_measure(
      f, test_deep_frame_new(&f->info, &layout, deep_noise, random), 256);
}

GST_START_TEST(every_format_and_layout)
{
  static const gint sizes[][2] = {{64, 16}, {1, 1},     {3, 2},   {2, 3},
                                  {17, 9},  {1, 37},    {641, 5}, {16, 1},
                                  {66, 31}, {255, 257}, {0, 0}};

  for_each_format(sizes, check_layouts);
}
GST_END_TEST;

/* ---- Every byte of the frame at random, and what GStreamer says of it ---- */

static GstBuffer *
random_bytes(gsize size, GRand *random)
{
  guint8 *bytes = g_malloc(size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8)g_rand_int(random);
  return gst_buffer_new_wrapped(bytes, size);
}

/* The luma of pixel @x, from a row as it was unpacked. */
static guint
unpacked_luma(const GstVideoFormatInfo *info, gconstpointer row, guint x)
{
  guint depth = GST_VIDEO_FORMAT_INFO_DEPTH(info, 0);

  if (info->unpack_format == GST_VIDEO_FORMAT_AYUV)
    return ((const guint8 *)row)[4 * x + 1];
  fail_unless_equals_int(info->unpack_format, GST_VIDEO_FORMAT_AYUV64);
  return ((const guint16 *)row)[4 * x + 1] >> (16 - depth);
}

static void
check_unpacked(TestFixture *f, GRand *random)
{
  const GstVideoFormatInfo *info = f->info.finfo;
  guint width = (guint)f->info.width, height = (guint)f->info.height;
  GstBuffer *buffer = random_bytes(f->info.size, random);
  guint16 *row = g_new(guint16, 4 * (width + 8));
  guint64 *levels = g_new0(guint64, 65536);
  TestExpected expected;
  GstVideoFrame frame;

  test_expect(&expected, buffer, &f->info);
  fail_unless(gst_video_frame_map(&frame, &f->info, buffer, GST_MAP_READ));
  for (guint y = 0; y < height; y++) {
    info->unpack_func(info, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, row, frame.data,
                      frame.info.stride, 0, (gint)y, (gint)width);
    for (guint x = 0; x < width; x++)
      levels[unpacked_luma(info, row, x)]++;
  }
  gst_video_frame_unmap(&frame);
  for (guint level = 0; level < 1u << expected.depth; level++)
    fail_unless(expected.levels[level] == levels[level],
                "%s %ux%u: level %u is %" G_GUINT64_FORMAT
                ", GStreamer unpacks %" G_GUINT64_FORMAT,
                info->name, width, height, level, expected.levels[level],
                levels[level]);
  test_expected_clear(&expected);
  g_free(levels);
  g_free(row);
  test_fixture_measure(f, buffer, 256);
}

GST_START_TEST(every_format_as_gstreamer_unpacks_it)
{
  static const gint sizes[][2] = {{64, 16}, {2, 2}, {34, 3}, {326, 4}, {0, 0}};

  for_each_format(sizes, check_unpacked);
}
GST_END_TEST;

/* ---- Buffers that end with the last sample, and rows that go upwards ---- */

/* A frame of which there is nothing but @before bytes and then its first plane
 * up to the last sample, less @missing bytes. */
static GstBuffer *
tight_frame(const GstVideoInfo *info, gsize before, gsize missing,
            gboolean upwards, GRand *random)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = {before};
  gint stride[GST_VIDEO_MAX_PLANES];
  gint pitch = info->stride[0] + g_rand_int_range(random, 0, 40);
  gsize way = (gsize)pitch * (gsize)(info->height - 1);
  GstBuffer *buffer;
  TestLuma luma;

  test_luma(&luma, info->finfo);
  for (guint p = 0; p < GST_VIDEO_MAX_PLANES; p++)
    stride[p] = upwards ? -pitch : pitch;
  if (upwards)
    offset[0] += way;
  buffer = random_bytes(
      before + way + test_luma_row_bytes(&luma, (guint)info->width) - missing,
      random);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(info),
                                 (guint)info->width, (guint)info->height,
                                 GST_VIDEO_INFO_N_PLANES(info), offset, stride);
  return buffer;
}

static void
check_too_short(TestFixture *f, GRand *random)
{
  GstBuffer *buffer = tight_frame(&f->info, 5, 1, FALSE, random);
  TestExpected expected;

  test_expect(&expected, buffer, &f->info);
  fail_unless_equals_uint64(expected.pixels, 0);
  test_fixture_push(f, buffer);
  buffer = test_tap_pop_buffer(f->tap);
  test_check_unmeasured(&expected, buffer);
  gst_buffer_unref(buffer);
  test_expected_clear(&expected);
}

/* Two memories, the border somewhere in the luma. */
static GstBuffer *
split(GstBuffer *buffer, GRand *random)
{
  GstMemory *whole = gst_buffer_get_memory(buffer, 0);
  gssize size = (gssize)gst_buffer_get_size(buffer);
  gssize at = g_rand_int_range(random, 1, (gint32)size);

  gst_buffer_remove_all_memory(buffer);
  gst_buffer_append_memory(buffer, gst_memory_copy(whole, 0, at));
  gst_buffer_append_memory(buffer, gst_memory_copy(whole, at, size - at));
  gst_memory_unref(whole);
  return buffer;
}

static void
check_tight(TestFixture *f, GRand *random)
{
  test_fixture_measure(f, tight_frame(&f->info, 0, 0, FALSE, random), 256);
  test_fixture_measure(f, tight_frame(&f->info, 3, 0, FALSE, random), 256);
  test_fixture_measure(f, tight_frame(&f->info, 0, 0, TRUE, random), 256);
  test_fixture_measure(f, tight_frame(&f->info, 7, 0, TRUE, random), 256);
  test_fixture_measure(
      f, split(tight_frame(&f->info, 2, 0, FALSE, random), random), 256);
  check_too_short(f, random);
}

GST_START_TEST(every_format_in_buffers_that_end_with_it)
{
  static const gint sizes[][2] = {{64, 16}, {1, 1},  {2, 1},   {3, 2}, {4, 3},
                                  {5, 1},   {17, 9}, {641, 3}, {0, 0}};

  for_each_format(sizes, check_tight);
}
GST_END_TEST;

/* A few of them, of each kind, in memory that comes again: the GPU then reads
 * it where it is, with the padding. */
static void
check_large(TestFixture *f, GRand *random)
{
  static const gchar *const few[] = {"P010_10LE",   "GRAY16_BE", "UYVY",
                                     "GRAY10_LE32", "I422_12LE", "NV12_10LE40",
                                     "AYUV64",      NULL};
  TestLayout layout = {.before = 64,
                       .stride = GST_VIDEO_INFO_PLANE_STRIDE(&f->info, 0) + 61,
                       .rows_below = 1};

  GstBuffer *buffer;

  if (!g_strv_contains(few, GST_VIDEO_INFO_NAME(&f->info)))
    return;
  buffer = test_deep_frame_new(&f->info, &layout, deep_noise, random);
  for (guint i = 0; i < 5; i++)
    test_fixture_measure(f, gst_buffer_copy(buffer), 256);
  gst_buffer_unref(buffer);
}

GST_START_TEST(large_frames)
{
  static const gint sizes[][2] = {{641, 481}, {0, 0}};

  for_each_format(sizes, check_large);
}
GST_END_TEST;

static Suite *
formats_suite(void)
{
  Suite *suite = suite_create("formats");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_set_timeout(chain, 60);
  tcase_add_test(chain, template_has_what_cameras_send);
  tcase_add_test(chain, template_has_all_luma_and_nothing_else);
  tcase_add_test(chain, every_format_and_layout);
  tcase_add_test(chain, every_format_as_gstreamer_unpacks_it);
  tcase_add_test(chain, every_format_in_buffers_that_end_with_it);
  tcase_add_test(chain, large_frames);
  return suite;
}

TEST_MAIN(formats)
