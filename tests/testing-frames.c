/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames written byte by byte, and the plain count they are compared with. */

#include "testing.h"

#include "testing-quiet.h"

#include <string.h>

#define NOT_LUMA 0xEE

guint8
test_flat(guint x, guint y, gpointer value)
{
  return (guint8)GPOINTER_TO_UINT(value);
}

guint8
test_ramp(guint x, guint y, gpointer unused)
{
  return (guint8)(x * 3 + y);
}

guint8
test_noise(guint x, guint y, gpointer rand)
{
  return (guint8)g_rand_int_range(rand, 0, 256);
}

void
test_video_info(GstVideoInfo *info, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string(text);

  fail_unless(caps != NULL, "not caps: %s", text);
  fail_unless(gst_video_info_from_caps(info, caps), "no video: %s", text);
  gst_caps_unref(caps);
}

/* Writes the planes' places to @places, and returns the size of the frame. */
static gsize
lay_out(GstVideoInfo *places, const GstVideoInfo *info,
        const TestLayout *layout)
{
  gint wider = 0;
  gsize end = 0;

  *places = *info;
  if (layout == NULL)
    return GST_VIDEO_INFO_SIZE(info);
  if (layout->stride != 0)
    wider = layout->stride - GST_VIDEO_INFO_PLANE_STRIDE(info, 0);

  end = layout->before;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(info); plane++) {
    guint component = 0;
    gsize rows;

    while ((guint)GST_VIDEO_INFO_COMP_PLANE(info, component) != plane)
      component++;
    rows = GST_VIDEO_INFO_COMP_HEIGHT(info, component);
    if (plane == 0)
      rows += layout->rows_below;
    places->stride[plane] = GST_VIDEO_INFO_PLANE_STRIDE(info, plane) + wider;
    places->offset[plane] = end;
    end += rows * (gsize)places->stride[plane];
  }
  return end;
}

GstBuffer *
test_deep_frame_new(const GstVideoInfo *info, const TestLayout *layout,
                    TestDeepPattern pattern, gpointer data)
{
  GstVideoInfo places;
  gsize size = lay_out(&places, info, layout);
  guint8 *bytes = g_malloc(size);
  GstBuffer *buffer;
  TestLuma luma;

  test_luma(&luma, info->finfo);
  memset(bytes, NOT_LUMA, size);
  for (guint y = 0; y < (guint)GST_VIDEO_INFO_HEIGHT(info); y++) {
    guint8 *row = bytes + places.offset[0] + y * (gsize)places.stride[0];

    for (guint x = 0; x < (guint)GST_VIDEO_INFO_WIDTH(info); x++)
      test_luma_set(&luma, row, x, pattern(x, y, data));
  }

  buffer = gst_buffer_new_wrapped(bytes, size);
  if (layout != NULL)
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
        GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info),
        GST_VIDEO_INFO_N_PLANES(info), places.offset, places.stride);
  return buffer;
}

typedef struct {
  TestPattern pattern;
  gpointer data;
} Shallow;

static guint
shallow(guint x, guint y, gpointer data)
{
  const Shallow *of = data;

  return of->pattern(x, y, of->data);
}

GstBuffer *
test_frame_new(const GstVideoInfo *info, const TestLayout *layout,
               TestPattern pattern, gpointer data)
{
  Shallow of = {pattern, data};

  return test_deep_frame_new(info, layout, shallow, &of);
}

void
test_stamp(GstBuffer *buffer, guint number)
{
  GST_BUFFER_PTS(buffer) = number * TEST_FRAME_DURATION;
  GST_BUFFER_DTS(buffer) = number * TEST_FRAME_DURATION;
  GST_BUFFER_DURATION(buffer) = TEST_FRAME_DURATION;
  GST_BUFFER_OFFSET(buffer) = number;
}

GstBuffer *
test_frame_flat(const GstVideoInfo *info, guint8 value, guint number)
{
  GstBuffer *buffer =
      test_frame_new(info, NULL, test_flat, GUINT_TO_POINTER(value));

  test_stamp(buffer, number);
  return buffer;
}

guint8
test_first_sample(GstBuffer *buffer)
{
  GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  guint8 sample = 0;

  gst_buffer_extract(buffer, video != NULL ? video->offset[0] : 0, &sample, 1);
  return sample;
}

static gchar *
digest(GstBuffer *buffer)
{
  gpointer bytes;
  gsize size;
  gchar *text;

  /* Extracted, as mapping may merge the memories. */
  gst_buffer_extract_dup(buffer, 0, (gsize)-1, &bytes, &size);
  text = g_compute_checksum_for_data(G_CHECKSUM_MD5, bytes, size);
  g_free(bytes);
  return text;
}

static void
count_row(TestExpected *expected, const TestLuma *luma, const guint8 *row)
{
  for (guint x = 0; x < expected->width; x++) {
    guint level = test_luma_get(luma, row, x);

    expected->levels[level]++;
    expected->sum += level;
    expected->pixels++;
    expected->min = MIN(expected->min, level);
    expected->max = MAX(expected->max, level);
  }
}

static void
count(TestExpected *expected, GstBuffer *buffer, const GstVideoInfo *info,
      const TestLuma *luma)
{
  GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  gsize offset = video != NULL ? video->offset[0] : info->offset[0];
  gsize stride = (gsize)(video != NULL ? video->stride[0] : info->stride[0]);
  gsize bytes = test_luma_row_bytes(luma, expected->width);
  guint8 *row;

  /* Too short a frame is not counted. */
  if (gst_buffer_get_size(buffer) <
      offset + stride * (expected->height - 1) + bytes)
    return;
  row = g_malloc(bytes);
  expected->min = G_MAXUINT;
  for (guint y = 0; y < expected->height; y++) {
    fail_unless_equals_int64(
        gst_buffer_extract(buffer, offset + y * stride, row, bytes), bytes);
    count_row(expected, luma, row);
  }
  g_free(row);
}

void
test_expect_luma(TestExpected *expected, GstBuffer *buffer,
                 const GstVideoInfo *info, const TestLuma *luma)
{
  memset(expected, 0, sizeof *expected);
  expected->pts = GST_BUFFER_PTS(buffer);
  expected->dts = GST_BUFFER_DTS(buffer);
  expected->duration = GST_BUFFER_DURATION(buffer);
  expected->offset = GST_BUFFER_OFFSET(buffer);
  expected->flags = GST_BUFFER_FLAGS(buffer);
  expected->n_memories = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < expected->n_memories; i++)
    expected->memories[i] = gst_buffer_peek_memory(buffer, i);
  expected->digest = digest(buffer);
  expected->format = GST_VIDEO_INFO_FORMAT(info);
  expected->depth = luma->depth;
  expected->width = GST_VIDEO_INFO_WIDTH(info);
  expected->height = GST_VIDEO_INFO_HEIGHT(info);
  expected->levels = g_new0(guint64, 1u << luma->depth);
  count(expected, buffer, info, luma);
}

void
test_expect(TestExpected *expected, GstBuffer *buffer, const GstVideoInfo *info)
{
  TestLuma luma;

  test_luma(&luma, info->finfo);
  test_expect_luma(expected, buffer, info, &luma);
}

void
test_expected_clear(TestExpected *expected)
{
  g_clear_pointer(&expected->digest, g_free);
  g_clear_pointer(&expected->levels, g_free);
}

guint
test_count_metas(GstBuffer *buffer)
{
  return gst_buffer_get_n_meta(buffer, GST_GPU_HISTOGRAM_META_API_TYPE);
}

void
test_check_untouched(const TestExpected *expected, GstBuffer *buffer)
{
  /* Set by GStreamer whenever a buffer's memories change hands. */
  const guint ignored = GST_BUFFER_FLAG_TAG_MEMORY;
  gchar *now = digest(buffer);

  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), expected->pts);
  fail_unless_equals_uint64(GST_BUFFER_DTS(buffer), expected->dts);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), expected->duration);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(buffer), expected->offset);
  fail_unless_equals_int_hex(GST_BUFFER_FLAGS(buffer) & ~ignored,
                             expected->flags & ~ignored);
  fail_unless_equals_string(now, expected->digest);
  g_free(now);

  fail_unless_equals_int(gst_buffer_n_memory(buffer), expected->n_memories);
  for (guint i = 0; i < expected->n_memories; i++)
    fail_unless(gst_buffer_peek_memory(buffer, i) == expected->memories[i],
                "memory %u of the frame was replaced", i);
}

/* How many samples are in one of @n_bins bins. */
static guint64
expected_bin(const TestExpected *expected, guint n_bins, guint bin)
{
  guint levels = (1u << expected->depth) / n_bins;
  guint64 count = 0;

  for (guint level = 0; level < levels; level++)
    count += expected->levels[bin * levels + level];
  return count;
}

static void
check_bins(const TestExpected *expected, const GstGpuHistogramMeta *meta,
           guint n_bins)
{
  guint64 pixels = 0;

  fail_unless_equals_int(meta->n_bins, n_bins);
  fail_unless(meta->bins != NULL);
  for (guint bin = 0; bin < n_bins; bin++) {
    guint64 want = expected_bin(expected, n_bins, bin);

    fail_unless(meta->bins[bin] == want,
                "bin %u is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, bin,
                meta->bins[bin], want);
    pixels += meta->bins[bin];
  }
  fail_unless_equals_uint64(pixels, meta->pixels);
}

void
test_check_meta(const TestExpected *expected, const GstGpuHistogramMeta *meta,
                guint n_bins)
{
  fail_unless(meta != NULL, "the frame has no meta");
  fail_unless_equals_int(meta->region_id, GST_GPU_HISTOGRAM_REGION_FRAME);
  fail_unless_equals_int(meta->format, expected->format);
  fail_unless_equals_int(meta->depth, expected->depth);
  fail_unless_equals_int(meta->width, expected->width);
  fail_unless_equals_int(meta->height, expected->height);
  fail_unless_equals_int(meta->rectangle.x, 0);
  fail_unless_equals_int(meta->rectangle.y, 0);
  fail_unless_equals_int(meta->rectangle.w, (gint)expected->width);
  fail_unless_equals_int(meta->rectangle.h, (gint)expected->height);
  fail_unless_equals_uint64(meta->pixels,
                            (guint64)expected->width * expected->height);
  fail_unless_equals_uint64(meta->sum, expected->sum);
  check_bins(expected, meta, n_bins);

  /* With a bin for each level the sum must follow from the bins, too. */
  if (n_bins == 1u << expected->depth) {
    guint64 sum = 0;

    for (guint level = 0; level < n_bins; level++)
      sum += level * meta->bins[level];
    fail_unless_equals_uint64(sum, meta->sum);
  }
}

void
test_check_frame(const TestExpected *expected, GstBuffer *buffer, guint n_bins)
{
  test_check_untouched(expected, buffer);
  fail_unless_equals_int(test_count_metas(buffer), 1);
  test_check_meta(expected, gst_buffer_get_gpu_histogram_meta(buffer), n_bins);
}

void
test_check_own_frame(GstBuffer *buffer, const GstVideoInfo *info)
{
  TestExpected expected;

  test_expect(&expected, buffer, info);
  test_check_frame(&expected, buffer, 256);
  test_expected_clear(&expected);
}

void
test_check_unmeasured(const TestExpected *expected, GstBuffer *buffer)
{
  test_check_untouched(expected, buffer);
  fail_unless_equals_int(test_count_metas(buffer), 0);
}

void
test_check_flat(GstBuffer *buffer, guint value, guint64 pixels)
{
  GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);

  fail_unless_equals_int(test_count_metas(buffer), 1);
  fail_unless_equals_int(meta->n_bins, 256);
  for (guint bin = 0; bin < 256; bin++)
    fail_unless_equals_uint64(meta->bins[bin], bin == value ? pixels : 0);
  fail_unless_equals_uint64(meta->pixels, pixels);
  fail_unless_equals_uint64(meta->sum, value * pixels);
}

static void
check_message_bins(const TestExpected *expected, const GstStructure *structure)
{
  const GValue *array = gst_structure_get_value(structure, "histogram");

  fail_unless(array != NULL && GST_VALUE_HOLDS_ARRAY(array));
  fail_unless_equals_int(gst_value_array_get_size(array), 256);
  for (guint bin = 0; bin < 256; bin++) {
    const GValue *value = gst_value_array_get_value(array, bin);

    fail_unless(G_VALUE_HOLDS_UINT64(value));
    fail_unless_equals_uint64(g_value_get_uint64(value),
                              expected_bin(expected, 256, bin));
  }
}

void
test_check_message(const TestExpected *expected, GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure(message);
  guint64 width, height;
  guint min, max;
  gdouble mean;
  /* The least and the greatest level of bins in use. */
  guint levels = (1u << expected->depth) / 256;

  fail_unless(gst_structure_has_name(structure, "gpuhistogram"));
  fail_unless(gst_structure_get(structure, "width", G_TYPE_UINT64, &width,
                                "height", G_TYPE_UINT64, &height, "min",
                                G_TYPE_UINT, &min, "max", G_TYPE_UINT, &max,
                                "mean", G_TYPE_DOUBLE, &mean, NULL));
  fail_unless_equals_uint64(width, expected->width);
  fail_unless_equals_uint64(height, expected->height);
  fail_unless_equals_int(min, expected->min / levels * levels);
  fail_unless_equals_int(max, expected->max / levels * levels + levels - 1);
  fail_unless_equals_uint64(test_message_uint64(message, "pixels"),
                            expected->pixels);
  fail_unless_equals_uint64(test_message_uint64(message, "sum"), expected->sum);
  fail_unless_equals_float(mean,
                           (gdouble)expected->sum / (gdouble)expected->pixels);
  check_message_bins(expected, structure);
}
