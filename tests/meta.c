/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The meta on plain buffers: what it holds, copies, and its form as bytes. */

#include <gst/check/gstcheck.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>

#define FRAME GST_GPU_HISTOGRAM_REGION_FRAME

/* A buffer with a fresh meta of the whole frame. */
static struct {
  GstBuffer *buffer;
  GstGpuHistogramMeta *meta;
} f;

static void
setup(void)
{
  f.buffer = gst_buffer_new_allocate(NULL, 1000, NULL);
  f.meta = gst_buffer_add_gpu_histogram_meta(f.buffer, FRAME);
  fail_unless(f.meta != NULL);
}

static void
teardown(void)
{
  gst_buffer_unref(f.buffer);
}

static guint
count_metas(GstBuffer *buffer)
{
  return gst_buffer_get_n_meta(buffer, GST_GPU_HISTOGRAM_META_API_TYPE);
}

/* Sets all fields to different values that depend on seed. */
static void
fill(GstGpuHistogramMeta *meta, guint n_bins, guint seed)
{
  guint64 *bins = g_new(guint64, n_bins);

  for (guint b = 0; b < n_bins; b++)
    bins[b] = ((guint64)seed << 33) + b * 7;
  gst_gpu_histogram_meta_set_bins(meta, n_bins, bins);
  g_free(bins);
  meta->frame = G_GUINT64_CONSTANT(0x8000000000000000) + seed;
  meta->format = GST_VIDEO_FORMAT_GRAY16_LE;
  meta->depth = 16;
  meta->width = 1000 + seed;
  meta->height = 800 + seed;
  meta->rectangle = (GstVideoRectangle){1, 2, 300 + (gint)seed, 400};
  meta->pixels = G_GUINT64_CONSTANT(0x1234567890) + seed;
  meta->sum = G_GUINT64_CONSTANT(0xfedcba9876543210) + seed;
}

static void
assert_equal(const GstGpuHistogramMeta *a, const GstGpuHistogramMeta *b)
{
  fail_unless_equals_int(a->region_id, b->region_id);
  fail_unless_equals_uint64(a->frame, b->frame);
  fail_unless_equals_int(a->format, b->format);
  fail_unless_equals_int(a->depth, b->depth);
  fail_unless_equals_int(a->width, b->width);
  fail_unless_equals_int(a->height, b->height);
  fail_unless_equals_int(a->rectangle.x, b->rectangle.x);
  fail_unless_equals_int(a->rectangle.y, b->rectangle.y);
  fail_unless_equals_int(a->rectangle.w, b->rectangle.w);
  fail_unless_equals_int(a->rectangle.h, b->rectangle.h);
  fail_unless_equals_uint64(a->pixels, b->pixels);
  fail_unless_equals_uint64(a->sum, b->sum);
  fail_unless_equals_int(a->n_bins, b->n_bins);
  fail_unless((a->bins == NULL) == (b->bins == NULL));
  for (guint i = 0; i < a->n_bins; i++)
    fail_unless_equals_uint64(a->bins[i], b->bins[i]);
}

static void
assert_not_measured(const GstGpuHistogramMeta *meta)
{
  const GstGpuHistogramMeta fresh = {.region_id = meta->region_id};
  guint n_bins = 99;

  assert_equal(meta, &fresh);
  fail_unless(gst_gpu_histogram_meta_get_bins(meta, &n_bins) == NULL);
  fail_unless_equals_int(n_bins, 0);
  fail_unless(gst_gpu_histogram_meta_get_mean(meta) == 0.0);
  fail_unless(gst_gpu_histogram_meta_get_variance(meta) == 0.0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_min(meta), 0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_max(meta), 0);
  fail_unless_equals_int(gst_gpu_histogram_meta_get_percentile(meta, 50), 0);
}

GST_START_TEST(registration)
{
  GType api = gst_gpu_histogram_meta_api_get_type();
  const GstMetaInfo *info = gst_gpu_histogram_meta_get_info();

  fail_unless(info != NULL);
  fail_unless(info == gst_meta_get_info("GstGpuHistogramMeta"));
  fail_unless(info->api == api);
  fail_unless(gst_meta_api_type_get_tags(api) == NULL);
}
GST_END_TEST;

GST_START_TEST(B43_fresh_meta_is_not_measured)
{
  GstBuffer *copied;

  assert_not_measured(f.meta);
  copied = gst_buffer_copy(f.buffer);
  assert_not_measured(gst_buffer_get_gpu_histogram_meta(copied));
  gst_buffer_unref(copied);
}
GST_END_TEST;

#define N_COPIES 5

static GstBuffer *
copy(GstBuffer *buffer, gint how)
{
  switch (how) {
  case 0:
    return gst_buffer_copy(buffer);
  case 1:
    return gst_buffer_copy_deep(buffer);
  case 2:
    return gst_buffer_copy_region(
        buffer, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, 100);
  case 3:
    return gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 100, 100);
  default:
    return gst_buffer_make_writable(gst_buffer_ref(buffer));
  }
}

static void
check_copy(gint how, guint n_bins)
{
  GstBuffer *original = gst_buffer_copy(f.buffer), *copied;
  GstGpuHistogramMeta *source = gst_buffer_get_gpu_histogram_meta(original);
  GstGpuHistogramMeta *meta;

  fill(source, n_bins, 5);
  fill(f.meta, n_bins, 5);
  copied = copy(original, how);
  fail_unless(copied != original);
  fail_unless_equals_int(count_metas(copied), 1);
  meta = gst_buffer_get_gpu_histogram_meta(copied);
  assert_equal(meta, f.meta);

  /* The copy changed: the original stays. */
  meta->bins[1] = 0;
  assert_equal(source, f.meta);
  fill(meta, n_bins, 5);

  /* The original changed and dropped: the copy stays, and can be changed. */
  fill(source, n_bins, 6);
  gst_buffer_unref(original);
  assert_equal(meta, f.meta);
  fill(meta, n_bins * 2, 7);
  fill(f.meta, n_bins * 2, 7);
  assert_equal(meta, f.meta);
  gst_buffer_unref(copied);
}

GST_START_TEST(B43_copies_are_equal_and_independent)
{
  check_copy(__i__, 16);
  check_copy(__i__, 256);
  check_copy(__i__, 1024);
}
GST_END_TEST;

GST_START_TEST(other_transforms_copy_too)
{
  GstBuffer *other = gst_buffer_new();
  GstMeta *meta = &f.meta->meta;
  GstMetaTransformFunction transform = meta->info->transform_func;
  GQuark scale = g_quark_from_static_string("gst-video-scale");

  fill(f.meta, 256, 1);
  fail_unless(transform(other, meta, f.buffer, scale, NULL));
  /* Onto a buffer that has the region already, and onto the same one. */
  fail_unless(transform(other, meta, f.buffer, scale, NULL));
  fail_unless(transform(f.buffer, meta, f.buffer, scale, NULL));
  fail_unless_equals_int(count_metas(f.buffer), 1);
  fail_unless_equals_int(count_metas(other), 1);
  fail_unless_equals_int(f.meta->n_bins, 256);
  assert_equal(gst_buffer_get_gpu_histogram_meta(other), f.meta);
  gst_buffer_unref(other);
}
GST_END_TEST;

GST_START_TEST(regions_are_found_and_replaced)
{
  GstBuffer *bare = gst_buffer_new();
  GstGpuHistogramMeta *left;

  fail_unless(gst_buffer_add_gpu_histogram_meta(bare, -7) != NULL);
  fail_unless(gst_buffer_get_gpu_histogram_meta(bare) == NULL);
  gst_buffer_unref(bare);

  left = gst_buffer_add_gpu_histogram_meta(f.buffer, -7);
  fail_unless_equals_int(left->region_id, -7);
  fail_unless(gst_buffer_get_gpu_histogram_meta(f.buffer) == f.meta);
  fail_unless(gst_buffer_get_gpu_histogram_meta_region(f.buffer, FRAME) ==
              f.meta);
  fail_unless(gst_buffer_get_gpu_histogram_meta_region(f.buffer, -7) == left);
  fail_unless(gst_buffer_get_gpu_histogram_meta_region(f.buffer, 1) == NULL);
  fill(f.meta, 256, 1);
  fill(left, 1024, 2);

  fail_unless(gst_buffer_add_gpu_histogram_meta(f.buffer, -7) == left);
  fail_unless_equals_int(left->region_id, -7);
  assert_not_measured(left);
  fail_unless_equals_int(f.meta->n_bins, 256);
  fail_unless(gst_buffer_add_gpu_histogram_meta(f.buffer, FRAME) == f.meta);
  assert_not_measured(f.meta);
  fail_unless_equals_int(count_metas(f.buffer), 2);
}
GST_END_TEST;

GST_START_TEST(bins_of_every_size)
{
  static const guint sizes[] = {1,  256, 512, 512,   65536, 1024,
                                16, 0,   2,   65536, 0,     256};

  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    const guint64 *bins;
    guint n_bins = 99;

    if (sizes[i] > 0)
      fill(f.meta, sizes[i], i);
    else
      gst_gpu_histogram_meta_set_bins(f.meta, 0, NULL);
    bins = gst_gpu_histogram_meta_get_bins(f.meta, &n_bins);
    fail_unless_equals_int(n_bins, sizes[i]);
    fail_unless(bins == gst_gpu_histogram_meta_get_bins(f.meta, NULL));
    fail_unless((bins == NULL) == (n_bins == 0));
    for (guint b = 0; b < n_bins; b++)
      fail_unless_equals_uint64(bins[b], ((guint64)i << 33) + b * 7);
  }
}
GST_END_TEST;

GST_START_TEST(bins_from_its_own_bins)
{
  fill(f.meta, 4096, 1);
  for (guint n = 2048; n >= 64; n /= 2) {
    gst_gpu_histogram_meta_set_bins(f.meta, n, f.meta->bins + n);
    gst_gpu_histogram_meta_set_bins(f.meta, n, f.meta->bins);
    fail_unless_equals_int(f.meta->n_bins, n);
    for (guint b = 0; b < n; b++)
      fail_unless_equals_uint64(f.meta->bins[b],
                                ((guint64)1 << 33) + (4096 - n + b) * 7);
  }
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)
/* What fill() gives with seed 9, as the bytes that the meta itself writes.
 * Before them stand two sizes, the name with its zero, the version. */
static GByteArray *
new_payload(guint n_bins)
{
  GByteArray *bytes = g_byte_array_new();

  fill(f.meta, n_bins, 9);
  fail_unless(gst_meta_serialize_simple(&f.meta->meta, bytes));
  g_byte_array_remove_range(bytes, 0, 8 + sizeof("GstGpuHistogramMeta") + 1);
  return bytes;
}

/* The meta that the payload puts on the buffer, NULL if it is refused. */
static GstGpuHistogramMeta *
read_payload(GstBuffer *buffer, const GByteArray *payload, guint8 version)
{
  const GstMetaInfo *info = GST_GPU_HISTOGRAM_META_INFO;
  /* Of the exact size, so that tools see a read beyond. */
  guint8 *exact = g_memdup2(payload->data, payload->len);
  GstMeta *meta =
      info->deserialize_func(info, buffer, exact, payload->len, version);

  g_free(exact);
  return (GstGpuHistogramMeta *)meta;
}

GST_START_TEST(serialized_meta_comes_back)
{
  static const guint sizes[] = {0, 1, 256, 512, 65536};
  GByteArray *bytes = g_byte_array_new();
  GstBuffer *from = gst_buffer_new(), *to = gst_buffer_new();
  guint32 consumed;
  gsize at = 0;

  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstGpuHistogramMeta *meta =
        gst_buffer_add_gpu_histogram_meta(from, (gint)i - 2);

    if (i > 0)
      fill(meta, sizes[i], i);
    fail_unless(gst_meta_serialize_simple(&meta->meta, bytes));
  }
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstMeta *meta =
        gst_meta_deserialize(to, bytes->data + at, bytes->len - at, &consumed);

    fail_unless(meta != NULL);
    assert_equal((GstGpuHistogramMeta *)meta,
                 gst_buffer_get_gpu_histogram_meta_region(from, (gint)i - 2));
    at += consumed;
  }
  fail_unless_equals_uint64(at, bytes->len);
  fail_unless_equals_int(count_metas(to), G_N_ELEMENTS(sizes));
  g_byte_array_unref(bytes);
  gst_buffer_unref(from);
  gst_buffer_unref(to);
}
GST_END_TEST;

GST_START_TEST(wrong_lengths_and_versions_are_refused)
{
  GByteArray *payload = new_payload(4);
  guint size = payload->len;

  fill(f.meta, 256, 1);
  fail_unless(read_payload(f.buffer, payload, 1) == NULL);
  for (guint length = 0; length <= size + 16; length++) {
    if (length == size)
      continue;
    g_byte_array_set_size(payload, length);
    fail_unless(read_payload(f.buffer, payload, 0) == NULL);
  }
  /* What the buffer had is as it was. */
  fail_unless_equals_int(f.meta->n_bins, 256);
  fail_unless_equals_uint64(f.meta->bins[255], ((guint64)1 << 33) + 255 * 7);

  g_byte_array_set_size(payload, size);
  fail_unless(read_payload(f.buffer, payload, 0) == f.meta);
  fail_unless_equals_int(f.meta->n_bins, 4);
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(hostile_fields_are_refused)
{
  static const struct {
    guint offset;
    guint32 value;
  } hostile[] = {
      {4, 1},           {4, 33},          {4, 0xffffffff},  {16, 0},
      {20, 401},        {24, 0x80000000}, {24, 0x7fffffff}, {28, 0xffffffff},
      {32, 0x7fffffff}, {36, 0x80000000}, {56, 0},          {56, 3},
      {56, 8},          {56, 131072},     {56, 0x20000004}, {56, 0xffffffff},
      {60, 0},          {60, 8},          {60, 64},         {60, 0xffffffff},
  };
  GstBuffer *bare = gst_buffer_new();
  GByteArray *payload = new_payload(4);

  for (guint i = 0; i < G_N_ELEMENTS(hostile); i++) {
    guint8 *field = payload->data + hostile[i].offset;
    guint32 right = GST_READ_UINT32_LE(field);

    GST_WRITE_UINT32_LE(field, hostile[i].value);
    fail_unless(read_payload(bare, payload, 0) == NULL, "number %u", i);
    GST_WRITE_UINT32_LE(field, right);
  }
  /* Both fit together if 64 + L wraps around. */
  GST_WRITE_UINT32_LE(payload->data + 56, 8);
  GST_WRITE_UINT32_LE(payload->data + 60, 0xffffffe9);
  fail_unless(read_payload(bare, payload, 0) == NULL);
  fail_unless_equals_int(count_metas(bare), 0);
  g_byte_array_unref(payload);
  gst_buffer_unref(bare);
}
GST_END_TEST;

GST_START_TEST(any_byte_may_be_wrong)
{
  GByteArray *payload = new_payload(4);

  for (guint at = 0; at < payload->len; at++) {
    for (guint i = 0; i < 256; i++) {
      GstGpuHistogramMeta *meta;

      payload->data[at]++;
      meta = read_payload(f.buffer, payload, 0);
      /* No other number of bins fits the length. */
      fail_unless(meta == NULL || meta->n_bins == 4);
      fail_unless(i < 255 || meta != NULL);
    }
  }
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(unknown_format_is_taken_as_unknown)
{
  GByteArray *payload = new_payload(4);
  GstGpuHistogramMeta *meta;

  fail_unless(memcmp(payload->data + 60, "\x09\0\0\0GRAY16_LE", 13) == 0);
  memcpy(payload->data + 64, "GRAY99_LE", 9);
  meta = read_payload(f.buffer, payload, 0);
  fail_unless(meta != NULL && meta->width == 1009);
  fail_unless_equals_int(meta->format, GST_VIDEO_FORMAT_UNKNOWN);
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(unsound_meta_is_not_serialized)
{
  GByteArray *bytes = g_byte_array_new();

  fill(f.meta, 256, 1);
  f.meta->depth = 7;
  fail_if(gst_meta_serialize_simple(&f.meta->meta, bytes));
  f.meta->depth = 8;
  f.meta->rectangle.x = (gint)f.meta->width;
  fail_if(gst_meta_serialize_simple(&f.meta->meta, bytes));
  fail_unless_equals_int(bytes->len, 0);
  f.meta->rectangle.x = 0;
  fail_unless(gst_meta_serialize_simple(&f.meta->meta, bytes));
  g_byte_array_unref(bytes);
}
GST_END_TEST;

GST_START_TEST(cleared_meta_is_not_measured)
{
  GstGpuHistogramMeta *meta = gst_buffer_add_gpu_histogram_meta(f.buffer, 4);

  fill(meta, 1024, 1);
  meta->meta.info->clear_func(f.buffer, &meta->meta);
  fail_unless_equals_int(meta->region_id, 4);
  assert_not_measured(meta);
}
GST_END_TEST;
#endif

static Suite *
meta_suite(void)
{
  Suite *suite = suite_create("meta");
  TCase *tc = tcase_create("meta");

  /* The harness watches GStreamer's own domains alone. */
  g_log_set_fatal_mask("GStreamer-GpuHistogram",
                       G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  suite_add_tcase(suite, tc);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, registration);
  tcase_add_test(tc, B43_fresh_meta_is_not_measured);
  tcase_add_loop_test(tc, B43_copies_are_equal_and_independent, 0, N_COPIES);
  tcase_add_test(tc, other_transforms_copy_too);
  tcase_add_test(tc, regions_are_found_and_replaced);
  tcase_add_test(tc, bins_of_every_size);
  tcase_add_test(tc, bins_from_its_own_bins);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test(tc, serialized_meta_comes_back);
  tcase_add_test(tc, wrong_lengths_and_versions_are_refused);
  tcase_add_test(tc, hostile_fields_are_refused);
  tcase_add_test(tc, any_byte_may_be_wrong);
  tcase_add_test(tc, unknown_format_is_taken_as_unknown);
  tcase_add_test(tc, unsound_meta_is_not_serialized);
  tcase_add_test(tc, cleared_meta_is_not_measured);
#endif
  return suite;
}

GST_CHECK_MAIN(meta);
